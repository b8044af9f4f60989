import { hashText } from './seeded-random.ts';

/** The owner of events. Events of a dead owner never happen; those of a paused owner happen late. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  /** Virtual time until which the owner's events wait. */
  pausedUntilMs: number;
}

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner;
  readonly label: string;
  readonly action: () => void | Promise<void>;
}

/** Receives one line of the trace when a history is printed in full. */
export type PrintLine = (line: string) => void;

/**
 * Virtual time. Every action of the simulated world is an event at a time. The earliest event happens alone. The next
 * one follows once all code that it triggered has run. So the same seed gives the same history.
 */
export class Scheduler {
  nowMs = 0;
  /** Events that have happened. */
  eventCount = 0;
  /** A hash over all events, in order. */
  traceHash = 0x811c9dc5;
  readonly #heap: Scheduled[] = [];
  readonly #print: PrintLine | undefined;
  #order = 0;

  constructor(print?: PrintLine) {
    this.#print = print;
  }

  /** Schedules an event after a delay. */
  after(ms: number, owner: Owner, label: string, action: () => void | Promise<void>): void {
    this.#order += 1;
    push(this.#heap, { atMs: this.nowMs + Math.max(0, ms), order: this.#order, owner, label, action });
  }

  /** Waits like an actor of the world, outside of any process. */
  sleep(ms: number, owner: Owner): Promise<void> {
    return new Promise((resolve) => this.after(ms, owner, 'sleep', resolve));
  }

  /** Adds a text to the trace, besides the events themselves. */
  trace(text: string): void {
    this.traceHash = hashText(text, this.traceHash);
    this.#print?.(`${(this.nowMs / 1000).toFixed(3).padStart(9)} ${text}`);
  }

  /** Prints a text that is not part of the trace. */
  print(text: string): void {
    this.#print?.(`          ${text}`);
  }

  /** Advances time at once, like suspended machines: events that were due meanwhile happen late. */
  advance(ms: number): void {
    this.nowMs += ms;
  }

  /** Runs events until `isOver` returns true or no event is left. */
  async run(isOver: () => boolean): Promise<void> {
    await untilIdle();
    while (!isOver()) {
      const event = pop(this.#heap);
      if (event === undefined) return;
      if (!event.owner.isAlive) continue;
      this.nowMs = Math.max(this.nowMs, event.atMs);
      if (event.owner.pausedUntilMs > this.nowMs) {
        push(this.#heap, { ...event, atMs: event.owner.pausedUntilMs });
        continue;
      }
      this.eventCount += 1;
      this.trace(`${event.owner.name} ${event.label}`);
      await event.action();
      await untilIdle();
    }
  }

  /** Drops all pending events. */
  clear(): void {
    this.#heap.length = 0;
  }
}

/**
 * Resolves when the running code waits only for the simulated world. A tick runs when no promise has work left. Group
 * commits wait for a turn of the event loop, which costs six times as much.
 */
async function untilIdle(): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (!process.getActiveResourcesInfo().includes('Immediate')) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isEarlier(first: Scheduled, second: Scheduled): boolean {
  return first.atMs < second.atMs || (first.atMs === second.atMs && first.order < second.order);
}

function push(heap: Scheduled[], event: Scheduled): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const parentEvent = heap[parent];
    if (parentEvent === undefined || !isEarlier(event, parentEvent)) break;
    heap[index] = parentEvent;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Scheduled[]): Scheduled | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && isEarlier(right, left)) child += 1;
    const smaller = heap[child];
    if (smaller === undefined || !isEarlier(smaller, last)) break;
    heap[index] = smaller;
    index = child;
  }
  heap[index] = last;
  return first;
}
