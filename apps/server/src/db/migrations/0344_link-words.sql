-- The words of links' names, by which payments are found: a renamed link changes its own rows alone, and no session. Links that
-- change later get the words of the program, which folds more letters.
create table link_words (
  merchant_id text not null references merchants,
  word text collate "C" not null,
  link_id text not null references links,
  primary key (merchant_id, word, link_id)
);
create index link_words_of_link on link_words (link_id);
insert into link_words (merchant_id, word, link_id)
select distinct merchant_id, left(word, 64), link_id
from links cross join lateral regexp_split_to_table(lower(link_name), '[^[:alnum:]]+') as word
where word <> '';
