-- The weekly summary by e-mail (docs/decisions/0147). How far each week's has come, so that each member gets it once.
create table weekly_summaries (
  -- Its Monday, at midnight UTC.
  starts_at timestamptz primary key,
  -- Members of merchants up to this id have theirs.
  done_to text not null,
  finished_at timestamptz
);
