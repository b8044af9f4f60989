import { eventTypes, type Florin, FlorinError, type FlorinEvent } from '@florin/sdk';
import type { CliOutside, Options } from './command.ts';
import { UsageError } from './command-error.ts';

const pollMs = 700;
const pageSize = 100;
const restMs = 2_000;
/**
 * The distance of the cursor: while their transactions run, concurrent events may be listed in another order than
 * their numbers.
 */
const overlapMs = 10_000;
const maxSeen = 10_000;

/** The names and patterns of `--events`, separated by commas; all events when absent. */
export function subscriptionsOf(options: Options): readonly string[] {
  const entries = (options.optional('events') ?? '*').split(',').map((entry) => entry.trim());
  const unknown = entries.find((entry) => !isSubscription(entry));
  if (unknown !== undefined)
    throw new UsageError(`--events has ${unknown}: which is neither an event type nor a pattern`);
  return entries;
}

function isSubscription(entry: string): boolean {
  return (
    entry === '*' || (/\.(\*|[a-z_]+)$/.test(entry) && eventTypes.some((type) => isTakenBy(entry, type)))
  );
}

/** Whether a name or a pattern such as `session.*` takes a type. */
function isTakenBy(subscription: string, type: string): boolean {
  return subscription.endsWith('*') ? type.startsWith(subscription.slice(0, -1)) : type === subscription;
}

/**
 * Passes on events in order, one at a time, until the signal aborts; only those after the event `from` when it is
 * given. Reports when the API is unavailable, and continues when it is back.
 */
export async function tailEvents(florin: Florin, outside: TailOutside, tail: Tail): Promise<void> {
  try {
    await passOn(florin, outside, tail);
  } catch (error) {
    // What was being read when the person ended it.
    if (!tail.signal.aborted) throw error;
  }
}

type TailOutside = Pick<CliOutside, 'clock' | 'tell'>;

interface Tail {
  readonly subscriptions: readonly string[];
  readonly from: string | undefined;
  readonly signal: AbortSignal;
  readonly handle: (event: FlorinEvent) => Promise<void>;
}

async function passOn(florin: Florin, outside: TailOutside, tail: Tail): Promise<void> {
  const { clock } = outside;
  const { signal, subscriptions } = tail;
  const seen = new Set<string>();
  let cursor = tail.from;
  if (cursor === undefined) {
    const newest = await page(florin, undefined, signal);
    for (const event of newest) seen.add(event.id);
    cursor = settled(newest.toReversed(), undefined, clock.now());
  }
  let isAway = false;
  while (!signal.aborted) {
    let events: readonly FlorinEvent[];
    try {
      const found = await page(florin, cursor, signal);
      events = cursor === undefined ? found.toReversed() : found;
    } catch (error) {
      if (!(error instanceof FlorinError) || !error.retryable) throw error;
      if (!isAway) outside.tell(`${error.message}; trying again`);
      isAway = true;
      await clock.sleep(restMs, signal);
      continue;
    }
    if (isAway) outside.tell('connected again');
    isAway = false;
    const fresh = events.filter((event) => !seen.has(event.id));
    for (const event of fresh) {
      if (signal.aborted) return;
      remember(seen, event.id);
      if (subscriptions.some((entry) => isTakenBy(entry, typeOf(event)))) await tail.handle(event);
    }
    // A full page of known events would hide those after it.
    cursor =
      fresh.length === 0 && events.length >= pageSize
        ? events.at(-1)?.id
        : settled(events, cursor, clock.now());
    if (fresh.length === 0) await clock.sleep(pollMs, signal);
  }
}

/** Oldest first after a cursor, newest first without one. The loop retries by itself. */
async function page(
  florin: Florin,
  after: string | undefined,
  signal: AbortSignal,
): Promise<readonly FlorinEvent[]> {
  const { items } = await florin.events.list({ after, size: pageSize }, { signal, maxRetries: 0 }).page();
  return items;
}

/** The last of these events that is old enough, so that no new event can precede it. */
function settled(
  oldestFirst: readonly FlorinEvent[],
  cursor: string | undefined,
  now: Date,
): string | undefined {
  const edge = now.getTime() - overlapMs;
  return oldestFirst.findLast((event) => Date.parse(event.timestamp) < edge)?.id ?? cursor;
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > maxSeen && oldest !== undefined) seen.delete(oldest);
}

/** The type as the service names it, also where this program is older than the type. */
export function typeOf(event: FlorinEvent): string {
  return event.type === 'unknown' ? event.unknownType : event.type;
}

/** The id of an event's subject, for people. */
export function subjectOf(event: FlorinEvent): string {
  for (const [kind, value] of Object.entries(Object(event.data) as object)) {
    if (typeof value !== 'object' || value === null) continue;
    const id = (value as Readonly<Record<string, unknown>>)[`${kind}Id`];
    if (kind !== 'exception' && typeof id === 'string') return id;
  }
  return event.id;
}
