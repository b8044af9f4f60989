-- The client network that had an order prepared: the live ones of a session have a limit for each. '' where it is unknown.
alter table orders add column network text not null default '';
