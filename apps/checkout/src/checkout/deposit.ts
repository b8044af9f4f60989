import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { api } from './api.ts';
import { beginSession, chosenOption, readEmail, wantedOrder, whileBusy } from './begin.ts';
import { fieldOf } from './dom.ts';
import { fill } from './format.ts';
import type { Model } from './model.ts';
import type { Page } from './page.ts';
import { addressPattern } from './wallet.ts';

/**
 * Prepares the order for a transfer from elsewhere, and shows its address. Money that does not pay goes to the given
 * refund address.
 */
export async function showDeposit(page: Page): Promise<void> {
  const { texts } = page.model.data;
  const input = fieldOf('refund-input');
  const refund = input?.value.trim() ?? '';
  await whileBusy(page, async () => {
    const payerEmail = readEmail(page.model);
    const { tokenId } = chosenOption(page.model);
    // Before a session begins, the service refuses what is no address. One wrong character breaks the checksum, and its hash
    // would be a large part of the script.
    await api.balances(refund, [tokenId]);
    await beginSession(page);
    const wanted = wantedOrder(page.model, { payer: refund, tokenId, payerEmail });
    const { orderId } = await api.showDeposit(wanted);
    localStorage.setItem(refundKey, refund);
    // Without the secret the address is for this page alone.
    if (wanted.clientCode === '') keepOwn(page, orderId);
    await page.readState?.();
    page.change({ hidden: '', refund });
  });
  if (page.model.problem === texts.refundWrong) input?.focus();
}

/** Shows the address with a given end again, on all pages of the session: money has arrived at it, and the rest belongs there. */
export async function showDepositAgain(page: Page, end: string): Promise<void> {
  const { clientCode, data, step } = page.model;
  const { sessionId = '' } = data.state ?? {};
  if (step !== '') return;
  await whileBusy(page, async () => {
    // Without the secret it is the session's address, which this page alone has hidden or replaced.
    if (clientCode === '') keepOwn(page, '');
    else await api.changeDeposit('again', { sessionId, end }, clientCode);
    await page.readState?.();
    page.change({ hidden: '' });
  });
}

/** The session, the order and the address's end that this browser showed last, and the end of the one that it lost. */
const shownKey = 'florin-shown';

/**
 * What to tell a payer whose deposit address another device replaced or hid, perhaps while this page was closed: money may be
 * on its way to it. A reload tells it again.
 */
export function changeOf(
  { data, own, hidden, step, shown }: Model,
  { sessionId, shownDeposit, isPayable }: CheckoutState,
): Partial<Model> {
  // An address of this page alone is replaced by no other.
  if (!isPayable || own !== '') return {};
  const [session, ...kept] = (localStorage.getItem(shownKey) ?? '').split(' ');
  const [order = '', end = '', lost = ''] = session === sessionId ? kept : [];
  const { orderId = '', address = '' } = shownDeposit ?? {};
  // Before its own request ends, the page is busy.
  const isNews = !['', hidden, orderId].includes(order) && step === '';
  const gone = isNews ? end : lost;
  if (orderId !== '' || session === sessionId)
    localStorage.setItem(shownKey, [sessionId, orderId, address.slice(-4), gone].join(' '));
  if (gone === '' || (shown !== undefined && !isNews)) return {};
  return { problem: fill(data.texts.wayChanged, { end: gone }) };
}

const refundKey = 'florin-refund';

/** The refund address that was given last in this browser; empty: none. */
export function recallRefund(): string {
  const kept = localStorage.getItem(refundKey) ?? '';
  return addressPattern.test(kept) ? kept : '';
}

const ownKey = (page: Page) => `florin-deposit-${page.model.data.state?.sessionId ?? ''}`;

/** Makes this tab show the deposit address of an order of its own; empty: the session's again. */
function keepOwn(page: Page, own: string): void {
  sessionStorage.setItem(ownKey(page), own);
  page.change({ own });
  page.followSession?.();
}

/** Shows the tab's own deposit address again after a reload. */
export function recallOwn(page: Page): void {
  page.change({ own: sessionStorage.getItem(ownKey(page)) ?? '' });
}

/** Hides the deposit address: the payer wants to pay another way. Only the session's secret hides it everywhere. */
export async function hideDeposit(page: Page): Promise<void> {
  const { clientCode, own, data } = page.model;
  const { sessionId = '', shownDeposit } = data.state ?? {};
  page.change({ hidden: shownDeposit?.orderId ?? '', problem: '' });
  if (own !== '') keepOwn(page, '');
  // A page that cannot say so to the others still shows the other ways itself.
  if (clientCode !== '') await api.changeDeposit('hide', { sessionId }, clientCode).catch(() => undefined);
}
