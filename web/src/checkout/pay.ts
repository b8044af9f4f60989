import type { CheckoutOption, PreparedOrder } from '@florin/protocol/checkout-api.ts';
import { readAmount } from './amount-field.ts';
import { api, Refused } from './api.ts';
import { fill, formatToken, shorten } from './format.ts';
import { bestOption, type Deposit, holds, type Model } from './model.ts';
import { type Page, Told } from './page.ts';
import {
  canBatch,
  connect,
  failureOf,
  mined,
  type Provider,
  send,
  sendBatch,
  signTyped,
  switchNetwork,
  type Wallet,
  wordsOfError,
} from './wallet.ts';

/** Error codes of the server that the page has words for (protocol/src/error.ts). */
const codes = {
  notActive: 100103,
  versionChanged: 100104,
  amountRange: 100209,
  payerMismatch: 100206,
} as const;

/** Connects a wallet, reads what it holds, and chooses the best way to pay for it. */
export async function connectWallet(page: Page, wallet: Wallet): Promise<void> {
  const { texts } = page.model.data;
  page.change({ step: texts.stepConnect, problem: '' });
  try {
    const payer = await connect(wallet.provider);
    assertIntended(page.model, payer);
    page.change({ wallet, payer, step: '' });
    listenTo(page, wallet.provider);
    await readBalances(page, payer);
  } catch (error) {
    page.change({ step: '', problem: problemOf(page.model, error, '') });
  }
}

function assertIntended({ data }: Model, payer: string): void {
  const { intendedPayer, texts } = data;
  if (intendedPayer !== '' && intendedPayer.toLowerCase() !== payer.toLowerCase())
    throw new Told(fill(texts.wrongPayer, { address: shorten(intendedPayer) }));
}

/** Wallets tell when their owner chooses another account. */
function listenTo(page: Page, provider: Provider): void {
  const { on } = provider as { on?: (name: string, listener: (value: unknown) => void) => void };
  on?.call(provider, 'accountsChanged', (accounts) => {
    if (page.model.step !== '' || page.model.wallet?.provider !== provider) return;
    const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    const payer = typeof first === 'string' ? first : '';
    page.change({ payer, balances: {}, problem: '' });
    if (payer !== '') void readBalances(page, payer);
  });
}

async function readBalances(page: Page, payer: string): Promise<void> {
  const tokenIds = page.model.data.options.map(({ tokenId }) => tokenId);
  try {
    const { balances } = await api.balances(payer.toLowerCase(), tokenIds);
    if (page.model.payer !== payer) return;
    const known = Object.fromEntries(
      balances.flatMap(({ tokenId, amount }) => (amount === undefined ? [] : [[tokenId, amount]])),
    );
    const best = bestOption(page.model.data.options, known);
    page.change({ balances: known, chosen: best?.tokenId ?? page.model.chosen });
  } catch {
    // Balances only help to choose: the options then say that they are not known.
    page.change({ balances: {} });
  }
}

/** Pays with the connected wallet and the chosen token, step by step; whatever fails can be tried again. */
export async function payWith(page: Page): Promise<void> {
  const { wallet, payer } = page.model;
  const { texts } = page.model.data;
  if (wallet === undefined || page.model.step !== '') return;
  let network = '';
  try {
    const email = readEmail(page.model);
    page.change({ step: texts.stepSession, problem: '' });
    await beginSession(page);
    const option = chosenOption(page.model);
    network = option.chainTitle;
    assertEnough(page.model, option);
    const { state } = page.model.data;
    if (state === undefined) return;
    const body = {
      sessionId: state.sessionId,
      payer: payer.toLowerCase(),
      tokenId: option.tokenId,
      payerEmail: email,
    };
    const prepared = await api.prepare(body, page.model.clientCode);
    page.change({ step: fill(texts.stepSwitch, { network }) });
    if (!(await switchNetwork(wallet.provider, option)))
      throw new Told(fill(texts.wrongNetwork, { network }));
    await carryOut(page, wallet.provider, option, prepared);
  } catch (error) {
    // Seen meanwhile: then nothing has failed.
    if (page.model.data.state?.initiateTx) return page.change({ step: '', problem: '' });
    sessionStorage.removeItem(sentKey(page));
    page.change({ step: '', isSent: false, problem: problemOf(page.model, error, network) });
  }
}

function readEmail({ data }: Model): string {
  if (!data.isEmailRequired) return '';
  const input = document.getElementById('email-input');
  const email = input instanceof HTMLInputElement ? input.value.trim() : '';
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return email;
  input?.focus();
  throw new Told(data.texts.emailWrong);
}

