-- A payer's e-mail address is erased in every spelling at once.
drop index sessions_of_email;
drop index sessions_archive_of_email;
drop index orders_of_email;
create index sessions_of_email on sessions (lower(payer_email)) where payer_email <> '';
create index sessions_archive_of_email on sessions_archive (lower(payer_email)) where payer_email <> '';
create index orders_of_email on orders (lower(payer_email)) where payer_email <> '';
