import { fill } from './format.ts';
import { isMade } from './model.ts';
import type { Page } from './page.ts';
import { stages } from './stages.ts';

/** By this time a block or the server has the payment. */
const sentMs = 120_000;
/** A transaction that no block has by then may have been replaced or cancelled in the wallet. */
export const soonMs = 30_000;
const sentKey = (page: Page) => `florin-sent-${page.model.data.state?.sessionId ?? ''}`;

interface Sent {
  readonly at: number;
  readonly network: string;
  /** The stage of a payment that its payer only signed: Pay until the service has answered. Absent where the wallet sent it. */
  readonly signed?: number | undefined;
  readonly hasAllowed?: boolean | undefined;
}

/** Shows that the payment left the wallet. The tab keeps this over a reload, so that it offers no second payment. */
export function markSent(page: Page, network: string, signed?: number): void {
  const sent: Sent = { at: Date.now(), network, signed, hasAllowed: page.model.hasAllowed };
  sessionStorage.setItem(sentKey(page), JSON.stringify(sent));
  showSent(page, sent);
}

/** Clears the sent mark: the payment is known to have failed. */
export function forgetSent(page: Page): void {
  awaited = undefined;
  sessionStorage.removeItem(sentKey(page));
  page.change({ isSent: false });
}

/** Continues to wait for a payment that this tab sent a moment ago, and to show the stages of one that was made. */
export function recallSent(page: Page): void {
  const kept = JSON.parse(sessionStorage.getItem(sentKey(page)) ?? 'null') as Sent | null;
  const { state } = page.model.data;
  if (kept !== null && (isMade(state) || (kept.at + sentMs > Date.now() && state?.isPayable === true)))
    showSent(page, kept);
}

/** What the page waits for now: words for an earlier one come too late. */
let awaited: Sent | undefined;

function showSent(page: Page, sent: Sent): void {
  awaited = sent;
  const { at, network, signed, hasAllowed } = sent;
  const { texts, state } = page.model.data;
  // The server may show the payment before the wallet answers: then the wait is over.
  if (isMade(state)) {
    page.change({ step: '', problem: '', isSent: true, hasAllowed });
    return;
  }
  const isAnswered = signed === stages.confirm;
  page.change({
    step: fill(isAnswered ? texts.stepService : texts.stepSent, { network }),
    problem: '',
    isSent: true,
    hasAllowed,
    // What only the wallet says ticks nothing: Pay is done once a block or the server has it.
    stage: signed ?? stages.pay,
  });
  const after = (ms: number, tell: () => void) =>
    setTimeout(
      () => page.model.data.state?.isPayable === true && awaited === sent && tell(),
      at + ms - Date.now(),
    );
  if (signed === undefined) after(soonMs, () => page.change({ step: fill(texts.stepUnseen, { network }) }));
  // Waited long enough, because it may never arrive. A payer who pays again is told to check first.
  const problem = isAnswered ? texts.stepService : signed ? texts.cannotCheck : texts.unseen;
  after(sentMs, () => {
    forgetSent(page);
    page.change({ step: '', problem: fill(problem, { network }) });
  });
}
