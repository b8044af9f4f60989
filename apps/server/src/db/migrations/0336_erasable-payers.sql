-- Personal data of payers by age and by payer: only rows that have some are in these indexes.
create index sessions_with_email on sessions (updated_at) where payer_email <> '';
create index sessions_archive_with_email on sessions_archive (updated_at) where payer_email <> '';
create index sessions_of_email on sessions (payer_email) where payer_email <> '';
create index sessions_archive_of_email on sessions_archive (payer_email) where payer_email <> '';
create index orders_with_email on orders (created_at) where payer_email <> '';
create index orders_of_email on orders (payer_email) where payer_email <> '';
create index orders_with_network on orders (created_at) where network <> '';
create index submissions_with_network on submissions (created_at) where network <> '';
