-- Whether blocks ask for more than the attempt offers while the operator's limit allows no higher fee.
alter table sent_attempts add column is_capped boolean not null default false;