/** On a link's page a session begins now: a mere look at the link leaves nothing behind. */
async function beginSession(page: Page): Promise<void> {
  const { data } = page.model;
  if (data.link === undefined) return;
  const { linkId, version, isCustom } = data.link;
  const amount = isCustom ? readAmount(page) : undefined;
  const begun = await api.begin({
    linkId,
    linkVersion: version,
    ...(amount === undefined ? {} : { amount: amount.toString() }),
  });
  const { link: _link, ...rest } = data;
  // From here on the address is the session's: loading it again, here or elsewhere, shows how it stands.
  history.replaceState(
    null,
    '',
    new URL(begun.paymentUrl).pathname + location.search + new URL(begun.paymentUrl).hash,
  );
  page.change({
    data: { ...rest, state: begun.state, options: begun.options, amount: begun.state.amount },
    clientCode: begun.clientCode,
  });
  page.followSession?.();
}

function chosenOption({ data, chosen }: Model): CheckoutOption {
  const option = data.options.find(({ tokenId }) => tokenId === chosen);
  if (option === undefined) throw new Told(data.texts.noRoute);
  return option;
}

function assertEnough({ data, balances }: Model, option: CheckoutOption): void {
  const balance = balances[option.tokenId];
  if (balance === undefined || holds(option, balances)) return;
  const amount = (units: string) => formatToken(data.locale, option, units);
  throw new Told(
    fill(data.texts.insufficient, { has: amount(balance), needs: amount(option.amountInToken) }),
  );
}

/** The wallet's part: allow exactly the amount and pay, in one step where the wallet can. */
async function carryOut(
  page: Page,
  provider: Provider,
  option: CheckoutOption,
  prepared: PreparedOrder,
): Promise<void> {
  const { payer, data } = page.model;
  const { texts, locale } = data;
  const values = { amount: formatToken(locale, option, prepared.amountInToken), network: option.chainTitle };
  const { prerequisites, payment } = prepared;
  const sent = () => {
    rememberSent(page, option.chainTitle);
    page.change({ step: fill(texts.stepSent, values), isSent: true });
  };
  if (await payBySignature(page, provider, prepared, { sign: fill(texts.stepSign, values), sent })) return;
  if (prerequisites.length > 0 && (await canBatch(provider, payer, option.chainId))) {
    page.change({ step: fill(texts.stepBatch, values) });
    const calls = [...prerequisites.map(({ txRequest }) => txRequest), payment];
    const hash = await sendBatch(provider, payer, option.chainId, calls);
    if (hash === undefined) throw new Told(texts.reverted);
    return sent();
  }
  for (const { purpose, txRequest } of prerequisites) {
    const text = purpose === 'reset_allowance' ? texts.stepReset : texts.stepApprove;
    page.change({ step: fill(text, values) });
    const hash = await send(provider, payer, txRequest);
    page.change({ step: fill(texts.stepMining, values) });
    if (!(await mined(provider, hash))) throw new Told(texts.reverted);
  }
  page.change({ step: fill(texts.stepPay, values) });
  const hash = await send(provider, payer, payment);
  sent();
  // A wallet that cannot say what became of it has sent it nonetheless: then the server sees it, or the time runs out.
  if (!(await mined(provider, hash).catch(() => true))) throw new Told(texts.reverted);
}

/** A payment is in a block, or at the server, long before this. */
const sentMs = 120_000;
const sentKey = (page: Page) => `florin-sent-${page.model.data.state?.sessionId ?? ''}`;

/** Kept for this tab, so that loading the page again right after paying does not offer to pay again. */
function rememberSent(page: Page, network: string): void {
  sessionStorage.setItem(sentKey(page), JSON.stringify({ at: Date.now(), network }));
}

/** Goes on waiting for a payment that this tab sent a moment ago. */
export function recallSent(page: Page): void {
  const { state, texts } = page.model.data;
  const kept = JSON.parse(sessionStorage.getItem(sentKey(page)) ?? 'null') as {
    at: number;
    network: string;
  } | null;
  const leftMs = kept === null ? 0 : kept.at + sentMs - Date.now();
  if (kept === null || leftMs <= 0 || state?.isPayable !== true) return;
  page.change({ step: fill(texts.stepSent, { network: kept.network }), isSent: true });
  setTimeout(() => {
    if (page.model.data.state?.isPayable === true) page.change({ step: '', isSent: false });
  }, leftMs);
}

/** Codes with which the server says that a payment by signature is not to be had: then the payer sends it. */
const notBySignature: readonly number[] = [100601, 100611, 100612, 900101, 900401];
const submitPauseMs = 3_000;
/** Five minutes. */
const maxSubmits = 100;

