import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Database } from '@florin/pg';
import { type ReceiverConcurrency, receiverConcurrency } from './concurrency.ts';
import { type Clock, unixSeconds } from './context.ts';
import { deliveryMove } from './delivery.machine.ts';
import { bodyOfEvent, maxLeases } from './delivery.sql.ts';
import { type PartRound, partRound } from './delivery-part.ts';
import { type AttemptResult, type DeliveryLease, takeTurn } from './delivery-turn.ts';
import { nextAttemptAt } from './retry.ts';
import { plainHeaders, signWebhook } from './signature.ts';
import type { OutboxWorker } from './worker.ts';

/** Bytes of a response that the log keeps. */
const maxLoggedBytes = 4096;
const pauseAfterFailureMs = 1000;
/** Until a part is tried again that another worker was busy with. */
const busyPartMs = 20;
/** Turns in which a worker that ends records what its attempts gave. */
const maxLastTurns = 200;
/** Decrypted signing keys in the cache; beyond it the cache is emptied. */
const maxOpenKeys = 1024;

interface Engine extends OutboxWorker {
  readonly signal: AbortSignal;
  readonly doorbell: Doorbell;
  readonly receivers: ReceiverConcurrency;
  readonly round: PartRound;
  /** By their sealed bytes, so that a refreshed key gets an entry of its own. */
  readonly openKeys: Map<string, KeyObject>;
  /** Finished attempts that are not yet recorded. */
  results: AttemptResult[];
  readonly attempts: Set<Promise<void>>;
}

/**
 * Delivers the outbox until the signal aborts: at least once, in order per webhook and object, with any number of workers,
 * which work in different parts of the owners at the same time.
 * Then it waits for attempts in flight and records them. Attempts that take too long are abandoned, and sent again when their
 * lease ends.
 */
export async function runDeliveries(worker: OutboxWorker, signal: AbortSignal): Promise<void> {
  const { settings, clock, db } = worker;
  const doorbell = makeDoorbell(clock);
  const engine: Engine = {
    ...worker,
    signal,
    doorbell,
    receivers: receiverConcurrency(settings),
    round: partRound(clock),
    openKeys: new Map(),
    results: [],
    attempts: new Set(),
  };
  signal.addEventListener('abort', doorbell.ring, { once: true });
  db.listen('florin_deliveries', doorbell.ring, signal);
  while (!signal.aborted) {
    const isDone = await turnOrPause(engine);
    const { round } = engine;
    if (!isDone || !round.isOver() || signal.aborted) continue;
    await doorbell.wait(round.isBusyLeft() ? busyPartMs : settings.pollMs);
  }
  signal.removeEventListener('abort', doorbell.ring);
  const drained = new AbortController();
  const attempts = Promise.all(engine.attempts).then(() => drained.abort());
  await Promise.race([attempts, clock.sleep(settings.drainMs, drained.signal)]);
  // If the database fails now, or a part stays busy, the other deliveries are sent again after their leases.
  for (let turns = 0; turns < maxLastTurns && engine.results.length > 0; turns += 1) {
    if (!(await turnOrPause(engine))) break;
    if (engine.round.isBusyLeft()) await clock.sleep(busyPartMs);
  }
}

/** Takes a turn. After a failure of the database it pauses, and returns false. */
async function turnOrPause(engine: Engine): Promise<boolean> {
  try {
    await turn(engine);
    return true;
  } catch (error) {
    engine.log.error('webhooks.turn_failed', error);
    await engine.clock.sleep(pauseAfterFailureMs, engine.signal);
    return false;
  }
}

async function turn(engine: Engine): Promise<void> {
  const { settings, round } = engine;
  const free = settings.concurrency - engine.attempts.size - engine.results.length;
  const total = engine.signal.aborted ? 0 : Math.min(maxLeases, free);
  const { parts, recorded, leases, isMoreDue } = await takeTurn(engine, [...engine.results], {
    ...round.next(),
    leaseMs: settings.leaseMs,
    total,
    perWebhook: settings.perWebhook.start,
    perOwner: settings.perOwner,
    available: engine.receivers.available(),
  });
  round.took(parts);
  engine.results = engine.results.filter((result) => !recorded.includes(result));
  for (const lease of leases) start(engine, lease);
  // More deliveries may be due than one turn reads. Deliveries beyond the limits wait until attempts end.
  if (isMoreDue || engine.results.length > 0) engine.doorbell.ring();
}

