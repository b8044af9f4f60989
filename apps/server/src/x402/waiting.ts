import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';

/** How many requests with a payment one process handles at one time; each may wait for a block. */
export interface WaitingLimits {
  /** From one client network. */
  readonly perNetwork: number;
  /** With one payment, from wherever they come. */
  readonly perPayment: number;
  /** Payments, however many requests ask for each. */
  readonly inAll: number;
}

export const defaultWaitingLimits: WaitingLimits = { perNetwork: 16, perPayment: 16, inAll: 256 };

/** Seconds after which a place is likely to be free: about the time of a block. */
const retryAfterSeconds = 5;

/** The client network of a request, and the payment that it carries. */
export interface Arriving {
  readonly network: string;
  /** The same for all requests with one signed payment. */
  readonly payment: string;
}

/**
 * Gives places to requests, each with a function that gives the place back. Requests with one payment share one place, so
 * that asking again and again for one payment leaves the others theirs. Refuses a request of a network or with a payment that
 * has as many requests as may be (900101), and a further payment when all places are taken (900201). Nothing was done for it
 * then.
 */
export function waitingPlaces(limits: WaitingLimits): (arriving: Arriving) => () => void {
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

/** Time between two looks at all payments that requests wait for, in milliseconds. */
const lookMs = 200;

/**
 * Looks things up by id for many waiting requests: whoever asks is answered by the next look, which is one round trip for
 * all of them. So a hundred requests that wait cost the database what one costs.
 */
export function sharedLooks<Found>(
  clock: Pick<Clock, 'sleep'>,
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (id: string) => Promise<Found | undefined> {
  let next: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, Found>> } | undefined;
  const begin = () => {
    const ids = new Set<string>();
    const found = (async () => {
      await clock.sleep(lookMs);
      next = undefined;
      return read([...ids]);
    })();
    next = { ids, found };
    return next;
  };
  return async (id) => {
    const look = next ?? begin();
    look.ids.add(id);
    return (await look.found).get(id);
  };
}
