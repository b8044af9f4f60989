import { isWithinBudget, statement } from '@florin/pg';
import { awaitShare, tryLockOf } from './advisory-lock.ts';
import { partOf } from './delivery-part.ts';

// A pending delivery is due when its next_attempt_at has passed and no worker leases it:
// - claimed_until is the end of a lease. Leased deliveries stay in the index of due ones, where turns skip the few that are in
//   flight, because an update that changes no index costs half as much;
// - next_attempt_at is null while the delivery is paused: after an earlier event of the same object, or while its webhook is not
//   active.
// Deliveries are paused, resumed, leased and recorded only under the advisory lock of their owner's part. Otherwise a delivery
// could be paused after one that is being recorded at that moment. Programs before the parts take the whole lock, which those of
// parts share. Emitters take no lock: the deliveries that they insert are due.

/**
 * Takes a share of the lock, and makes the planner use index scans and nested loops until the transaction ends. They suit small batches
 * from a table of any size. With 10,000 due deliveries, other plans took 10 to 40 ms.
 */
export const beginTurn = statement({
  name: 'webhooks_begin_turn',
  columns: { locked: 'text' },
  text: `select concat(
     ${awaitShare('deliveries')}, set_config('plan_cache_mode', 'force_generic_plan', true),
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
     set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)
   ) as locked`,
});

/** Takes the locks of parts that are free, after a share of the whole lock. It waits for none: others work in the parts that are not. */
export const lockParts = statement({
  name: 'webhooks_lock_parts',
  parameters: { parts: 'int4[]', most: 'int4' },
  columns: { part: 'int4' },
  text: `select part from unnest(:parts::int[]) as part where ${tryLockOf('deliveryPart', 'part::text')} limit :most::int4`,
});

/** Deliveries that one turn leases and pauses. Unlike a parameter, the planner knows it. */
export const maxLeases = 256;

/** Due deliveries of one part that a turn reads before it visits webhooks one by one. */
const dueWindow = 128;

const isUnleased = '(claimed_until is null or claimed_until <= :now)';

/**
 * Leases due deliveries of these parts that are first in their queues, and pauses the others. The limits are one in total, one for each webhook
 * and one for each owner. Bodies beyond the byte budget are null, and are read when they are sent. The webhook with the fewest
 * attempts in flight comes first, so that a long queue does not block a short one. Usually the oldest due deliveries name all
 * webhooks that have any. When they fill the window, a backlog may hide other webhooks: then all webhooks with pending
 * deliveries are visited along the index.
 */
