import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { findSessionStates } from '#sessions/session.ts';
import { streamLimits } from '../rate-limit.ts';
import type { CheckoutContext } from './context.ts';
import { findSessionFacts } from './session-facts.ts';
import { checkoutState } from './state.ts';

/** How often the sessions of open pages are read: all together, in at most six statements. */
const readIntervalMs = 700;

export interface ProgressFeed {
  /** Calls back at once and after each change, until it is ended; undefined when there are too many subscribers. */
  subscribe(
    place: { readonly sessionId: string; readonly network: string },
    listener: (state: CheckoutState) => void,
  ): (() => void) | undefined;
}

interface Listener {
  readonly tell: (state: CheckoutState) => void;
  lastText: string;
}

/** Reads the sessions of open pages, and notifies each page of changes. Pauses while no page is open. */
export function progressFeed(deps: CheckoutContext, signal: AbortSignal): ProgressFeed {
  const listeners = new Map<string, Set<Listener>>();
  let count = 0;
  const ofNetworks = new Map<string, number>();
  let isLooking = false;
  const look = async () => {
    const sessionIds = [...listeners.keys()];
    const sessions = await findSessionStates(deps.db, sessionIds);
    const facts = await findSessionFacts(deps, [...sessions.values()]);
    for (const [sessionId, session] of sessions) {
      const state = await checkoutState(deps, session, facts(session));
      const text = JSON.stringify(state);
      for (const listener of listeners.get(sessionId) ?? []) {
        if (listener.lastText === text) continue;
        listener.lastText = text;
        listener.tell(state);
      }
    }
  };
  const keepLooking = async () => {
    isLooking = true;
    while (listeners.size > 0 && !signal.aborted) {
      try {
        await look();
      } catch (error) {
        // The pages keep their state until the database is back.
        deps.log.warn('checkout.progress_unknown', {
          message: error instanceof Error ? error.message : String(error),
        });
      }
      await deps.clock.sleep(readIntervalMs, signal);
    }
    isLooking = false;
  };
  return {
    subscribe({ sessionId, network }, tell) {
      const ofNetwork = ofNetworks.get(network) ?? 0;
      if (count >= streamLimits.inAll || ofNetwork >= streamLimits.ofNetwork) return undefined;
      count += 1;
      ofNetworks.set(network, ofNetwork + 1);
      const listener: Listener = { tell, lastText: '' };
      const known = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, known.add(listener));
      if (!isLooking) void keepLooking();
      return () => {
        if (!known.delete(listener)) return;
        count -= 1;
        const left = (ofNetworks.get(network) ?? 0) - 1;
        if (left > 0) ofNetworks.set(network, left);
        else ofNetworks.delete(network);
        if (known.size === 0) listeners.delete(sessionId);
      };
    },
  };
}
