import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';

/** How many requests with a payment one process handles at a time. Each may wait for a block. */
export interface WaitingLimits {
  /** From one client network. */
  readonly perNetwork: number;
  /** With one payment, from all networks. */
  readonly perPayment: number;
  /** Payments, regardless of how many requests ask for each. */
  readonly inAll: number;
}

export const defaultWaitingLimits: WaitingLimits = { perNetwork: 16, perPayment: 16, inAll: 256 };

/** Seconds after which a slot is likely to be free: about the time of a block. */
const retryAfterSeconds = 5;

/** The client network of a request, and the payment that it carries. */
export interface IncomingPayment {
  readonly network: string;
  /** The same for all requests with one signed payment. */
  readonly payment: string;
}

/**
 * Gives slots to requests, and to each a function that frees its slot. Requests with one payment share one slot, so
 * that repeats of one payment leave the others theirs. Refuses a request whose network or payment has the most requests
 * allowed (900101), and a new payment when all slots are taken (900201). A refused request has no effect.
 */
export function requestSlots(limits: WaitingLimits): (incoming: IncomingPayment) => () => void {
  const networks = new Map<string, number>();
  const payments = new Map<string, number>();
  return ({ network, payment }) => {
    const [ofNetwork, ofPayment] = [networks.get(network) ?? 0, payments.get(payment) ?? 0];
    if (ofNetwork >= limits.perNetwork) {
      const detail = `at most ${limits.perNetwork} payments of one address at one time, try again later`;
      throw new Refusal('rate_limited', { detail, retryAfterSeconds });
    }
    if (ofPayment >= limits.perPayment) {
      const detail = `at most ${limits.perPayment} requests with one payment at one time, try again later`;
      throw new Refusal('rate_limited', { detail, retryAfterSeconds });
    }
    if (ofPayment === 0 && payments.size >= limits.inAll) {
      const detail = 'too many payments at one time, try again later';
      throw new Refusal('create_failed', { detail, retryAfterSeconds });
    }
    networks.set(network, ofNetwork + 1);
    payments.set(payment, ofPayment + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      lessen(networks, network);
      lessen(payments, payment);
    };
  };
}

function lessen(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 0) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** Time between two reads of all payments that requests wait for, in milliseconds. */
const readIntervalMs = 200;

/**
 * Reads values by id for many waiting requests: the next read answers all of them in one round trip. A hundred waiting
 * requests cost the database as much as one.
 */
export function sharedReads<Found>(
  clock: Pick<Clock, 'sleep'>,
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (id: string) => Promise<Found | undefined> {
  let next: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, Found>> } | undefined;
  const begin = () => {
    const ids = new Set<string>();
    const found = (async () => {
      await clock.sleep(readIntervalMs);
      next = undefined;
      return read([...ids]);
    })();
    next = { ids, found };
    return next;
  };
  return async (id) => {
    const read = next ?? begin();
    read.ids.add(id);
    return (await read.found).get(id);
  };
}
