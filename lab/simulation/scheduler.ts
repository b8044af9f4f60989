import { hashText } from './seeded-random.ts';

/** Who an event belongs to. The event of one that is dead never happens; that of one that is paused happens late. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  /** Virtual time until which nothing of the owner happens. */
  pausedUntilMs: number;
}

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner;
  readonly label: string;
  readonly happen: () => void | Promise<void>;
}

/** One line of the trace that is kept when a history is told in full. */
export type Teller = (line: string) => void;

/**
 * Virtual time. Everything that the simulated world does is an event at a time; the earliest happens, alone, until
 * nothing that it has set off is left to run, and only then the next one. So the same seed gives the same history.
 */
export class Scheduler {
  nowMs = 0;
  /** Events that have happened. */
  eventCount = 0;
  /** A hash over all that has happened, in order. */
  traceHash = 0x811c9dc5;
  readonly #heap: Scheduled[] = [];
  readonly #tell: Teller | undefined;
  #order = 0;

  constructor(tell?: Teller) {
    this.#tell = tell;
  }

  /** Has something happen after a time. */
  after(ms: number, owner: Owner, label: string, happen: () => void | Promise<void>): void {
    this.#order += 1;
    push(this.#heap, { atMs: this.nowMs + Math.max(0, ms), order: this.#order, owner, label, happen });
  }

  /** Waits as an actor of the world does, outside of any process. */
  sleep(ms: number, owner: Owner): Promise<void> {
    return new Promise((resolve) => this.after(ms, owner, 'sleep', resolve));
  }

  /** Puts something into the trace besides the events themselves. */
  note(text: string): void {
    this.traceHash = hashText(text, this.traceHash);
    this.#tell?.(`${(this.nowMs / 1000).toFixed(3).padStart(9)} ${text}`);
  }

  /** Tells something that is no part of the trace. */
  tell(text: string): void {
    this.#tell?.(`          ${text}`);
  }

  /** Lets time pass at once, as when machines are suspended: what was due meanwhile happens late. */
  jump(ms: number): void {
    this.nowMs += ms;
  }

  /** Runs events until `isOver` says so or none is left. */
  async run(isOver: () => boolean): Promise<void> {
    await settled();
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
      this.note(`${event.owner.name} ${event.label}`);
      await event.happen();
      await settled();
    }
  }

  /** Forgets what is still to come. */
  clear(): void {
    this.#heap.length = 0;
  }
}

/**
 * Resolves when the running code waits for the simulated world and for nothing else: ticks come when no promise has anything
 * left to do, and group commits wait for a turn of the event loop, which costs six times as much.
 */
async function settled(): Promise<void> {
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
    const above = heap[parent];
    if (above === undefined || !isEarlier(event, above)) break;
    heap[index] = above;
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
