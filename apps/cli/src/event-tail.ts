import { type EventType, isSubscription, subscriptionTakes } from '@florin/protocol/event.ts';
import type { CommandContext, Options } from './command.ts';
import { UsageError } from './command-error.ts';
import { type MerchantClient, UnreachableError } from './merchant-client.ts';

/** An event of the list, and its exact text. */
export interface TailedEvent {
  readonly id: string;
  readonly type: EventType;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

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

/**
 * Passes on events in order, one at a time, until the signal aborts; only those after the event `from` when it is
 * given. Reports when the API is unavailable, and continues when it is back.
 */
export async function tailEvents(
  client: MerchantClient,
  outside: CommandContext,
  tail: {
    readonly subscriptions: readonly string[];
    readonly from: string | undefined;
    readonly signal: AbortSignal;
    readonly handle: (event: TailedEvent) => Promise<void>;
  },
): Promise<void> {
  const { clock } = outside;
  const { signal, subscriptions } = tail;
  const seen = new Set<string>();
  let cursor = tail.from;
  if (cursor === undefined) {
    const newest = await page(client, undefined);
    for (const event of newest) seen.add(event.id);
    cursor = settled(newest.toReversed(), undefined, clock.now());
  }
  let isAway = false;
  while (!signal.aborted) {
    let events: readonly TailedEvent[];
    try {
      const found = await page(client, cursor);
      events = cursor === undefined ? found.toReversed() : found;
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
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
      if (subscriptions.some((entry) => subscriptionTakes(entry, event.type))) await tail.handle(event);
    }
    // A full page of known events would hide those after it.
    cursor =
      fresh.length === 0 && events.length >= pageSize
        ? events.at(-1)?.id
        : settled(events, cursor, clock.now());
    if (fresh.length === 0) await clock.sleep(pollMs, signal);
  }
}

/** Oldest first after a cursor, newest first without one. */
async function page(client: MerchantClient, after: string | undefined): Promise<readonly TailedEvent[]> {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  const data = await client.get(`/event/list/1/${pageSize}${query}`);
  return (data as { events: TailedEvent[] }).events;
}

/** The last of these events that is old enough, so that no new event can precede it. */
function settled(
  oldestFirst: readonly TailedEvent[],
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

/** The id of an event's subject, for people. */
export function subjectOf(event: TailedEvent): string {
  for (const [kind, value] of Object.entries(event.data)) {
    if (typeof value !== 'object' || value === null) continue;
    const id = (value as Record<string, unknown>)[`${kind}Id`];
    if (kind !== 'exception' && typeof id === 'string') return id;
  }
  return event.id;
}