export const leaseDeliveries = statement({
  name: 'webhooks_lease_deliveries',
  parameters: {
    now: 'timestamptz',
    leasedUntil: 'timestamptz',
    parts: 'int4[]',
    limit: 'int4',
    mostPerWebhook: 'int4',
    mostPerMerchant: 'int4',
    availableForWebhooks: 'jsonb',
    availableForMerchants: 'jsonb',
  },
  columns: {
    delivery_id: 'text',
    webhook_id: 'text',
    merchant_id: 'text',
    part: 'int4',
    event_id: 'text',
    object_id: 'text',
    attempts_made: 'int4',
    is_leased: 'bool',
    body: 'text?',
    is_redacted: 'bool',
    webhook_url: 'text',
    sealed_key: 'bytea',
    previous_sealed_key: 'bytea?',
    previous_key_until: 'timestamptz?',
    looked_at: 'int4',
  },
  text: `with recursive due as materialized (
     select of_part.webhook_id
     from unnest(:parts::int[]) as part
     cross join lateral (
       select webhook_id from deliveries
       where status = 'pending' and ${partOf('merchant_id')} = part and next_attempt_at <= :now and ${isUnleased}
       order by next_attempt_at limit ${dueWindow}
     ) as of_part
   ), visited as (
     (select webhook_id from deliveries
      where status = 'pending' and next_attempt_at is not null and (select count(*) from due) >= ${dueWindow}
      order by webhook_id limit 1)
     union all
     select (
       select deliveries.webhook_id from deliveries
       where deliveries.status = 'pending' and deliveries.next_attempt_at is not null
         and deliveries.webhook_id > visited.webhook_id
       order by deliveries.webhook_id limit 1
     )
     from visited where visited.webhook_id is not null
   ), candidates as materialized (
     select webhook_id from due
     union
     select webhook_id from visited where webhook_id is not null
   ), rooms as materialized (
     select webhooks.webhook_id, webhooks.merchant_id, webhooks.status = 'active' as is_active,
       coalesce((:availableForWebhooks::jsonb -> webhooks.webhook_id ->> 'inFlight')::int, 0) as in_flight,
       coalesce((:availableForWebhooks::jsonb -> webhooks.webhook_id ->> 'free')::int, :mostPerWebhook) as webhook_room,
       coalesce((:availableForMerchants::jsonb ->> webhooks.merchant_id)::int, :mostPerMerchant) as merchant_room
     from candidates join webhooks on webhooks.webhook_id = candidates.webhook_id
     where ${partOf('webhooks.merchant_id')} = any (:parts::int[])
     order by in_flight
   ), picked as materialized (
     select due_delivery.*, rooms.merchant_id, rooms.is_active, rooms.in_flight, rooms.merchant_room
     from rooms
     cross join lateral (
       select delivery_id, webhook_id, object_id, sequence, next_attempt_at
       from deliveries
       where status = 'pending' and webhook_id = rooms.webhook_id and next_attempt_at <= :now and ${isUnleased}
       order by next_attempt_at
       limit least(rooms.webhook_room, rooms.merchant_room, :limit)
       for no key update skip locked
     ) as due_delivery
     limit ${maxLeases}
   ), judged as materialized (
     select picked.*,
       picked.is_active and not exists (
         select from deliveries as earlier
         where earlier.status = 'pending' and earlier.webhook_id = picked.webhook_id
           and earlier.object_id = picked.object_id and earlier.sequence < picked.sequence
       ) as is_leased
     from picked
   ), placed as (
     select judged.*, in_flight + row_number() over (partition by webhook_id, is_leased order by next_attempt_at) as place
     from judged
   ), seated as (
     select placed.*, row_number() over (partition by merchant_id, is_leased order by place) as seat from placed
   ), chosen as materialized (
     (select delivery_id, is_leased from seated where is_leased and seat <= merchant_room order by place limit :limit)
     union all
     select delivery_id, is_leased from seated where not is_leased
   ), moved as (
     update deliveries
     set claimed_until = case when chosen.is_leased then :leasedUntil::timestamptz end,
       next_attempt_at = case when chosen.is_leased then deliveries.next_attempt_at end
     from chosen
     where deliveries.delivery_id = chosen.delivery_id
     returning deliveries.delivery_id, deliveries.webhook_id, deliveries.merchant_id, deliveries.event_id,
       deliveries.object_id, chosen.is_leased,
       deliveries.attempt_count - deliveries.attempts_before_replay as attempts_made
   )
   select
     moved.delivery_id, moved.webhook_id, moved.merchant_id, ${partOf('moved.merchant_id')}::int as part, moved.event_id, moved.object_id, moved.attempts_made,
     moved.is_leased,
     case when ${isWithinBudget('octet_length(events.body)', 'moved.delivery_id')} then events.body end as body,
     webhooks.is_redacted, webhooks.webhook_url, webhooks.sealed_key, webhooks.previous_sealed_key, webhooks.previous_key_until,
     (select count(*) from picked)::int as looked_at
   from moved
   join events on events.event_id = moved.event_id
   join webhooks on webhooks.webhook_id = moved.webhook_id`,
});

export const bodyOfEvent = statement({
  name: 'webhooks_body_of_event',
  parameters: { eventId: 'text' },
  columns: { body: 'text' },
  text: 'select body from events where event_id = :eventId',
});

/**
 * Records attempts with their consequences, and makes the next delivery of the queue due after a finished one. An attempt counts
 * only while its worker holds the lease, which claimed_until identifies. So recording it twice, after a commit whose answer was
 * lost, changes nothing.
 */
