import type { ShownState } from '@florin/protocol/checkout-state.ts';
import {
  isFramed,
  openToShop,
  openWalletWindow,
  returnToShop,
  tellState,
  windowWallet,
} from '../embed/shop-window.ts';
import type { Actions } from './actions.ts';
import { checkAmount, leaveAmount, typeAmount } from './amount-field.ts';
import { amountView } from './amount-view.ts';
import { api, follow } from './api.ts';
import { beginSession, whileBusy } from './begin.ts';
import { nowSeconds, setClock } from './clock.ts';
import { connectWallet, readBalances, recallWallet } from './connect.ts';
import type { CheckoutData, ScriptData } from './data.ts';
import { changeOf, hideDeposit, recallOwn, recallRefund, showDeposit, showDepositAgain } from './deposit.ts';
import { elementOf, show } from './dom.ts';
import { headView } from './head-view.ts';
import {
  hasDeposit,
  initialModel,
  isMade,
  isOpen,
  isOver,
  isPaidHere,
  type Model,
  pricedBy,
  withState,
} from './model.ts';
import type { Page } from './page.ts';
import { payWith } from './pay.ts';
import { payView } from './pay-view.ts';
import { stopWaiting } from './prompt.ts';
import { completeReceipt, downloadReceipt } from './receipt.ts';
import { recallSent } from './sent.ts';
import { stages } from './stages.ts';
import { keepStorage } from './storage.ts';
import type { Tree } from './tree.ts';
import { watchWallets } from './wallet.ts';

/** Whether this is the script of pages that a shop's page opens or frames. The bundler knows it, and leaves out the rest. */
declare const IS_EMBEDDED: boolean;

/** Whether this is the script of pages whose payer chooses the amount. The others load nothing for that. */
declare const HAS_AMOUNT: boolean;

/** The one model and the only way to change it: every change is rendered at once, or once a pressed pointer is released. */
function openPage(data: CheckoutData): Page {
  const clientCode = /^#([0-9A-Za-z]{1,64})$/.exec(location.hash)?.[1] ?? '';
  let model: Model = {
    ...initialModel(data),
    clientCode,
    device: thisDevice(),
    refund: recallRefund(),
    email: sessionStorage.getItem(emailKey) ?? '',
  };
  const page: Page = {
    get model() {
      return model;
    },
    change(part) {
      model = { ...model, ...part };
      render(page);
      if (IS_EMBEDDED) tellState(model.data.state);
    },
  };
  return page;
}

/** What the payer typed stays in this tab over a reload. */
const emailKey = 'florin-email';

