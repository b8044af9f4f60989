-- Links whose names are not indexed since they were written. The worker of the search takes them from here, whichever version
-- of the program wrote them.
create table link_words_queue (
  merchant_id text not null,
  link_id text not null
);

create function note_named_link() returns trigger language plpgsql as $$
begin
  insert into link_words_queue (merchant_id, link_id) values (new.merchant_id, new.link_id);
  return null;
end $$;
create trigger links_named_insert after insert on links
  for each row execute function note_named_link();
create trigger links_named_update after update of link_name on links
  for each row when (old.link_name <> new.link_name) execute function note_named_link();
