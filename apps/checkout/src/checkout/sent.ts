import { fill } from './format.ts';
import { isMade } from './model.ts';
import type { Page } from './page.ts';
import { stages } from './stages.ts';

/** By this time a block or the server has the payment. */
const sentMs = 120_000;
/** A payment that no block has by then may have been replaced or cancelled in the wallet. */
const soonMs = 30_000;
const sentKey = (page: Page) => `florin-sent-${page.model.data.state?.sessionId ?? ''}`;

interface Sent {
  readonly at: number;
  readonly network: string;
}

/** Shows that the payment left the wallet. The tab keeps this over a reload, so that it offers no second payment. */
export function markSent(page: Page, network: string): void {
  const sent: Sent = { at: Date.now(), network };
  sessionStorage.setItem(sentKey(page), JSON.stringify(sent));
  showSent(page, sent);
}

/** Clears the sent mark: the payment is known to have failed. */
export function forgetSent(page: Page): void {
  sessionStorage.removeItem(sentKey(page));
  page.change({ isSent: false });
}

/** Continues to wait for a payment that this tab sent a moment ago. */
export function recallSent(page: Page): void {
  const kept = JSON.parse(sessionStorage.getItem(sentKey(page)) ?? 'null') as Sent | null;
  if (kept !== null && kept.at + sentMs > Date.now() && page.model.data.state?.isPayable === true)
    showSent(page, kept);
}

function showSent(page: Page, { at, network }: Sent): void {
  const { texts, state } = page.model.data;
  // The server may show the payment before the wallet answers: then the wait is over.
  if (isMade(state)) {
    page.change({ step: '', problem: '', isSent: true });
    return;
  }
  page.change({
    step: fill(texts.stepSent, { network }),
    problem: '',
    isSent: true,
    // Only the wallet says so: Pay is done once a block or the server has it.
    stage: stages.pay,
  });
  const after = (ms: number, tell: () => void) =>
    setTimeout(
      () => page.model.data.state?.isPayable === true && page.model.isSent && tell(),
      at + ms - Date.now(),
    );
  after(soonMs, () => {
    // The service has what it sends itself, and says when that failed.
    if (page.model.stage === stages.pay) page.change({ step: fill(texts.stepUnseen, { network }) });
  });
  // Waited long enough, because it may never arrive. A payer who pays again is told to check first.
  after(sentMs, () => {
    forgetSent(page);
    page.change({ step: '', problem: fill(texts.unseen, { network }) });
  });
}
