import { statement } from '@florin/pg';

/** Deliveries that one step looks at: some ten milliseconds, for which all deliveries wait. */
export const sweepStep = 1_000;

const seen = { seen: 'int4', last_object: 'text?', last_number: 'int8?', woken: 'text?' } as const;

const wake = `pg_notify('florin_deliveries', '')::text`;

/** Pending deliveries of a webhook along their lines, from the one after the place given. */
const pendingWindow = `seen as materialized (
     select delivery_id, object_id, sequence from deliveries
     where webhook_id = $1 and status = 'pending' and (object_id, sequence) > ($2::text, $3::int8)
     order by object_id, sequence limit ${sweepStep}
   ), ending as (
     select object_id, sequence from seen order by object_id desc, sequence desc limit 1
   )`;

const pendingSeen = `(select count(*)::int from seen) as seen, (select object_id from ending) as last_object,
     (select sequence from ending) as last_number`;

export const freeStep = statement(
  'webhooks_free_step',
  ['text', 'text', 'int8', 'timestamptz'],
  seen,
  `with ${pendingWindow}, freed as (
     update deliveries set next_attempt_at = $4 from seen
     where deliveries.delivery_id = seen.delivery_id and deliveries.next_attempt_at is null
     returning deliveries.delivery_id
   )
   select ${pendingSeen}, case when exists (select from freed) then ${wake} end as woken`,
);

export const dropStep = statement(
  'webhooks_drop_step',
  ['text', 'text', 'int8'],
  seen,
  `with ${pendingWindow}, dropped as (
     update deliveries set status = 'skipped', next_attempt_at = null from seen
     where deliveries.delivery_id = seen.delivery_id
   )
   select ${pendingSeen}, null::text as woken`,
);

// Oldest first, so that each object's events stay in line. While its webhook is not active a delivery waits.
export const replayStep = statement(
  'webhooks_replay_step',
  ['text', 'int8', 'timestamptz', 'timestamptz', 'text[]'],
  seen,
  `with seen as materialized (
     select delivery_id, ordinal, status, created_at from deliveries
     where webhook_id = $1 and ordinal > $2 order by ordinal limit ${sweepStep}
   ), replayed as (
     update deliveries
     set status = 'pending', attempts_before_replay = attempt_count,
       next_attempt_at = case when webhooks.status = 'active' then $4::timestamptz end
     from seen, webhooks
     where deliveries.delivery_id = seen.delivery_id and seen.status = any ($5)
       and seen.created_at >= $3 and webhooks.webhook_id = $1 and webhooks.status <> 'removed'
     returning deliveries.delivery_id
   )
   select (select count(*)::int from seen) as seen, ''::text as last_object,
     (select max(ordinal) from seen) as last_number,
     case when exists (select from replayed) then ${wake} end as woken`,
);

/**
 * The ordinal before the first delivery of a webhook ($1) that was raised at a time ($2) or later, by halving: ordinals
 * follow the time of creation but for transactions that run side by side, which is why callers ask for a little earlier.
 */
export const ordinalBefore = statement(
  'webhooks_ordinal_before',
  ['text', 'timestamptz'],
  { ordinal: 'int8' },
  `with recursive search as (
     select
       coalesce((select min(ordinal) from deliveries where webhook_id = $1), 0) as low,
       coalesce((select max(ordinal) from deliveries where webhook_id = $1), -1) + 1 as high
     union all
     select
       case when probe.created_at < $2 then probe.ordinal + 1 else search.low end,
       case when probe.created_at < $2 then search.high else (search.low + search.high) / 2 end
     from search
     cross join lateral (
       select ordinal, created_at from deliveries
       where webhook_id = $1 and ordinal >= (search.low + search.high) / 2
       order by ordinal limit 1
     ) as probe
     where search.low < search.high
   )
   select max(low) - 1 as ordinal from search`,
);

export const insertSweep = statement(
  'webhooks_insert_sweep',
  ['text', 'text', 'text', 'timestamptz', 'text', 'int8'],
  {},
  `insert into delivery_sweeps (merchant_id, webhook_id, kind, replay_since, after_object, after_number)
   values ($1, $2, $3, $4, $5, $6)`,
);

export const deleteSweeps = statement(
  'webhooks_delete_sweeps',
  ['text', 'text[]'],
  {},
  'delete from delivery_sweeps where webhook_id = $1 and kind = any ($2)',
);

export const deleteSweep = statement(
  'webhooks_delete_sweep',
  ['int8'],
  {},
  'delete from delivery_sweeps where sweep_id = $1',
);

export const advanceSweep = statement(
  'webhooks_advance_sweep',
  ['int8', 'text', 'int8'],
  {},
  'update delivery_sweeps set after_object = $2, after_number = $3 where sweep_id = $1',
);

// The next one after the sweep given, so that all of them get on. No row lock: steps go under the lines' lock alone.
export const nextSweep = statement(
  'webhooks_next_sweep',
  ['int8'],
  {
    sweep_id: 'int8',
    merchant_id: 'text',
    webhook_id: 'text',
    kind: 'text',
    replay_since: 'timestamptz?',
    after_object: 'text',
    after_number: 'int8',
    webhook_status: 'text',
  },
  `select sweep_id, delivery_sweeps.merchant_id, webhook_id, kind, replay_since, after_object, after_number,
     webhooks.status as webhook_status
   from delivery_sweeps join webhooks using (webhook_id)
   order by sweep_id <= $1, sweep_id limit 1`,
);