/** Pays without gas where the token and the service allow it: the payer signs, the service sends. False: not here. */
async function payBySignature(
  page: Page,
  provider: Provider,
  { alternatives }: PreparedOrder,
  on: { sign: string; sent: () => void },
): Promise<boolean> {
  const way = alternatives.find(({ gasless, typedData, submit }) => gasless && typedData && submit);
  if (way?.submit === undefined) return false;
  const { payer, data } = page.model;
  page.change({ step: on.sign });
  const signature = await signTyped(provider, payer, way.typedData);
  if (signature === undefined) return false;
  const submit = () => api.submit(data.agentApi, way.submit?.path ?? '', { ...way.submit?.body, signature });
  try {
    await submit();
  } catch (error) {
    if (error instanceof Refused && notBySignature.includes(error.code)) return false;
    throw error;
  }
  on.sent();
  // The same request again says what has become of it; that it is seen in a block is told from elsewhere.
  for (
    let asked = 0;
    asked < maxSubmits && page.model.isSent && !page.model.data.state?.initiateTx;
    asked += 1
  ) {
    await new Promise((resolve) => setTimeout(resolve, submitPauseMs));
    const status = await submit().then(
      (view) => view.status,
      () => 'submitted',
    );
    if (status === 'failed') throw new Told(data.texts.reverted);
  }
  return true;
}

/** Prepares the order for whoever sends from elsewhere, and shows where to. What does not pay goes to the address given. */
export async function showDeposit(page: Page): Promise<void> {
  const { texts } = page.model.data;
  const input = document.getElementById('refund-input');
  const refund = input instanceof HTMLInputElement ? input.value.trim() : '';
  try {
    const email = readEmail(page.model);
    if (!/^0x[0-9a-fA-F]{40}$/.test(refund)) {
      input?.focus();
      throw new Told(texts.refundWrong);
    }
    page.change({ step: texts.stepSession, problem: '' });
    await beginSession(page);
    const option = chosenOption(page.model);
    const sessionId = page.model.data.state?.sessionId ?? '';
    const body = { sessionId, payer: refund, tokenId: option.tokenId, payerEmail: email };
    const { deposit, amountInToken } = await api.prepare(body, page.model.clientCode);
    if (deposit === undefined) throw new Told(texts.noRoute);
    const shown = { ...deposit, amountInToken, tokenId: option.tokenId };
    sessionStorage.setItem(depositKey(page), JSON.stringify(shown));
    openDeposit(page, shown);
  } catch (error) {
    page.change({ step: '', problem: problemOf(page.model, error, '') });
  }
}

/** What a tab keeps of its deposit. Nobody else can put one there: the address for returns is this payer's own. */
type KeptDeposit = Omit<Deposit, 'option' | 'arrived'> & { readonly tokenId: string };
const depositKey = (page: Page) => `florin-deposit-${page.model.data.state?.sessionId ?? ''}`;

function openDeposit(page: Page, { tokenId, ...kept }: KeptDeposit): void {
  const option = page.model.data.options.find((each) => each.tokenId === tokenId);
  if (option === undefined) return;
  page.change({ step: '', chosen: tokenId, deposit: { ...kept, option, arrived: '0' } });
  void watchDeposit(page, kept.address);
}

/** Shows again, after the page was loaded again, where this tab was told to send to. */
export function recallDeposit(page: Page): void {
  const kept = JSON.parse(sessionStorage.getItem(depositKey(page)) ?? 'null') as KeptDeposit | null;
  if (kept !== null && page.model.data.state?.isPayable === true) openDeposit(page, kept);
}

/** Hides where to send to: the payer wants to pay in another way. */
export function hideDeposit(page: Page): void {
  sessionStorage.removeItem(depositKey(page));
  page.change({ deposit: undefined });
}

const depositPauseMs = 4_000;

/** Looks what has arrived, so that a payer who sent too little can send the rest in time. */
async function watchDeposit(page: Page, address: string): Promise<void> {
  for (;;) {
    const { deposit, data } = page.model;
    if (deposit?.address !== address || data.state?.isPayable !== true) return;
    try {
      const { balances } = await api.balances(address, [deposit.option.tokenId]);
      const arrived = balances[0]?.amount ?? deposit.arrived;
      if (arrived !== deposit.arrived) page.change({ deposit: { ...deposit, arrived } });
    } catch {
      // Only a help on the way: the payment itself is noticed by the server.
    }
    await new Promise((resolve) => setTimeout(resolve, depositPauseMs));
  }
}

function problemOf({ data }: Model, error: unknown, network: string): string {
  const { texts } = data;
  if (error instanceof Told) return error.message;
  if (error instanceof Refused) {
    if (error.code === codes.versionChanged || error.code === codes.notActive) return texts.changed;
    if (error.code === codes.amountRange) return texts.amountRefused;
    if (error.code === codes.payerMismatch)
      return fill(texts.wrongPayer, { address: shorten(data.intendedPayer) });
    return fill(texts.failed, { reason: error.message });
  }
  const failure = failureOf(error);
  if (failure === 'rejected') return texts.rejected;
  if (failure === 'busy') return texts.walletBusy;
  if (failure === 'unknown_chain') return fill(texts.wrongNetwork, { network });
  return fill(texts.failed, { reason: wordsOfError(error) });
}
