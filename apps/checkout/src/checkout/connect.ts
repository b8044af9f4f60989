import { api } from './api.ts';
import { nowSeconds } from './clock.ts';
import { fill, shorten } from './format.ts';
import { bestOption, type Model, mayPay } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';
import { problemOf } from './problem.ts';
import { stopWaiting, waitFor } from './prompt.ts';
import { stages } from './stages.ts';
import { accountsOf, addressPattern, chainOf, connect } from './wallet.ts';
import type { Provider, Wallet } from './wallet-type.ts';

/** Connects a wallet, reads its balances, and chooses its best way to pay. */
export async function connectWallet(page: Page, wallet: Wallet): Promise<void> {
  const words = page.model.data.texts.stepConnect;
  page.change({ problem: '' });
  try {
    const payer = await waitFor(page, { words, isFor: 'wallet' }, () => connect(wallet.provider));
    assertIntended(page.model, payer);
    await take(page, wallet, payer);
  } catch (error) {
    page.change({ step: '', ...problemOf(page.model, error) });
  }
}

/** The wallet is the page's from now on, also after a reload of this tab. */
async function take(page: Page, wallet: Wallet, payer: string): Promise<void> {
  sessionStorage.setItem(walletKey, wallet.rdns);
  page.change({ wallet, payer, step: '', stage: stages.pay, hasAllowed: undefined });
  listenTo(page, wallet.provider);
  await readBalances(page);
}

const walletKey = 'florin-wallet';
let isRecalling = false;

/** Connects the wallet that this tab had before a reload, if it still shows its account to the page. Opens no prompt. */
export async function recallWallet(page: Page): Promise<void> {
  const rdns = sessionStorage.getItem(walletKey);
  const wallet = page.model.wallets?.find((each) => each.rdns !== '' && each.rdns === rdns);
  if (wallet === undefined || isRecalling || page.model.wallet !== undefined) return;
  // After the payment it tells whether this wallet has paid.
  if (!mayPay(page.model, nowSeconds()) && page.model.data.state?.payment === undefined) return;
  isRecalling = true;
  const [payer = ''] = (await accountsOf(wallet.provider)) ?? [];
  const { wallet: chosen, step, data } = page.model;
  const isWanted = chosen === undefined && step === '' && isIntended(data.intendedPayer, payer);
  if (addressPattern.test(payer) && isWanted) await take(page, wallet, payer);
}

const isIntended = (intended: string, payer: string) =>
  intended === '' || intended.toLowerCase() === payer.toLowerCase();

/** Throws unless a session of an agent is paid by the wallet that it was begun for. */
export function assertIntended({ data }: Pick<Model, 'data'>, payer: string): void {
  const { intendedPayer, texts } = data;
  if (!isIntended(intendedPayer, payer))
    throw new ExplainedFailure(fill(texts.wrongPayer, { address: shorten(intendedPayer) }));
}

const heard = new WeakSet<Provider>();

/** Wallets report when their owner switches or disconnects accounts. */
function listenTo(page: Page, provider: Provider): void {
  if (heard.has(provider)) return;
  heard.add(provider);
  provider.on?.('accountsChanged', (accounts) => {
    const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    takeAccount(page, provider, typeof first === 'string' ? first : '');
  });
  provider.on?.('disconnect', () => takeAccount(page, provider, ''));
}

/**
 * Switches to another account of the wallet; empty: none is connected. Cancels pending requests of the previous
 * account.
 */
export function takeAccount(page: Page, provider: Provider, payer: string): void {
  const { wallet, payer: known, data } = page.model;
  if (wallet?.provider !== provider || payer.toLowerCase() === known.toLowerCase()) return;
  const words = payer === '' ? data.texts.disconnected : data.texts.accountChanged;
  if (payer === '') sessionStorage.removeItem(walletKey);
  page.change({ payer, balances: {}, problem: '', wallet: payer === '' ? undefined : wallet });
  stopWaiting(words);
  if (payer !== '') void readBalances(page);
}

/**
 * Reads what the connected account has. Chooses the best way to pay with it, unless one is given, or the payer has chosen.
 */
export async function readBalances(page: Page, chosen?: string): Promise<void> {
  const { payer, wallet, data } = page.model;
  const tokenIds = data.options.map(({ tokenId }) => tokenId);
  try {
    const [{ balances }, walletChain] = await Promise.all([
      api.balances(payer.toLowerCase(), tokenIds),
      // It only helps to choose.
      wallet && chainOf(wallet.provider).catch(() => ''),
    ]);
    if (page.model.payer !== payer) return;
    const known = Object.fromEntries(
      balances.flatMap(({ tokenId, amount }) => (amount ? [[tokenId, amount]] : [])),
    );
    const { chosen: now, isOwnChoice, data: read } = page.model;
    const best = chosen ?? bestOption(read.options, known, walletChain)?.tokenId ?? now;
    page.change({ balances: known, chosen: isOwnChoice ? now : best });
  } catch {
    // Balances only help to choose: the options then show them as unknown.
    page.change({ balances: {} });
  }
}