export const recordAttempts = statement({
  name: 'webhooks_record_attempts',
  parameters: {
    deliveryIds: 'text[]',
    leasedUntils: 'timestamptz[]',
    attemptedAts: 'timestamptz[]',
    httpStatuses: 'int4[]',
    latencyMs: 'int4[]',
    errors: 'text[]',
    responseBodies: 'text[]',
    statuses: 'text[]',
    nextAttemptAts: 'timestamptz[]',
    requestUrls: 'text[]',
    now: 'timestamptz',
  },
  columns: { delivery_id: 'text' },
  text: `with results as (
     select * from unnest(
       :deliveryIds::text[], :leasedUntils::timestamptz[], :attemptedAts::timestamptz[], :httpStatuses::int[], :latencyMs::int[], :errors::text[], :responseBodies::text[], :statuses::text[],
       :nextAttemptAts::timestamptz[], :requestUrls::text[]
     ) as results (
       delivery_id, claimed_until, attempted_at, http_status, latency_ms, error, response_body, status, next_attempt_at,
       request_url
     )
   ), applied as (
     update deliveries
     set status = results.status, next_attempt_at = results.next_attempt_at, claimed_until = null,
       attempt_count = deliveries.attempt_count + 1
     from results
     where deliveries.delivery_id = results.delivery_id
       and deliveries.claimed_until = results.claimed_until
       and deliveries.status = 'pending'
     returning deliveries.delivery_id, deliveries.webhook_id, deliveries.object_id, deliveries.sequence,
       deliveries.attempt_count, deliveries.status, results.attempted_at, results.http_status, results.latency_ms,
       results.error, results.response_body, results.request_url
   ), logged as (
     insert into delivery_attempts
       (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body, request_url)
     select delivery_id, attempt_count, attempted_at, http_status, latency_ms, error, response_body, request_url
     from applied
   ), successors as (
     select successor.delivery_id
     from applied
     cross join lateral (
       select deliveries.delivery_id, deliveries.next_attempt_at
       from deliveries
       where deliveries.status = 'pending' and deliveries.webhook_id = applied.webhook_id
         and deliveries.object_id = applied.object_id and deliveries.sequence > applied.sequence
       order by deliveries.sequence limit 1
     ) as successor
     where applied.status <> 'pending' and successor.next_attempt_at is null
   ), freed as (
     update deliveries set next_attempt_at = :now
     from successors where deliveries.delivery_id = successors.delivery_id
   )
   select delivery_id from applied`,
});

/**
 * Counts consecutive failures per webhook. A success starts the count again, with the failures after it. Webhooks without
 * failures are not updated.
 */
export const countFailures = statement({
  name: 'webhooks_count_failures',
  parameters: {
    webhookIds: 'text[]',
    hasSuccesses: 'bool[]',
    failures: 'int4[]',
    firstFailureAts: 'timestamptz[]',
  },
  columns: {
    webhook_id: 'text',
    merchant_id: 'text',
    status: 'text',
    consecutive_failures: 'int4',
    first_failure_at: 'timestamptz?',
  },
  text: `update webhooks
   set
     consecutive_failures = case when outcomes.has_success then 0 else webhooks.consecutive_failures end
       + outcomes.failures,
     first_failure_at = case when outcomes.has_success then outcomes.first_failure_at
       else coalesce(webhooks.first_failure_at, outcomes.first_failure_at) end
   from unnest(:webhookIds::text[], :hasSuccesses::bool[], :failures::int[], :firstFailureAts::timestamptz[])
     as outcomes (webhook_id, has_success, failures, first_failure_at)
   where webhooks.webhook_id = outcomes.webhook_id
     and (outcomes.failures > 0 or webhooks.consecutive_failures > 0)
   returning webhooks.webhook_id, webhooks.merchant_id, webhooks.status, webhooks.consecutive_failures,
     webhooks.first_failure_at`,
});
