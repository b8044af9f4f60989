import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';

/** How many requests with a payment one process handles at one time; each may wait for a block. */
export interface WaitingLimits {
  /** From one client network. */
  readonly perNetwork: number;
  readonly inAll: number;
}

export const defaultWaitingLimits: WaitingLimits = { perNetwork: 16, inAll: 256 };

/** Seconds after which a place is likely to be free: about the time of a block. */
const retryAfterSeconds = 5;

/**
 * Gives places to requests, each with a function that gives the place back. Refuses a request of a network that has all its
 * places taken (900101), and any request when all places are taken (900201). Nothing was done for it then.
 */
export function waitingPlaces(limits: WaitingLimits): (network: string) => () => void {
  const taken = new Map<string, number>();
  let all = 0;
  const change = (network: string, by: number) => {
    const count = (taken.get(network) ?? 0) + by;
    all += by;
    if (count === 0) taken.delete(network);
    else taken.set(network, count);
  };
  return (network) => {
    if ((taken.get(network) ?? 0) >= limits.perNetwork) {
      const detail = `at most ${limits.perNetwork} payments of one address at one time, try again later`;
      throw new Refusal('rate_limited', { detail, retryAfterSeconds });
    }
    if (all >= limits.inAll) {
      const detail = 'too many payments at one time, try again later';
      throw new Refusal('create_failed', { detail, retryAfterSeconds });
    }
    change(network, 1);
    let isHeld = true;
    return () => {
      if (isHeld) change(network, -1);
      isHeld = false;
    };
  };
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
