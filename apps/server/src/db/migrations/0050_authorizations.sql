-- SHA-256 of the signature that was accepted: the identical retry is answered without asking the chain again, also
-- when the payer's account has changed its signers since. Never a key: one message has many valid signatures.
alter table authorizations add column signature_hash text not null default '';

-- The quota of open sessions per payer.
create index sessions_open_by_payer on sessions (intended_payer, expiration_time) where status = 'initialized';
