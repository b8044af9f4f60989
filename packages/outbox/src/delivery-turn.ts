import type { Row, Transaction } from '@florin/pg';
import type { Clock } from './context.ts';
import type { DeliveryStatus } from './delivery.machine.ts';
import { beginTurn, claimDeliveries, countFailures, maxClaims, recordAttempts } from './delivery.sql.ts';
import { emit } from './event.ts';
import type { FreeRoom } from './lane.ts';
import type { RetrySettings } from './retry.ts';
import { pauseWebhook, type WebhookRef } from './webhook.ts';
import type { OutboxWorker } from './worker.ts';

/** A delivery that this worker may attempt until `claimedUntil`. */
export interface Claim {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly ownerId: string;
  readonly eventId: string;
  /** Failed attempts so far, since the last replay. */
  readonly attemptsMade: number;
  readonly claimedUntil: Date;
  /** Undefined where the turn had many bytes to read: read by `bodyOf` when it is sent. */
  readonly body: string | undefined;
  readonly webhookUrl: string;
  readonly sealedKey: Uint8Array;
  /** Signs too, until the time; after a key refresh with an overlap. */
  readonly previousKey: { readonly sealed: Uint8Array; readonly until: Date } | undefined;
}

/** What came of one attempt, and what follows. */
export interface AttemptResult {
  readonly claim: Claim;
  readonly attemptedAt: Date;
  readonly endedAt: Date;
  readonly httpStatus: number | undefined;
  readonly latencyMs: number;
  /** Empty after a success. */
  readonly error: string;
  /** The answer's first 4 KiB. */
  readonly responseBody: string;
  readonly status: DeliveryStatus;
  /** Set while pending. */
  readonly nextAttemptAt: Date | undefined;
}

/** How much one turn may claim. */
export interface ClaimLimits {
  readonly leaseMs: number;
  /** Deliveries in all, for each webhook and for each owner that `free` does not name. */
  readonly total: number;
  readonly perWebhook: number;
  readonly perOwner: number;
  readonly free: FreeRoom;
}

/**
 * One turn of the engine, one transaction: settles finished attempts, pauses webhooks that have failed for too long,
 * and claims what is due. `isMoreDue` tells that the next turn may find work at once: this one looked at as much as it
 * may, or parked what stood in front of others.
 */
export function takeTurn(
  worker: OutboxWorker,
  results: readonly AttemptResult[],
  limits: ClaimLimits,
): Promise<{ claims: Claim[]; isMoreDue: boolean }> {
  return worker.db.transaction(async (transaction) => {
    await transaction.query(beginTurn);
    if (results.length > 0) await settle(transaction, worker, results);
    return limits.total > 0 ? claim(transaction, worker.clock, limits) : { claims: [], isMoreDue: false };
  });
}

async function settle(
  transaction: Transaction,
  worker: OutboxWorker,
  results: readonly AttemptResult[],
): Promise<void> {
  const rows = await transaction.query(recordAttempts, {
    deliveryIds: results.map((result) => result.claim.deliveryId),
    claimedUntils: results.map((result) => result.claim.claimedUntil),
    attemptedAts: results.map((result) => result.attemptedAt),
    httpStatuses: results.map((result) => result.httpStatus ?? null),
    latencyMs: results.map((result) => result.latencyMs),
    errors: results.map((result) => result.error),
    responseBodies: results.map((result) => result.responseBody),
    statuses: results.map((result) => result.status),
    nextAttemptAts: results.map((result) => result.nextAttemptAt ?? null),
    requestUrls: results.map((result) => result.claim.webhookUrl),
    now: worker.clock.now(),
  });
  const applied = new Set(rows.map((row) => row.delivery_id));
  const outcomes = tallyOutcomes(results.filter((result) => applied.has(result.claim.deliveryId)));
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
    if (outcome === undefined || !mustPause(worker.settings.retry, webhook, outcome)) continue;
    await pause(transaction, worker, { ownerId: webhook.merchant_id, webhookId: webhook.webhook_id });
  }
}

/** Stops a webhook that has failed for too long, and tells the owner's other webhooks. */
async function pause(transaction: Transaction, worker: OutboxWorker, ref: WebhookRef): Promise<void> {
  const paused = await pauseWebhook(transaction, worker, ref);
  if (paused === undefined) return;
  const { ownerId, webhookId: objectId, updatedAt: at } = paused;
  const event = { ...worker.pausedEvent(paused), ownerId, objectId, at };
  await emit(transaction, worker.random, [event]);
}

interface Outcome {
  readonly webhookId: string;
  hasSuccess: boolean;
  /** Since the last success among these results. */
  failures: number;
  firstFailureAt: Date | undefined;
  lastFailureAt: Date | undefined;
  /** The receiver said 410, which ends its subscription at once. */
  isGone: boolean;
}

/** Sums up results per webhook, in the order in which the attempts ended. */
export function tallyOutcomes(results: readonly AttemptResult[]): Outcome[] {
  const byWebhook = new Map<string, Outcome>();
  for (const result of results.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime())) {
    const { webhookId } = result.claim;
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

async function claim(
  transaction: Transaction,
  clock: Clock,
  limits: ClaimLimits,
): Promise<{ claims: Claim[]; isMoreDue: boolean }> {
  const now = clock.now();
  const claimedUntil = new Date(now.getTime() + limits.leaseMs);
  const rows = await transaction.query(claimDeliveries, {
    now,
    claimedUntil,
    limit: limits.total,
    mostPerWebhook: limits.perWebhook,
    mostPerMerchant: limits.perOwner,
    roomOfWebhooks: JSON.stringify(Object.fromEntries(limits.free.webhooks)),
    roomOfMerchants: JSON.stringify(Object.fromEntries(limits.free.owners)),
  });
  const claims = rows.filter((row) => row.is_claimed).map((row) => claimOf(row, claimedUntil));
  const isMoreDue = claims.length < rows.length || rows[0]?.looked_at === maxClaims;
  return { claims, isMoreDue };
}

function claimOf(row: Row<typeof claimDeliveries>, claimedUntil: Date): Claim {
  const { previous_sealed_key: sealed, previous_key_until: until } = row;
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    ownerId: row.merchant_id,
    eventId: row.event_id,
    attemptsMade: row.attempts_made,
    claimedUntil,
    body: row.body ?? undefined,
    webhookUrl: row.webhook_url,
    sealedKey: row.sealed_key,
    previousKey: sealed === null || until === null ? undefined : { sealed, until },
  };
}
