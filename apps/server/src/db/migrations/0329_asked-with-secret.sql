-- Whether the order, and the e-mail address with it, was asked for with the secret of its session's page. The default is for
-- the last release, and for orders from before: nothing shows that their payer made them.
alter table orders add column with_secret boolean not null default false;
