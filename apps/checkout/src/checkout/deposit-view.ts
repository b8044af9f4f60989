import type { CheckoutOption, Code } from '@florin/protocol/checkout-api.ts';
import type { Actions } from './actions.ts';
import { elsewhereNotice } from './elsewhere-notice.ts';
import { fill, formatTime, formatToken, shorten, toDecimal } from './format.ts';
import { iconView, markView } from './mark.ts';
import { type DepositView, type Model, wrongness } from './model.ts';
import { tabsView } from './tabs.ts';
import { h, type Tree } from './tree.ts';

/** For payers with money elsewhere: where it goes if it cannot pay. */
export function refundView(model: Model, { chainTitle }: CheckoutOption): Tree {
  const { texts } = model.data;
  return h(
    'p',
    { class: 'field' },
    h('label', { for: 'refund-input' }, fill(texts.refundLabel, { network: chainTitle })),
    h('input', {
      id: 'refund-input',
      // The last one in this browser, or the connected wallet's; the payer may change it.
      value: model.refund === '' ? model.payer : model.refund,
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: '64',
      dir: 'ltr',
      readonly: model.step !== '',
      ...wrongness(model, 'refund-input', 'refund-hint'),
    }),
    h('span', { id: 'refund-hint', class: 'soft small' }, texts.refundHint),
  );
}

/** Where to send: network, amount and address, each separately, and as QR codes. */
export function depositView(model: Model, deposit: DepositView, actions: Actions): Tree {
  const { data } = model;
  const { texts, locale } = data;
  const { option, address, amountInToken } = deposit;
  const lacking = lackingOf(deposit).toString();
  const exact = toDecimal(BigInt(lacking), option.decimals);
  return h(
    'section',
    { id: 'deposit', class: 'deposit', 'aria-labelledby': 'deposit-title', tabindex: '-1' },
    elsewhereNotice(data, { address, tokenId: option.tokenId, amountInToken }),
    h(
      'h2',
      { id: 'deposit-title' },
      fill(texts.sendExactly, { amount: formatToken(locale, option, lacking) }),
    ),
    h('p', { class: 'loud' }, fill(texts.onNetwork, { network: option.chainTitle })),
    codesView(model, deposit, actions),
    h('p', { class: 'soft small' }, texts.toAddress),
    h('p', { class: 'address', id: 'deposit-address', dir: 'ltr' }, address),
    h(
      'p',
      { class: 'actions' },
      copyButton(model, actions, { id: 'copy-address', text: address, label: texts.copyAddress }),
      copyButton(model, actions, { id: 'copy-amount', text: exact, label: texts.copyAmount }),
    ),
    h('p', { class: 'small' }, fill(texts.sendOnce, { address: shorten(deposit.refundAddress) })),
    termsView(data, deposit),
    h(
      'p',
      { class: 'step', role: 'status' },
      h('span', { class: 'spinner', 'aria-hidden': 'true' }),
      arrivedText(model, deposit),
    ),
    h('button', { class: 'plain', id: 'hide-deposit', click: actions.hideDeposit }, texts.anotherWay),
  );
}

function copyButton(
  { data, copied }: Model,
  actions: Actions,
  { id, text, label }: { readonly id: string; readonly text: string; readonly label: string },
): Tree {
  return h(
    'button',
    { class: 'quiet', id, click: () => actions.copy(text) },
    iconView(copied === text ? 'check' : 'copy'),
    copied === text ? data.texts.copied : label,
  );
}

/** The address as a code; for wallets also with network and amount, while that is the whole amount. */
function codesView({ data, code }: Model, deposit: DepositView, actions: Actions): Tree {
  const { texts, drawings } = data;
  const { option, addressCode, transferCode, transferUri } = deposit;
  const isWhole = lackingOf(deposit) === BigInt(deposit.amountInToken);
  const isForWallets = isWhole && code === 'wallet';
  return [
    isWhole &&
      tabsView(
        { address: texts.codeAddress, wallet: texts.byWallet },
        { name: 'code', legend: texts.chooseCode, chosen: code, choose: actions.chooseCode },
      ),
    h(
      'div',
      { class: 'code' },
      codeView(isForWallets ? transferCode : addressCode, isForWallets ? texts.qrWallet : texts.qrAddress),
      markView(drawings, option),
    ),
    isForWallets && h('a', { class: 'button quiet', id: 'open-wallet', href: transferUri }, texts.openWallet),
  ];
}

/** Until when a transfer pays, and which smaller or later ones also count. */
function termsView(
  { texts, locale }: Model['data'],
  { option, payUntil, leastInToken, lateUntil }: DepositView,
): Tree {
  const time = (seconds: string) => formatTime(locale, new Date(Number(seconds) * 1000).toISOString());
  return [
    h('p', { class: 'soft', id: 'pay-until' }, fill(texts.payUntil, { time: time(payUntil) })),
    leastInToken !== undefined &&
      h('p', { id: 'least' }, fill(texts.leastPays, { least: formatToken(locale, option, leastInToken) })),
    lateUntil !== undefined && h('p', { class: 'soft' }, fill(texts.latePays, { time: time(lateUntil) })),
  ];
}

/**
 * The amount still to send. It is the whole amount before any arrival, and again after everything has arrived, until
 * the server reports the payment.
 */
function lackingOf({ arrived, amountInToken }: DepositView): bigint {
  const rest = BigInt(amountInToken) - BigInt(arrived);
  return rest > 0n ? rest : BigInt(amountInToken);
}

function arrivedText({ data }: Model, deposit: DepositView): string {
  const { option, arrived, amountInToken } = deposit;
  const rest = lackingOf(deposit);
  if (rest === BigInt(amountInToken)) return data.texts.depositWaiting;
  const amount = (units: bigint) => formatToken(data.locale, option, units.toString());
  return fill(data.texts.partial, { has: amount(BigInt(arrived)), rest: amount(rest) });
}

function codeView({ size, path }: Code, label: string): Tree {
  return h(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label },
    h('path', { d: path }),
  );
}
