import { fill } from './format.ts';
import { isMade } from './model.ts';
import type { Page } from './page.ts';

/** A payment is in a block, or at the server, long before this. */
const sentMs = 120_000;
const sentKey = (page: Page) => `florin-sent-${page.model.data.state?.sessionId ?? ''}`;

interface Sent {
  readonly at: number;
  readonly network: string;
}

/** Shows that the payment has left the wallet; for this tab after it was loaded again, too, so that it offers no second one. */
export function markSent(page: Page, network: string): void {
  const sent: Sent = { at: Date.now(), network };
  sessionStorage.setItem(sentKey(page), JSON.stringify(sent));
  showSent(page, sent);
}

/** The payment is known not to have been made. */
export function forgetSent(page: Page): void {
  sessionStorage.removeItem(sentKey(page));
  page.change({ isSent: false });
}

/** Goes on waiting for a payment that this tab sent a moment ago. */
export function recallSent(page: Page): void {
  const kept = JSON.parse(sessionStorage.getItem(sentKey(page)) ?? 'null') as Sent | null;
  if (kept !== null && kept.at + sentMs > Date.now() && page.model.data.state?.isPayable === true)
    showSent(page, kept);
}

function showSent(page: Page, { at, network }: Sent): void {
  const { texts, state } = page.model.data;
  // The server may show the payment before the wallet answers: then there is nothing to wait for.
  if (state !== undefined && isMade(state)) {
    page.change({ step: '', problem: '', isSent: true });
    return;
  }
  page.change({ step: fill(texts.stepSent, { network }), problem: '', isSent: true });
  setTimeout(
    () => {
      // Long enough: it may never come. Whoever pays again is told to look first.
      if (page.model.data.state?.isPayable !== true || !page.model.isSent) return;
      forgetSent(page);
      page.change({ step: '', problem: fill(texts.unseen, { network }) });
    },
    at + sentMs - Date.now(),
  );
}
