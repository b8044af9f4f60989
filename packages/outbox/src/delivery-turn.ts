import type { Row, Transaction } from '@florin/pg';
import type { AvailableAttempts } from './concurrency.ts';
import type { Clock } from './context.ts';
import type { DeliveryStatus } from './delivery.machine.ts';
import {
  beginTurn,
  countFailures,
  leaseDeliveries,
  lockParts,
  maxLeases,
  recordAttempts,
} from './delivery.sql.ts';
import type { WantedParts } from './delivery-part.ts';
import type { RetrySettings } from './retry.ts';
import { pauseWebhook, type WebhookRef } from './webhook.ts';
import type { OutboxWorker } from './worker.ts';

/** A delivery that only this worker may attempt until `leasedUntil`. */
export interface DeliveryLease {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly ownerId: string;
  /** Of its owner. */
  readonly part: number;
  readonly eventId: string;
  /** What the event is about. */
  readonly objectId: string;
  /** Failed attempts so far, since the last replay. */
  readonly attemptsMade: number;
  readonly leasedUntil: Date;
  /** Undefined beyond the byte limit of a turn: `bodyOf` reads it when it is sent. */
  readonly body: string | undefined;
  /** The body goes through `redact`. */
  readonly isRedacted: boolean;
  readonly webhookUrl: string;
  readonly sealedKey: Uint8Array;
  /** Also signs until this time, after a key refresh with an overlap. */
  readonly previousKey: { readonly sealed: Uint8Array; readonly until: Date } | undefined;
}

/** The result of one attempt. */
export interface AttemptResult {
  readonly lease: DeliveryLease;
  readonly attemptedAt: Date;
  readonly endedAt: Date;
  readonly httpStatus: number | undefined;
  readonly latencyMs: number;
  /** Empty after a success. */
  readonly error: string;
  /** The first 4 KiB of the response. */
  readonly responseBody: string;
  readonly status: DeliveryStatus;
  /** Set while pending. */
  readonly nextAttemptAt: Date | undefined;
}

/** Limits of one turn. */
export interface TurnLimits extends WantedParts {
  readonly leaseMs: number;
  /** Deliveries in all, and for each webhook and owner that `available` does not name. */
  readonly total: number;
  readonly perWebhook: number;
  readonly perOwner: number;
  readonly available: AvailableAttempts;
}

interface Turn {
  /** Those of the wanted ones that were free. */
  readonly parts: readonly number[];
  readonly recorded: readonly AttemptResult[];
  readonly leases: readonly DeliveryLease[];
  /** The next turn may find work at once: this one reached its limit, or paused deliveries that preceded others. */
  readonly isMoreDue: boolean;
}

/**
 * One turn of the engine, in one transaction: takes parts that are free, records finished attempts of these, pauses webhooks
 * that have failed for too long, and leases due deliveries.
 */
export function takeTurn(
  worker: OutboxWorker,
  results: readonly AttemptResult[],
  limits: TurnLimits,
): Promise<Turn> {
  return worker.db.transaction(async (transaction) => {
    await transaction.query(beginTurn);
    const rows = await transaction.query(lockParts, { parts: limits.parts, most: limits.mostParts });
    const parts = rows.map(({ part }) => part);
    const recorded = results.filter(({ lease }) => parts.includes(lease.part)).slice(0, maxLeases);
    if (recorded.length > 0) await record(transaction, worker, recorded);
    const isLeasing = limits.total > 0 && parts.length > 0;
    const leased = isLeasing ? await leaseDue(transaction, worker.clock, { ...limits, parts }) : noLeases;
    return { parts, recorded, ...leased };
  });
}

const noLeases = { leases: [], isMoreDue: false };

async function record(
  transaction: Transaction,
  worker: OutboxWorker,
  results: readonly AttemptResult[],
): Promise<void> {
  const rows = await transaction.query(recordAttempts, {
    deliveryIds: results.map((result) => result.lease.deliveryId),
    leasedUntils: results.map((result) => result.lease.leasedUntil),
    attemptedAts: results.map((result) => result.attemptedAt),
    httpStatuses: results.map((result) => result.httpStatus ?? null),
    latencyMs: results.map((result) => result.latencyMs),
    errors: results.map((result) => result.error),
    responseBodies: results.map((result) => result.responseBody),
    statuses: results.map((result) => result.status),
    nextAttemptAts: results.map((result) => result.nextAttemptAt ?? null),
    requestUrls: results.map((result) => result.lease.webhookUrl),
    now: worker.clock.now(),
  });
  const applied = new Set(rows.map((row) => row.delivery_id));
  const outcomes = tallyOutcomes(results.filter((result) => applied.has(result.lease.deliveryId)));
  if (outcomes.length === 0) return;
  const counted = await transaction.query(countFailures, {
    webhookIds: outcomes.map((outcome) => outcome.webhookId),
    hasSuccesses: outcomes.map((outcome) => outcome.hasSuccess),
    failures: outcomes.map((outcome) => outcome.failures),
    firstFailureAts: outcomes.map((outcome) => outcome.firstFailureAt ?? null),
  });
  const lastFailures = new Map(outcomes.map((outcome) => [outcome.webhookId, outcome]));
  for (const webhook of counted) {
    const outcome = lastFailures.get(webhook.webhook_id);
    if (outcome === undefined) continue;
    const ref = { ownerId: webhook.merchant_id, webhookId: webhook.webhook_id };
    const since = webhook.first_failure_at;
    if (mustPause(worker.settings.retry, webhook, outcome)) await pause(transaction, worker, ref);
    else if (since !== null && hasBegunToFail(webhook, outcome))
      await worker.tellFailing(transaction, { ...ref, since });
  }
}

