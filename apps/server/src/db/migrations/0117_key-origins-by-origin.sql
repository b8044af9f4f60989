-- A browser's preflight asks by the origin alone whether some key lists it. The index on the array of origins was never
-- used: a policy stands before the rows, and only leakproof operators, which those of arrays are not, may pass by it
-- (docs/decisions/0011). Equality of text is one. Each key that is not revoked has a row for each of its origins.
create table api_key_origins (
  origin text not null,
  key_id text not null references api_keys,
  primary key (origin, key_id)
);
select protect_table('api_key_origins'::regclass, 'merchant_scope',
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true
   else (select true from api_keys p where p.key_id = api_key_origins.key_id) end');

insert into api_key_origins (origin, key_id)
select distinct origin, key_id from api_keys, unnest(origins) as origin where revoked_at is null;

drop index api_keys_by_origin;
