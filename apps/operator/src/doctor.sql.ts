import { statement } from '@florin/pg';

/** The server's replication, as an ordinary role may see it. */
export const replicationFacts = statement({
  name: 'doctor_replication',
  columns: {
    version: 'text',
    is_standby: 'bool',
    timeline: 'text',
    standbys: 'int8',
    synchronous: 'text',
    archive_mode: 'text',
    archived_at: 'timestamptz?',
    archive_failed_at: 'timestamptz?',
  },
  text: `select current_setting('server_version') as version, pg_is_in_recovery() as is_standby,
     case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline,
     (select count(*) from pg_stat_replication) as standbys,
     current_setting('synchronous_standby_names') as synchronous,
     current_setting('archive_mode') as archive_mode,
     a.last_archived_time as archived_at, a.last_failed_time as archive_failed_at
   from pg_stat_archiver as a`,
});

export const databaseTime = statement({
  name: 'doctor_time',
  columns: { time: 'timestamptz' },
  text: 'select clock_timestamp() as time',
});

export const newestReceivers = statement({
  name: 'doctor_receivers',
  columns: { webhook_url: 'text' },
  text: "select webhook_url from webhooks where status = 'active' order by created_at desc limit 20",
});
