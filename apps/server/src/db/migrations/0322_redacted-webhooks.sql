-- Who makes a webhook and may not see payers' e-mail addresses makes one that does not get them.
alter table webhooks add column is_redacted boolean not null default false;
