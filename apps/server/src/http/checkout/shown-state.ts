import { type Language, type PageData, statusView, wireTree, wordsOf } from '@florin/checkout';
import type { CheckoutState, ShownState } from '@florin/protocol/checkout-state.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';
import { type SessionPage, sessionPageData } from './page-data.ts';
import { withOwnDeposit } from './state.ts';

/** The reader of a page. */
export interface StateReader {
  readonly language: Language;
  readonly timeZone: string;
  /** The order whose deposit address the page shows instead of the session's. */
  readonly order?: string | undefined;
}

/** The given time zone where this process knows it, else UTC. */
export function timeZoneOf(zone: string | undefined): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return 'UTC';
    throw error;
  }
}

/** Reads a session for its page, and what renders its states for one reader. */
export async function openStates(
  deps: CheckoutContext,
  session: StoredSession,
  { language, timeZone, order }: StateReader,
): Promise<{ readonly data: SessionPage; readonly show: (state: CheckoutState) => ShownState }> {
  const front = await findShownMerchant(deps.db, session.merchantId);
  const data = await sessionPageData(deps, { session, front, order }, language);
  const withOwn = await withOwnDeposit(deps, session.sessionId, order);
  const show = (present: CheckoutState) => {
    const state = withOwn(present);
    const now = unixSeconds(deps.clock.now());
    return {
      state,
      view: wireTree(statusView(data, state, { now, timeZone })),
      title: titleOf(data, state, now),
    };
  };
  return { data, show };
}

/** The title of a session's page: browsers show it for pages in the background. */
export function titleOf(data: PageData, state: CheckoutState, now: number): string {
  return `${wordsOf(data, state, now).title} · ${data.title}`;
}