function start(engine: Engine, lease: DeliveryLease): void {
  const { receivers, settings, attempts, doorbell, clock } = engine;
  // After a long pause of this machine, another worker may have sent this delivery and later ones.
  if (lease.leasedUntil <= clock.now()) {
    doorbell.ring();
    return;
  }
  receivers.begin(lease);
  const work = attempt(engine, lease).then((result) => {
    const isCrowded = attempts.size > settings.concurrency / 2;
    attempts.delete(work);
    engine.results.push(result);
    receivers.end(lease, {
      isSuccess: result.status === 'succeeded',
      latencyMs: result.latencyMs,
      isCrowded,
    });
    doorbell.ring();
  });
  attempts.add(work);
}

interface LoggedAnswer {
  readonly httpStatus: number | undefined;
  readonly error: string;
  readonly responseBody: string;
  readonly retryAfter: string | undefined;
}

/** Sends once. It never rejects: every error is a failed attempt. */
async function attempt(engine: Engine, lease: DeliveryLease): Promise<AttemptResult> {
  const { clock, random, settings } = engine;
  const attemptedAt = clock.now();
  const startedMs = clock.monotonicMs();
  const followed = engine.follow?.(lease.objectId);
  const answer = await send(engine, lease, attemptedAt, followed?.headers);
  const endedAt = clock.now();
  const latencyMs = Math.max(0, Math.round(clock.monotonicMs() - startedMs));
  engine.onAttempt?.({ isAccepted: answer.error === '', ms: latencyMs });
  followed?.end(answer.error === '');
  const { retryAfter, ...logged } = answer;
  const attemptsMade = lease.attemptsMade + 1;
  const next =
    answer.error === ''
      ? undefined
      : nextAttemptAt(settings.retry, random, { attemptsMade, endedAt, retryAfter });
  const trigger =
    answer.error === '' ? 'accepted' : next === undefined ? 'attempts_exhausted' : 'attempt_failed';
  return {
    lease,
    attemptedAt,
    endedAt,
    latencyMs,
    ...logged,
    status: deliveryMove('pending', trigger).to,
    nextAttemptAt: next,
  };
}

async function send(
  engine: Engine,
  lease: DeliveryLease,
  at: Date,
  headers: Readonly<Record<string, string>> = {},
): Promise<LoggedAnswer> {
  try {
    const { eventId } = lease;
    const whole = lease.body ?? (await bodyOf(engine.db, eventId));
    const body = lease.isRedacted ? engine.redact(whole) : whole;
    const timestampSeconds = unixSeconds(at);
    const keys = signingKeys(engine, lease, at);
    const answer = await engine.post(lease.webhookUrl, {
      headers: {
        ...headers,
        ...plainHeaders(eventId, timestampSeconds),
        ...signWebhook({ eventId, timestampSeconds, body, keys }),
      },
      body,
      timeoutMs: engine.settings.attemptTimeoutMs,
    });
    if ('failure' in answer) return unanswered(answer.failure);
    return {
      httpStatus: answer.status,
      error: statusError(answer.status),
      responseBody: loggedBody(answer.bodyText),
      retryAfter: answer.retryAfter,
    };
  } catch (error) {
    engine.log.error('webhooks.attempt_broken', error, { deliveryId: lease.deliveryId });
    return unanswered('internal error');
  }
}

function unanswered(error: string): LoggedAnswer {
  return { httpStatus: undefined, error, responseBody: '', retryAfter: undefined };
}

async function bodyOf(db: Database, eventId: string): Promise<string> {
  const [row] = await db.query(bodyOfEvent, { eventId });
  // Housekeeping does not remove events with pending deliveries.
  if (row === undefined) throw new Error(`a leased delivery has no event ${eventId}`);
  return row.body;
}

function signingKeys(engine: Engine, lease: DeliveryLease, at: Date): KeyObject[] {
  const keys = [openKey(engine, lease.sealedKey, lease.webhookId)];
  const previous = lease.previousKey;
  if (previous !== undefined && at < previous.until)
    keys.push(openKey(engine, previous.sealed, lease.webhookId));
  return keys;
}

/** Cached, because decrypting a key costs as much as signing with it. */
function openKey({ openKeys, secrets }: Engine, sealed: Uint8Array, webhookId: string): KeyObject {
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

/** The first 4 KiB, without NUL, which PostgreSQL cannot store as text. */
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
