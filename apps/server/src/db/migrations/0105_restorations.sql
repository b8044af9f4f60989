-- One row each time that a backup was restored into this database: what was lost is what came after it was taken.
create table restorations (
  restoration_id bigint generated always as identity primary key,
  taken_at timestamptz not null,
  restored_at timestamptz not null,
  archive_hash text not null,
  -- [{chainId, headNumber, finalNumber}] as the backup had them.
  cursors jsonb not null
);
