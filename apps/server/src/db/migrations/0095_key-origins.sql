-- A browser asks for an origin before it sends a key, so the look-up is by origin alone. Only keys that still stand
-- and are bound to origins are in it: a few, and no other key pays for them.
create index api_keys_by_origin on api_keys using gin (origins) where origins <> '{}' and revoked_at is null;
