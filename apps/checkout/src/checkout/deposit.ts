import { api } from './api.ts';
import { beginSession, chosenOption, readEmail } from './begin.ts';
import type { DepositView } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';
import { problemOf } from './problem.ts';
import { addressPattern, pause } from './wallet.ts';

/**
 * Prepares the order for a transfer from elsewhere, and shows its address. Money that does not pay goes to the given
 * refund address.
 */
export async function showDeposit(page: Page): Promise<void> {
  const { texts } = page.model.data;
  const input = document.getElementById('refund-input');
  const refund = input instanceof HTMLInputElement ? input.value.trim() : '';
  try {
    const email = readEmail(page.model);
    if (!addressPattern.test(refund)) {
      input?.focus();
      throw new ExplainedFailure(texts.refundWrong, 'refund-input');
    }
    page.change({ step: texts.stepSession, problem: '' });
    await beginSession(page);
    const option = chosenOption(page.model);
    const sessionId = page.model.data.state?.sessionId ?? '';
    const body = { sessionId, payer: refund, tokenId: option.tokenId, payerEmail: email };
    const { clientCode, data } = page.model;
    const { deposit, amountInToken } = await api.prepare(body, { clientCode, locale: data.locale });
    if (deposit === undefined) throw new ExplainedFailure(texts.noRoute);
    const shown = { ...deposit, amountInToken, tokenId: option.tokenId };
    sessionStorage.setItem(depositKey(page), JSON.stringify(shown));
    localStorage.setItem(refundKey, refund);
    openDeposit(page, shown);
  } catch (error) {
    page.change({ step: '', ...problemOf(page.model, error) });
  }
}

const refundKey = 'florin-refund';

/** The refund address that was given last in this browser; empty: none. */
export function recallRefund(): string {
  const kept = localStorage.getItem(refundKey) ?? '';
  return addressPattern.test(kept) ? kept : '';
}

/** A tab's stored deposit. It stays in this tab, because the refund address is this payer's own. */
type KeptDeposit = Omit<DepositView, 'option' | 'arrived'> & { readonly tokenId: string };
const depositKey = (page: Page) => `florin-deposit-${page.model.data.state?.sessionId ?? ''}`;

function openDeposit(page: Page, { tokenId, ...kept }: KeptDeposit): void {
  const option = page.model.data.options.find((each) => each.tokenId === tokenId);
  if (option === undefined) return;
  page.change({ step: '', chosen: tokenId, deposit: { ...kept, option, arrived: '0' } });
  void watchDeposit(page, kept.address);
}

/** Shows the tab's deposit address again after a reload. */
export function recallDeposit(page: Page): void {
  const kept = JSON.parse(sessionStorage.getItem(depositKey(page)) ?? 'null') as KeptDeposit | null;
  if (kept !== null && page.model.data.state?.isPayable === true) openDeposit(page, kept);
}

/** Hides the deposit address: the payer wants to pay another way. */
export function hideDeposit(page: Page): void {
  sessionStorage.removeItem(depositKey(page));
  page.change({ deposit: undefined });
}

const depositPauseMs = 4_000;

/** Polls the arrived amount, so that a payer who sent too little can send the rest in time. */
async function watchDeposit(page: Page, address: string): Promise<void> {
  for (;;) {
    const { deposit, data } = page.model;
    if (deposit?.address !== address || data.state?.isPayable !== true) return;
    try {
      const { balances } = await api.balances(address, [deposit.option.tokenId]);
      const arrived = balances[0]?.amount ?? deposit.arrived;
      if (arrived !== deposit.arrived) page.change({ deposit: { ...deposit, arrived } });
    } catch {
      // Only informs the payer: the server detects the payment itself.
    }
    await pause(depositPauseMs);
  }
}
