import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Database } from '@florin/pg';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import { type Egress, EgressFailure } from '#outside/egress.ts';
import type { Random } from '#outside/random.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import type { Log } from '#telemetry/log.ts';
import { deliveryMove } from './delivery.machine.ts';
import { bodyOfEvent, maxClaims } from './delivery.sql.ts';
import { type AttemptResult, type Claim, takeTurn } from './delivery-turn.ts';
import { type LaneSettings, type Lanes, makeLanes } from './lane.ts';
import { defaultRetrySettings, nextAttemptAt, type RetrySettings } from './retry.ts';
import { plainHeaders, signWebhook } from './signature.ts';

/** Limits of one worker. */
export interface DeliverySettings extends LaneSettings {
  /** Attempts in flight in all. */
  readonly concurrency: number;
  /** A claim is another worker's after this time; well beyond the time-out of an attempt. */
  readonly leaseMs: number;
  readonly attemptTimeoutMs: number;
  /** How long due work waits at most when no notification comes. */
  readonly pollMs: number;
  /** How long a stopping worker waits for attempts in flight. */
  readonly drainMs: number;
  readonly retry: RetrySettings;
}

export const defaultDeliverySettings: DeliverySettings = {
  concurrency: 1024,
  perWebhook: { start: 16, least: 2, most: 128 },
  perMerchant: 256,
  leaseMs: 60_000,
  attemptTimeoutMs: 15_000,
  pollMs: 1000,
  drainMs: 5000,
  retry: defaultRetrySettings,
};

export interface DeliveryDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly egress: Egress;
  readonly secrets: SecretBox;
  readonly settings?: DeliverySettings;
  /** Stops the worker. */
  readonly signal: AbortSignal;
}

/** Bytes of an answer that the log keeps. */
const maxLoggedBytes = 4096;
const restAfterFailureMs = 1000;
/** Signing keys that are kept open; past that they are opened afresh. */
const maxOpenKeys = 1024;

interface Worker extends Required<DeliveryDeps> {
  readonly doorbell: Doorbell;
  readonly lanes: Lanes;
  /** By their sealed bytes, so that a key that was refreshed or sealed again is another. */
  readonly openKeys: Map<string, KeyObject>;
  /** Finished attempts that are not yet written down. */
  results: AttemptResult[];
  readonly attempts: Set<Promise<void>>;
}

/**
 * Delivers what the outbox holds until the signal aborts: at least once, in order per webhook and object, as many
 * workers as one likes. Resolves when attempts in flight have ended and are written down, or have been given up; what
 * is given up is sent again when its lease runs out.
 */
export async function runDeliveries(deps: DeliveryDeps): Promise<void> {
  const settings = deps.settings ?? defaultDeliverySettings;
  const doorbell = makeDoorbell(deps.clock);
  const worker: Worker = {
    ...deps,
    settings,
    doorbell,
    lanes: makeLanes(settings),
    openKeys: new Map(),
    results: [],
    attempts: new Set(),
  };
  deps.signal.addEventListener('abort', doorbell.ring, { once: true });
  deps.db.listen('florin_deliveries', doorbell.ring, deps.signal);
  while (!deps.signal.aborted) {
    const isDone = await turnOrRest(worker);
    if (isDone && !deps.signal.aborted) await doorbell.wait(settings.pollMs);
  }
  deps.signal.removeEventListener('abort', doorbell.ring);
  const drained = new AbortController();
  const attempts = Promise.all(worker.attempts).then(() => drained.abort());
  await Promise.race([attempts, deps.clock.sleep(settings.drainMs, drained.signal)]);
  while (worker.results.length > 0 && (await turnOrRest(worker))) {
    // Each turn writes down some of what is left; a database that fails now leaves the rest to their leases.
  }
}

/** Takes a turn; false when the database failed, after a rest. */
async function turnOrRest(worker: Worker): Promise<boolean> {
  try {
    await turn(worker);
    return true;
  } catch (error) {
    worker.log.error('webhooks.turn_failed', error);
    await worker.clock.sleep(restAfterFailureMs, worker.signal);
    return false;
  }
}

async function turn(worker: Worker): Promise<void> {
  const { settings } = worker;
  const results = worker.results.slice(0, maxClaims);
  const free = settings.concurrency - worker.attempts.size - worker.results.length;
  const total = worker.signal.aborted ? 0 : Math.min(maxClaims, free);
  const { claims, isMoreDue } = await takeTurn({ ...worker, retry: settings.retry }, results, {
    leaseMs: settings.leaseMs,
    total,
    perWebhook: settings.perWebhook.start,
    perMerchant: settings.perMerchant,
    free: worker.lanes.free(),
  });
  worker.results.splice(0, results.length);
  for (const claim of claims) start(worker, claim);
  // More may be due than this turn could look at. What is left for lack of room is found when attempts end.
  if (isMoreDue || worker.results.length > 0) worker.doorbell.ring();
}

