import type { Code } from '@florin/protocol/checkout-api.ts';
import type { Actions } from './actions.ts';
import { fill, formatTime, formatToken, shorten, toDecimal } from './format.ts';
import type { DepositView, Model } from './model.ts';
import { optionView } from './option-view.ts';
import { elsewhereNotice } from './status.ts';
import { h, type Tree } from './tree.ts';

/** For payers with money elsewhere: the token, and the refund address. */
export function elsewhereView(model: Model, actions: Actions): Tree {
  const { data, step, chosen, wallet } = model;
  const { texts } = data;
  const isBusy = step !== '';
  const option = data.options.find(({ tokenId }) => tokenId === chosen);
  const network = option?.chainTitle ?? '';
  // An agent's session accepts only its own wallet.
  if (data.intendedPayer !== '' || data.minDeposit === undefined) return undefined;
  const isTooLittle =
    option !== undefined && option.total !== '0' && BigInt(option.total) < BigInt(data.minDeposit);
  if (isTooLittle) return undefined;
  return h(
    'details',
    { id: 'elsewhere' },
    h('summary', {}, texts.orSend),
    // With a connected wallet, the same choice is above.
    wallet === undefined &&
      h(
        'fieldset',
        { disabled: isBusy },
        h('legend', {}, texts.chooseToken),
        data.options.map((each) => optionView(model, each, actions)),
      ),
    h(
      'p',
      { class: 'field' },
      h('label', { for: 'refund-input' }, fill(texts.refundLabel, { network })),
      h('input', {
        id: 'refund-input',
        autocomplete: 'off',
        spellcheck: 'false',
        maxlength: '64',
        dir: 'ltr',
        'aria-describedby': 'refund-hint',
        disabled: isBusy,
      }),
      h('span', { id: 'refund-hint', class: 'soft small' }, texts.refundHint),
    ),
    h(
      'button',
      { type: 'button', class: 'quiet', id: 'show-deposit', disabled: isBusy, click: actions.showDeposit },
      texts.showAddress,
    ),
  );
}

/** Where to send: network, amount and address, each separately, and as QR codes. */
export function depositView(model: Model, deposit: DepositView, actions: Actions): Tree {
  const { data, copied } = model;
  const { texts, locale } = data;
  const { option, address, amountInToken } = deposit;
  const lacking = lackingOf(deposit).toString();
  const exact = toDecimal(BigInt(lacking), option.decimals);
  const copyButton = (id: string, text: string, label: string) =>
    h(
      'button',
      { type: 'button', class: 'quiet', id, click: () => actions.copy(text) },
      copied === text ? texts.copied : label,
    );
  return h(
    'section',
    { id: 'deposit', class: 'deposit', 'aria-labelledby': 'deposit-title' },
    elsewhereNotice(data, { address, tokenId: option.tokenId, amountInToken }),
    h(
      'h2',
      { id: 'deposit-title' },
      fill(texts.sendExactly, { amount: formatToken(locale, option, lacking) }),
    ),
    h('p', { class: 'loud' }, fill(texts.onNetwork, { network: option.chainTitle })),
    h('p', { class: 'soft' }, texts.toAddress),
    h('p', { class: 'address', id: 'deposit-address', dir: 'ltr' }, address),
    h(
      'p',
      { class: 'actions' },
      copyButton('copy-address', address, texts.copyAddress),
      copyButton('copy-amount', exact, texts.copyAmount),
    ),
    codeView(deposit.addressCode, texts.qrAddress),
    h('p', {}, fill(texts.sendOnce, { address: shorten(deposit.refundAddress) })),
    termsView(data, deposit),
    h(
      'p',
      { class: 'step', role: 'status' },
      h('span', { class: 'spinner', 'aria-hidden': 'true' }),
      arrivedText(model, deposit),
    ),
    // The code contains the whole amount.
    lacking === amountInToken &&
      h('details', {}, h('summary', {}, texts.qrWallet), codeView(deposit.transferCode, texts.qrWallet)),
    h(
      'button',
      { type: 'button', class: 'plain', id: 'hide-deposit', click: actions.hideDeposit },
      texts.changeWallet,
    ),
  );
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
    { class: 'code', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label },
    h('path', { d: path }),
  );
}
