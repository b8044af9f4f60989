-- What a key is for, in the words of the person who made it; empty without a name.
alter table api_keys add column key_name text not null default '' constraint api_keys_name check (length(key_name) <= 60);