function start(worker: Worker, claim: Claim): void {
  const { lanes, settings, attempts, doorbell, clock } = worker;
  // A machine that was paused may come back when another one has sent this, and what follows it.
  if (claim.claimedUntil <= clock.now()) {
    doorbell.ring();
    return;
  }
  lanes.begin(claim);
  const work = attempt(worker, claim).then((result) => {
    const isCrowded = attempts.size > settings.concurrency / 2;
    attempts.delete(work);
    worker.results.push(result);
    lanes.end(claim, {
      isSuccess: result.status === 'succeeded',
      latencyMs: result.latencyMs,
      isCrowded,
    });
    doorbell.ring();
  });
  attempts.add(work);
}

interface Answer {
  readonly httpStatus: number | undefined;
  readonly error: string;
  readonly responseBody: string;
  readonly retryAfter: string | undefined;
}

/** Sends once. Never rejects: whatever goes wrong is an attempt that failed. */
async function attempt(worker: Worker, claim: Claim): Promise<AttemptResult> {
  const { clock, random, settings } = worker;
  const attemptedAt = clock.now();
  const startedMs = clock.monotonicMs();
  const answer = await send(worker, claim, attemptedAt);
  const endedAt = clock.now();
  const { retryAfter, ...logged } = answer;
  const attemptsMade = claim.attemptsMade + 1;
  const next =
    answer.error === ''
      ? undefined
      : nextAttemptAt(settings.retry, random, { attemptsMade, endedAt, retryAfter });
  const trigger =
    answer.error === '' ? 'accepted' : next === undefined ? 'attempts_exhausted' : 'attempt_failed';
  return {
    claim,
    attemptedAt,
    endedAt,
    latencyMs: Math.max(0, Math.round(clock.monotonicMs() - startedMs)),
    ...logged,
    status: deliveryMove('pending', trigger).to,
    nextAttemptAt: next,
  };
}

async function send(worker: Worker, claim: Claim, at: Date): Promise<Answer> {
  try {
    const { eventId } = claim;
    const body = claim.body ?? (await bodyOf(worker.db, eventId));
    const timestampSeconds = unixSeconds(at);
    const keys = signingKeys(worker, claim, at);
    const response = await worker.egress.post(claim.webhookUrl, {
      headers: {
        ...plainHeaders(eventId, timestampSeconds),
        ...signWebhook({ eventId, timestampSeconds, body, keys }),
      },
      body,
      timeoutMs: worker.settings.attemptTimeoutMs,
    });
    return {
      httpStatus: response.status,
      error: statusError(response.status),
      responseBody: loggedBody(response.bodyText),
      retryAfter: response.headers.retryAfter,
    };
  } catch (error) {
    const isExpected = error instanceof EgressFailure;
    if (!isExpected) worker.log.error('webhooks.attempt_broken', error, { deliveryId: claim.deliveryId });
    const reason = isExpected ? error.reason : 'internal error';
    return { httpStatus: undefined, error: reason, responseBody: '', retryAfter: undefined };
  }
}

async function bodyOf(db: Database, eventId: string): Promise<string> {
  const [row] = await db.query(bodyOfEvent, [eventId]);
  // Housekeeping leaves events that are still to be delivered alone.
  if (row === undefined) throw new Error(`the event ${eventId} of a claimed delivery has vanished`);
  return row.body;
}

function signingKeys(worker: Worker, claim: Claim, at: Date): KeyObject[] {
  const keys = [openKey(worker, claim.sealedKey, claim.webhookId)];
  const previous = claim.previousKey;
  if (previous !== undefined && at < previous.until)
    keys.push(openKey(worker, previous.sealed, claim.webhookId));
  return keys;
}

/** Opening a key and making an HMAC key of it costs as much as signing with it. */
function openKey({ openKeys, secrets }: Worker, sealed: Uint8Array, webhookId: string): KeyObject {
  const name = `${webhookId} ${Buffer.from(sealed).toString('latin1')}`;
  const open = openKeys.get(name);
  if (open !== undefined) return open;
  if (openKeys.size >= maxOpenKeys) openKeys.clear();
  const key = createSecretKey(secrets.open(sealed, webhookId));
  openKeys.set(name, key);
  return key;
}

function statusError(status: number): string {
  if (status >= 200 && status < 300) return '';
  return status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`;
}

/** The first 4 KiB, without NUL, which PostgreSQL's text cannot hold. */
function loggedBody(text: string): string {
  const cut = Buffer.from(text.slice(0, maxLoggedBytes)).subarray(0, maxLoggedBytes);
  return cut.toString('utf8').replaceAll('\u0000', '\ufffd');
}

interface Doorbell {
  /** Ends the wait, or the next one before it begins. */
  readonly ring: () => void;
  wait(ms: number): Promise<void>;
}

function makeDoorbell(clock: Clock): Doorbell {
  let hasRung = false;
  let waiting: AbortController | undefined;
  return {
    ring() {
      hasRung = true;
      waiting?.abort();
    },
    async wait(ms) {
      if (!hasRung) {
        waiting = new AbortController();
        await clock.sleep(ms, waiting.signal);
        waiting = undefined;
      }
      hasRung = false;
    },
  };
}