/** Pauses a webhook that has failed for too long, and tells its owner. */
async function pause(transaction: Transaction, worker: OutboxWorker, ref: WebhookRef): Promise<void> {
  const paused = await pauseWebhook(transaction, worker, ref);
  if (paused !== undefined) await worker.tellPaused(transaction, paused);
}

interface Outcome {
  readonly webhookId: string;
  hasSuccess: boolean;
  /** Since the last success among these results. */
  failures: number;
  firstFailureAt: Date | undefined;
  lastFailureAt: Date | undefined;
  /** The receiver answered 410, which pauses the webhook at once. */
  isGone: boolean;
}

/** Sums up results per webhook, in the order in which the attempts ended. */
export function tallyOutcomes(results: readonly AttemptResult[]): Outcome[] {
  const byWebhook = new Map<string, Outcome>();
  for (const result of results.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime())) {
    const { webhookId } = result.lease;
    const outcome = byWebhook.get(webhookId) ?? noOutcome(webhookId);
    byWebhook.set(webhookId, outcome);
    if (result.status === 'succeeded') {
      Object.assign(outcome, noOutcome(webhookId), { hasSuccess: true });
      continue;
    }
    outcome.failures += 1;
    outcome.firstFailureAt ??= result.endedAt;
    outcome.lastFailureAt = result.endedAt;
    outcome.isGone ||= result.httpStatus === 410;
  }
  return [...byWebhook.values()];
}

function noOutcome(webhookId: string): Outcome {
  return {
    webhookId,
    hasSuccess: false,
    failures: 0,
    firstFailureAt: undefined,
    lastFailureAt: undefined,
    isGone: false,
  };
}

function mustPause(retry: RetrySettings, webhook: Row<typeof countFailures>, outcome: Outcome): boolean {
  if (outcome.isGone) return true;
  if (outcome.lastFailureAt === undefined || webhook.first_failure_at === null) return false;
  const spanMs = outcome.lastFailureAt.getTime() - webhook.first_failure_at.getTime();
  return webhook.consecutive_failures >= retry.pauseAfterFailures && spanMs >= retry.pauseAfterMs;
}

/** Failed attempts in a row that count as failing: a receiver that starts anew misses one or two. */
const failingAfter = 3;

function hasBegunToFail(
  { status, consecutive_failures: failures }: Row<typeof countFailures>,
  outcome: Outcome,
): boolean {
  return status === 'active' && failures >= failingAfter && failures - outcome.failures < failingAfter;
}

async function leaseDue(
  transaction: Transaction,
  clock: Clock,
  limits: TurnLimits,
): Promise<{ leases: DeliveryLease[]; isMoreDue: boolean }> {
  const now = clock.now();
  const leasedUntil = new Date(now.getTime() + limits.leaseMs);
  const rows = await transaction.query(leaseDeliveries, {
    now,
    leasedUntil,
    parts: limits.parts,
    limit: limits.total,
    mostPerWebhook: limits.perWebhook,
    mostPerMerchant: limits.perOwner,
    availableForWebhooks: JSON.stringify(Object.fromEntries(limits.available.webhooks)),
    availableForMerchants: JSON.stringify(Object.fromEntries(limits.available.owners)),
  });
  const leases = rows.filter((row) => row.is_leased).map((row) => leaseOf(row, leasedUntil));
  const isMoreDue = leases.length < rows.length || rows[0]?.looked_at === maxLeases;
  return { leases, isMoreDue };
}

function leaseOf(row: Row<typeof leaseDeliveries>, leasedUntil: Date): DeliveryLease {
  const { previous_sealed_key: sealed, previous_key_until: until } = row;
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    ownerId: row.merchant_id,
    part: row.part,
    eventId: row.event_id,
    objectId: row.object_id,
    attemptsMade: row.attempts_made,
    leasedUntil,
    body: row.body ?? undefined,
    isRedacted: row.is_redacted,
    webhookUrl: row.webhook_url,
    sealedKey: row.sealed_key,
    previousKey: sealed === null || until === null ? undefined : { sealed, until },
  };
}
