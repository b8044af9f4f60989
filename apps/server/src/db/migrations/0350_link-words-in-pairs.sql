-- Names of links in Chinese and Japanese are words in pairs of signs now. Names without such signs keep their words.
insert into link_words_queue (merchant_id, link_id)
select merchant_id, link_id from links where link_name ~ '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]';
