import type { Actions } from './actions.ts';
import { chooseToken, leaveAmount, typeAmount } from './amount-field.ts';
import { follow } from './api.ts';
import { connectWallet } from './connect.ts';
import type { CheckoutData } from './data.ts';
import { demoWallet } from './demo.ts';
import { hideDeposit, recallDeposit, showDeposit } from './deposit.ts';
import { elementOf, show } from './dom.ts';
import { bestOption, isMade, isOver, type Model } from './model.ts';
import type { Page } from './page.ts';
import { payWith } from './pay.ts';
import { payView } from './pay-view.ts';
import { stopWaiting } from './prompt.ts';
import { downloadReceipt } from './receipt.ts';
import { recallSent } from './sent.ts';
import { statusView, wordsOf } from './status.ts';
import { headView } from './summary.ts';
import { announceWallet, watchWallets } from './wallet.ts';

const nowSeconds = () => Math.floor(Date.now() / 1000);

/** The one model and the only way to change it: every change is rendered at once, or once a pressed pointer is released. */
function openPage(data: CheckoutData): Page {
  let model: Model = {
    data,
    clientCode: /^#([0-9A-Za-z]{1,64})$/.exec(location.hash)?.[1] ?? '',
    wallets: [],
    payer: '',
    balances: {},
    chosen: bestOption(data.options, {})?.tokenId ?? '',
    step: '',
    problem: '',
    waitsFor: '',
    mayPayPlainly: false,
    amountProblem: '',
    isSent: false,
    copied: '',
    isConnected: true,
  };
  const page: Page = {
    get model() {
      return model;
    },
    change(part) {
      model = { ...model, ...part };
      render(page);
    },
  };
  return page;
}

/** Set while a pointer is down, and until the click that it may become has been handled. */
let press: ReturnType<typeof setTimeout> | undefined;
let isStale = false;
/** A longer press is no click: it drags or selects. */
const longestPressMs = 1_000;

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
  const { data } = model;
  const now = nowSeconds();
  const option = data.options.find(({ tokenId }) => tokenId === model.chosen);
  const isPriced = option !== undefined && option.total !== '0';
  show(elementOf('head'), headView(data, isPriced ? option : undefined));
  show(elementOf('pay'), payView(model, actionsOf(page), now));
  if (data.state !== undefined) {
    const { paidAt } = data.state;
    const canDownload = paidAt !== '' && model.clientCode !== '';
    const reader = {
      now,
      hasPanel: model.deposit !== undefined,
      print: () => globalThis.print(),
      ...(canDownload ? { download: () => void downloadReceipt(page) } : {}),
    };
    show(elementOf('state'), statusView(data, data.state, reader));
    document.title = `${wordsOf(data, data.state, now).title} · ${data.title}`;
  }
}

/** The payer's latest action, so that it can be repeated. */
let task = async () => {};
let ended: Promise<void> = Promise.resolve();

function begin(next: () => Promise<void>): void {
  task = next;
  ended = next();
}

function actionsOf(page: Page): Actions {
  return {
    connect: (wallet) => begin(() => connectWallet(page, wallet)),
    disconnect: () => page.change({ wallet: undefined, payer: '', balances: {}, problem: '' }),
    choose: (chosen) => chooseToken(page, chosen),
    pay: () => begin(() => payWith(page, 'best')),
    payPlainly: () => begin(() => payWith(page, 'plainly')),
    cancel: () => void stopWaiting(page.model.data.texts.stopped),
    askAgain: () => {
      stopWaiting('');
      void ended.then(() => begin(task));
    },
    copy: (copied) => void navigator.clipboard.writeText(copied).then(() => page.change({ copied })),
    showDeposit: () => void showDeposit(page),
    hideDeposit: () => hideDeposit(page),
    typeAmount: (field, how) => typeAmount(page, field, how),
    leaveAmount: (field) => leaveAmount(page, field),
  };
}

/** Follows the page's session, and counts its time down. */
function followSession(page: Page): void {
  const sessionId = page.model.data.state?.sessionId;
  if (sessionId === undefined) return;
  follow(sessionId, {
    state: (state) => {
      const { data, waitsFor } = page.model;
      const isNews = isOver(state) && (data.state === undefined || !isOver(data.state));
      // The page cannot withdraw an open wallet prompt, so it tells the payer to reject it.
      const reject = isMade(state) ? data.texts.rejectPrompt : data.texts.stopped;
      const problem = waitsFor === 'wallet' ? reject : '';
      page.change({ data: { ...data, state }, ...(isNews ? { step: '', problem } : {}) });
    },
    connection: (isConnected) => {
      if (isConnected !== page.model.isConnected) page.change({ isConnected });
    },
  });
  setInterval(() => {
    if (page.model.data.state?.isPayable === true) render(page);
  }, 1_000);
}

/** A language change must keep the session's secret, which is only in the fragment. */
function keepFragment(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[hreflang]')) {
    link.addEventListener('click', () => {
      link.hash = location.hash;
    });
  }
}

function start(): void {
  const data = JSON.parse(elementOf('data').textContent ?? '') as CheckoutData;
  const page = openPage(data);
  page.followSession = () => followSession(page);
  keepFragment();
  holdWhilePressed(page);
  watchWallets(data.texts.browserWallet, (wallets) => page.change({ wallets }));
  if (data.demoPayer !== undefined) announceWallet(demoWallet(data.demoPayer, data.texts.demoPayer));
  recallSent(page);
  recallDeposit(page);
  page.followSession();
}

start();
