import { statement } from '@florin/pg';

/** Deliveries in one step. All other deliveries wait for it, some ten milliseconds. */
export const sweepStep = 1_000;

const seen = { seen: 'int4', last_object: 'text?', last_number: 'int8?', woken: 'text?' } as const;

const wake = `pg_notify('florin_deliveries', '')::text`;

/** The next pending deliveries of a webhook, in the order of their queues. */
const pendingWindow = `seen as materialized (
     select delivery_id, object_id, sequence from deliveries
     where webhook_id = :webhookId and status = 'pending'
       and (object_id, sequence) > (:afterObject::text, :afterSequence::int8)
     order by object_id, sequence limit ${sweepStep}
   ), ending as (
     select object_id, sequence from seen order by object_id desc, sequence desc limit 1
   )`;

const pendingSeen = `(select count(*)::int from seen) as seen, (select object_id from ending) as last_object,
     (select sequence from ending) as last_number`;

export const freeStep = statement({
  name: 'webhooks_free_step',
  parameters: { webhookId: 'text', afterObject: 'text', afterSequence: 'int8', nextAttemptAt: 'timestamptz' },
  columns: seen,
  text: `with ${pendingWindow}, freed as (
     update deliveries set next_attempt_at = :nextAttemptAt from seen
     where deliveries.delivery_id = seen.delivery_id and deliveries.next_attempt_at is null
     returning deliveries.delivery_id
   )
   select ${pendingSeen}, case when exists (select from freed) then ${wake} end as woken`,
});

export const dropStep = statement({
  name: 'webhooks_drop_step',
  parameters: { webhookId: 'text', afterObject: 'text', afterSequence: 'int8' },
  columns: seen,
  text: `with ${pendingWindow}, dropped as (
     update deliveries set status = 'skipped', next_attempt_at = null from seen
     where deliveries.delivery_id = seen.delivery_id
   )
   select ${pendingSeen}, null::text as woken`,
});

// Oldest first, so that each object's events keep their order. Deliveries of a webhook that is not active wait.
export const replayStep = statement({
  name: 'webhooks_replay_step',
  parameters: {
    webhookId: 'text',
    afterOrdinal: 'int8',
    since: 'timestamptz',
    nextAttemptAt: 'timestamptz',
    statuses: 'text[]',
  },
  columns: seen,
  text: `with seen as materialized (
     select delivery_id, ordinal, status, created_at from deliveries
     where webhook_id = :webhookId and ordinal > :afterOrdinal order by ordinal limit ${sweepStep}
   ), replayed as (
     update deliveries
     set status = 'pending', attempts_before_replay = attempt_count,
       next_attempt_at = case when webhooks.status = 'active' then :nextAttemptAt::timestamptz end
     from seen, webhooks
     where deliveries.delivery_id = seen.delivery_id and seen.status = any (:statuses)
       and seen.created_at >= :since and webhooks.webhook_id = :webhookId and webhooks.status <> 'removed'
     returning deliveries.delivery_id
   )
   select (select count(*)::int from seen) as seen, ''::text as last_object,
     (select max(ordinal) from seen) as last_number,
     case when exists (select from replayed) then ${wake} end as woken`,
});

/**
 * The ordinal before the first delivery of a webhook since a time, by binary search. Ordinals follow the time of creation, except
 * in concurrent transactions; therefore callers pass a slightly earlier time.
 */
export const ordinalBefore = statement({
  name: 'webhooks_ordinal_before',
  parameters: { webhookId: 'text', time: 'timestamptz' },
  columns: { ordinal: 'int8' },
  text: `with recursive search as (
     select
       coalesce((select min(ordinal) from deliveries where webhook_id = :webhookId), 0) as low,
       coalesce((select max(ordinal) from deliveries where webhook_id = :webhookId), -1) + 1 as high
     union all
     select
       case when probe.created_at < :time then probe.ordinal + 1 else search.low end,
       case when probe.created_at < :time then search.high else (search.low + search.high) / 2 end
     from search
     cross join lateral (
       select ordinal, created_at from deliveries
       where webhook_id = :webhookId and ordinal >= (search.low + search.high) / 2
       order by ordinal limit 1
     ) as probe
     where search.low < search.high
   )
   select max(low) - 1 as ordinal from search`,
});

export const insertSweep = statement({
  name: 'webhooks_insert_sweep',
  parameters: {
    merchantId: 'text',
    webhookId: 'text',
    kind: 'text',
    replaySince: 'timestamptz?',
    afterObject: 'text',
    afterNumber: 'int8',
  },
  text: `insert into delivery_sweeps (merchant_id, webhook_id, kind, replay_since, after_object, after_number)
   values (:merchantId, :webhookId, :kind, :replaySince, :afterObject, :afterNumber)`,
});

export const deleteSweeps = statement({
  name: 'webhooks_delete_sweeps',
  parameters: { webhookId: 'text', kinds: 'text[]' },
  text: 'delete from delivery_sweeps where webhook_id = :webhookId and kind = any (:kinds)',
});

export const deleteSweep = statement({
  name: 'webhooks_delete_sweep',
  parameters: { sweepId: 'int8' },
  text: 'delete from delivery_sweeps where sweep_id = :sweepId',
});

export const advanceSweep = statement({
  name: 'webhooks_advance_sweep',
  parameters: { sweepId: 'int8', afterObject: 'text', afterNumber: 'int8' },
  text: 'update delivery_sweeps set after_object = :afterObject, after_number = :afterNumber where sweep_id = :sweepId',
});

// Sweeps take turns.
export const nextSweep = statement({
  name: 'webhooks_next_sweep',
  parameters: { afterSweep: 'int8' },
  columns: { sweep_id: 'int8', merchant_id: 'text' },
  text: 'select sweep_id, merchant_id from delivery_sweeps order by sweep_id <= :afterSweep, sweep_id limit 1',
});

// The lock of the owner's delivery queues makes a row lock unnecessary.
export const selectSweep = statement({
  name: 'webhooks_select_sweep',
  parameters: { sweepId: 'int8' },
  columns: {
    webhook_id: 'text',
    kind: 'text',
    replay_since: 'timestamptz?',
    after_object: 'text',
    after_number: 'int8',
    webhook_status: 'text',
  },
  text: `select webhook_id, kind, replay_since, after_object, after_number, webhooks.status as webhook_status
   from delivery_sweeps join webhooks using (webhook_id)
   where sweep_id = :sweepId`,
});
