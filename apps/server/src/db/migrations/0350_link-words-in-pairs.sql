-- Names of links in Chinese and Japanese are words in pairs of signs now. Their signs have many forms that become them, such as
-- half-width katakana, so all names but those in ASCII get their words again.
insert into link_words_queue (merchant_id, link_id) select merchant_id, link_id from links where link_name ~ '[^ -~]';
