-- What members choose to get by e-mail (docs/decisions/0146). Without a row the default of the member's role holds.
create table notification_choices (
  merchant_id text not null,
  user_id text not null,
  kind text not null,
  is_wanted boolean not null,
  primary key (merchant_id, user_id, kind),
  -- A choice ends with the membership.
  foreign key (merchant_id, user_id) references memberships on delete cascade
);