/** Phones and tablets have no pointer that hovers. */
function thisDevice(): Model['device'] {
  return { isHandheld: matchMedia('(hover: none)').matches, url: location.href.replace(/#.*/, '') };
}

/** Set while a pointer is down, and until the click that it may become has been handled. */
let press: ReturnType<typeof setTimeout> | undefined;
let isStale = false;
/** The state that is on the page. It is rendered once, so that what the reader does to it stays. */
let rendered: Model['shown'];
/** By this time a pointer is up of which no release was told. */
const longestPressMs = 5_000;

/** Keeps the page still while a pointer is down: a button that moved between press and release would miss its click. */
function holdWhilePressed(page: Page): void {
  const release = () => {
    press = undefined;
    if (isStale) render(page);
  };
  const releaseIn = (ms: number) => {
    clearTimeout(press);
    press = setTimeout(release, ms);
  };
  document.addEventListener('pointerdown', () => releaseIn(longestPressMs), true);
  for (const end of ['pointerup', 'pointercancel'] as const)
    document.addEventListener(end, () => press !== undefined && releaseIn(0), true);
}

function render(page: Page): void {
  isStale = press !== undefined;
  if (isStale) return;
  const { model } = page;
  const { data, shown } = model;
  const now = nowSeconds();
  const focused = document.activeElement;
  // The style sheet shows what needs the script, and what needs the session's secret.
  const { classList } = document.documentElement;
  classList.add('live');
  classList.toggle('own', model.clientCode !== '');
  classList.toggle('apart', !hasDeposit(model));
  classList.toggle('other', !isPaidHere(model));
  // As the server renders it after a reload: the order is below what has become of it.
  const isDone = data.state !== undefined && !isOpen(data.state, now);
  document.querySelector('main')?.classList.toggle('done', isDone);
  show(elementOf('head'), headView(data, now, pricedBy(model, now)));
  const actions = actionsOf(page);
  show(elementOf('pay'), payView(model, actions, now, HAS_AMOUNT && amountView(model, actions)));
  if (shown !== undefined && shown !== rendered) {
    rendered = shown;
    show(elementOf('state'), shown.view as Tree);
    document.title = shown.title;
    if (data.state?.paidAt) void completeReceipt(page);
  }
  // It is gone or hidden: neither has a place on the page.
  if (focused !== document.body && focused?.getClientRects().length === 0) focusOnNews();
}

/** Where a reader continues whose focus was on something that is no longer there, the newest first. */
const news = '#deposit #status #pay-button #show-deposit [name=by]:checked #bar #amount'.split(' ');

function focusOnNews(): void {
  for (const selector of news) {
    const element = document.querySelector<HTMLElement>(selector);
    element?.focus();
    // What is hidden takes no focus.
    if (element?.matches(':focus') === true) return;
  }
}

/** What the buttons in the session's state do. */
function act(page: Page, button: HTMLElement): void {
  const { act: name, text = '' } = button.dataset;
  if (name === 'print') print();
  if (name === 'stay') {
    stay();
    elementOf('continue').focus();
  }
  if (name === 'download') void downloadReceipt(page);
  if (name === 'copy') void navigator.clipboard.writeText(text).then(() => button.classList.add('copied'));
  if (name === 'hide') void hideDeposit(page);
  if (name === 'again') void showDepositAgain(page, text);
}

const leaveMs = 5_000;
let leaving: ReturnType<typeof setTimeout> | undefined;

/** Goes back to the shop in a moment. Only when the payment becomes final before the payer's eyes: later the page is a receipt. */
function leave(url: string): void {
  if (IS_EMBEDDED && isFramed()) return;
  leaving = setTimeout(() => (IS_EMBEDDED ? returnToShop() : location.assign(url)), leaveMs);
  document.body.className = 'leaves';
}

function stay(): void {
  clearTimeout(leaving);
  document.body.className = '';
}

/** The sheet with all ways to pay. */
const dialog = () => elementOf('ways') as HTMLDialogElement;

/** The payer's latest action, so that it can be repeated. */
let task = async () => {};
let ended: Promise<void> = Promise.resolve();

function begin(next: () => Promise<void>): void {
  task = next;
  ended = next();
}

function actionsOf(page: Page): Actions {
  // Controls keep the focus while something is under way, so a press may come at any time.
  const isIdle = () => page.model.step === '';
  const beginIdle = (next: () => Promise<void>) => void (isIdle() && begin(next));
  const beginInstead = (next: () => Promise<void>) => {
    stopWaiting('');
    void ended.then(() => begin(next));
  };
  return {
    connect: (wallet) => {
      if (IS_EMBEDDED && isFramed()) return openWalletWindow();
      // A wallet that does not answer the connection is left for another one. Nothing can be paid by that yet.
      const { waitsFor, payer } = page.model;
      (waitsFor === 'wallet' && payer === '' ? beginInstead : beginIdle)(() => connectWallet(page, wallet));
    },
    openWays: () => isIdle() && dialog().showModal(),
    closeWays: ({ target, detail }) => {
      // A radio button chosen by a key leaves the sheet open: the next key may choose another.
      const closing = detail > 0 ? 'dialog, input' : 'dialog';
      if (target.matches(closing) || target.closest('button') !== null) dialog().close();
    },
    choose: (chosen) => {
      // Another token may need an allowance; before a wallet, Connect stays the first stage.
      page.change({
        ...{ problem: '', chosen, isOwnChoice: true },
        stage: page.model.stage && stages.pay,
        hasAllowed: undefined,
      });
      if (HAS_AMOUNT) checkAmount(page);
    },
    chooseSource: (source) => page.change({ source, problem: '' }),
    pay: () => beginIdle(() => payWith(page, 'best')),
    payPlainly: () => beginIdle(() => payWith(page, 'plainly')),
    cancel: () => stopWaiting(page.model.data.texts.stopped),
    askAgain: () => beginInstead(task),
    copyPage: () =>
      void navigator.clipboard.writeText(location.href).then(() => page.change({ isCopied: true })),
    showCode: () => beginIdle(() => whileBusy(page, () => beginSession(page))),
    showDeposit: () => void (isIdle() && showDeposit(page)),
    typeAmount: (field) => void (HAS_AMOUNT && typeAmount(page, field)),
    leaveAmount: (field) => void (HAS_AMOUNT && leaveAmount(page, field)),
    typeEmail: ({ value }) => sessionStorage.setItem(emailKey, value),
  };
}

/** Shows a newer state of the session. */
function take(page: Page, shown: ShownState): void {
  const { data, waitsFor, isConnected, payer, chosen } = page.model;
  const { state } = shown;
  const isNews = isOver(state) && !isOver(data.state);
  // The page cannot withdraw an open wallet prompt, so it tells the payer to reject it.
  const reject = isMade(state) ? data.texts.notNeeded : data.texts.stopped;
  const problem = waitsFor === 'wallet' ? reject : '';
  page.change({
    ...changeOf(page.model, state),
    ...withState(page.model, shown),
    ...(isNews ? { step: '', problem } : {}),
    isConnected: true,
    ...(page.model.problem === data.texts.cannotCheck ? { problem: '' } : {}),
  });
  // What could not be read meanwhile.
  if (!isConnected && payer !== '') void readBalances(page, chosen);
  const { returnsAlone, successUrl } = state;
  if (!returnsAlone) stay();
  else if (!data.state?.returnsAlone && successUrl !== undefined) leave(successUrl);
}

async function readState(page: Page): Promise<void> {
  take(page, await api.read(page.model));
}

let stopFollowing = () => {};

function followSession(page: Page): void {
  if (page.model.data.state === undefined) return;
  stopFollowing();
  stopFollowing = follow(page.model, {
    state: (shown) => take(page, shown),
    lost: () => page.change({ isConnected: false }),
  });
}

/** Counts the session's time down. */
function tick(page: Page): void {
  const { state } = page.model.data;
  if (state?.isPayable !== true) return;
  render(page);
  const over = nowSeconds() - state.expiresAt;
  // No event says that the time is over: the session expires once the chain's time has passed.
  if (over >= 0 && over % overEvery === 0) void readState(page).catch(() => undefined);
}

/** Seconds between two reads after the time to pay. */
const overEvery = 5;

function start(): void {
  const data = JSON.parse(elementOf('data').textContent ?? '') as ScriptData;
  setClock(data.now);
  keepStorage();
  const page = openPage(data);
  page.followSession = () => followSession(page);
  page.readState = () => readState(page);
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element)) return;
    const button = target.closest<HTMLElement>('[data-act]');
    if (button !== null) act(page, button);
    // A language change must keep the session's secret, which is only in the fragment.
    const link = target.closest<HTMLAnchorElement>('a[hreflang]');
    if (link !== null) link.hash = location.hash;
  });
  holdWhilePressed(page);
  if (IS_EMBEDDED) openToShop(data.shop);
  if (IS_EMBEDDED && isFramed()) page.change({ wallets: [windowWallet(data.texts.browserWallet)] });
  else
    watchWallets(data.texts.browserWallet, (wallets) => {
      page.change({ wallets });
      void recallWallet(page);
    });
  recallSent(page);
  // A secret that was cut from its link is told before the payer acts.
  void completeReceipt(page);
  recallOwn(page);
  page.followSession();
  setInterval(() => tick(page), 1_000);
}

start();
