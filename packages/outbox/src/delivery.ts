import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Database } from '@florin/pg';
import { type Clock, unixSeconds } from './context.ts';
import { deliveryMove } from './delivery.machine.ts';
import { bodyOfEvent, maxClaims } from './delivery.sql.ts';
import { type AttemptResult, type Claim, takeTurn } from './delivery-turn.ts';
import { type Lanes, makeLanes } from './lane.ts';
import { nextAttemptAt } from './retry.ts';
import { plainHeaders, signWebhook } from './signature.ts';
import type { OutboxWorker } from './worker.ts';

/** Bytes of an answer that the log keeps. */
const maxLoggedBytes = 4096;
const restAfterFailureMs = 1000;
/** Signing keys that are kept open; past that they are opened afresh. */
const maxOpenKeys = 1024;

interface Engine extends OutboxWorker {
  readonly signal: AbortSignal;
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
export async function runDeliveries(worker: OutboxWorker, signal: AbortSignal): Promise<void> {
  const { settings, clock, db } = worker;
  const doorbell = makeDoorbell(clock);
  const engine: Engine = {
    ...worker,
    signal,
    doorbell,
    lanes: makeLanes(settings),
    openKeys: new Map(),
    results: [],
    attempts: new Set(),
  };
  signal.addEventListener('abort', doorbell.ring, { once: true });
  db.listen('florin_deliveries', doorbell.ring, signal);
  while (!signal.aborted) {
    const isDone = await turnOrRest(engine);
    if (isDone && !signal.aborted) await doorbell.wait(settings.pollMs);
  }
  signal.removeEventListener('abort', doorbell.ring);
  const drained = new AbortController();
  const attempts = Promise.all(engine.attempts).then(() => drained.abort());
  await Promise.race([attempts, clock.sleep(settings.drainMs, drained.signal)]);
  while (engine.results.length > 0 && (await turnOrRest(engine))) {
    // Each turn writes down some of what is left; a database that fails now leaves the rest to their leases.
  }
}

/** Takes a turn; false when the database failed, after a rest. */
async function turnOrRest(engine: Engine): Promise<boolean> {
  try {
    await turn(engine);
    return true;
  } catch (error) {
    engine.log.error('webhooks.turn_failed', error);
    await engine.clock.sleep(restAfterFailureMs, engine.signal);
    return false;
  }
}

async function turn(engine: Engine): Promise<void> {
  const { settings } = engine;
  const results = engine.results.slice(0, maxClaims);
  const free = settings.concurrency - engine.attempts.size - engine.results.length;
  const total = engine.signal.aborted ? 0 : Math.min(maxClaims, free);
  const { claims, isMoreDue } = await takeTurn(engine, results, {
    leaseMs: settings.leaseMs,
    total,
    perWebhook: settings.perWebhook.start,
    perOwner: settings.perOwner,
    free: engine.lanes.free(),
  });
  engine.results.splice(0, results.length);
  for (const claim of claims) start(engine, claim);
  // More may be due than this turn could look at. What is left for lack of room is found when attempts end.
  if (isMoreDue || engine.results.length > 0) engine.doorbell.ring();
}

function start(engine: Engine, claim: Claim): void {
  const { lanes, settings, attempts, doorbell, clock } = engine;
  // A machine that was paused may come back when another one has sent this, and what follows it.
  if (claim.claimedUntil <= clock.now()) {
    doorbell.ring();
    return;
  }
  lanes.begin(claim);
  const work = attempt(engine, claim).then((result) => {
    const isCrowded = attempts.size > settings.concurrency / 2;
    attempts.delete(work);
    engine.results.push(result);
    lanes.end(claim, {
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

/** Sends once. Never rejects: whatever goes wrong is an attempt that failed. */
async function attempt(engine: Engine, claim: Claim): Promise<AttemptResult> {
  const { clock, random, settings } = engine;
  const attemptedAt = clock.now();
  const startedMs = clock.monotonicMs();
  const answer = await send(engine, claim, attemptedAt);
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

async function send(engine: Engine, claim: Claim, at: Date): Promise<LoggedAnswer> {
  try {
    const { eventId } = claim;
    const body = claim.body ?? (await bodyOf(engine.db, eventId));
    const timestampSeconds = unixSeconds(at);
    const keys = signingKeys(engine, claim, at);
    const answer = await engine.post(claim.webhookUrl, {
      headers: {
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
    engine.log.error('webhooks.attempt_broken', error, { deliveryId: claim.deliveryId });
    return unanswered('internal error');
  }
}

function unanswered(error: string): LoggedAnswer {
  return { httpStatus: undefined, error, responseBody: '', retryAfter: undefined };
}

async function bodyOf(db: Database, eventId: string): Promise<string> {
  const [row] = await db.query(bodyOfEvent, { eventId });
  // Housekeeping leaves events that are still to be delivered alone.
  if (row === undefined) throw new Error(`the event ${eventId} of a claimed delivery has vanished`);
  return row.body;
}

function signingKeys(engine: Engine, claim: Claim, at: Date): KeyObject[] {
  const keys = [openKey(engine, claim.sealedKey, claim.webhookId)];
  const previous = claim.previousKey;
  if (previous !== undefined && at < previous.until)
    keys.push(openKey(engine, previous.sealed, claim.webhookId));
  return keys;
}

/** Opening a key and making an HMAC key of it costs as much as signing with it. */
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
