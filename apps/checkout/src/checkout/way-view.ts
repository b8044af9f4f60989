import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import type { Actions } from './actions.ts';
import { fill, formatDuration, formatMoney, formatPrice, formatToken, nameOfToken } from './format.ts';
import { iconView, logoOf, markView } from './mark.ts';
import { isByAddress, type Model } from './model.ts';
import { isBusy } from './task-button.ts';
import { h, type Tree } from './tree.ts';

/** The chosen token and network, and the sheet with all others. */
export function wayView(model: Model, option: CheckoutOption, actions: Actions): Tree {
  const { data } = model;
  const { texts } = data;
  const facts = [
    balanceText(model, option) || amountText(model, option),
    timeText(model, option),
    conditionText(model, option),
  ];
  return [
    h(
      'div',
      { class: 'row', id: 'way' },
      markView(data.drawings, option),
      h(
        'div',
        { class: 'name' },
        // The page's direction holds: a bdi would take that of the token's first letter.
        h('div', { id: 'way-name' }, nameOfToken(texts, option)),
        factsView(facts),
      ),
      data.options.length > 1 &&
        h(
          'button',
          {
            class: 'plain',
            id: 'change-way',
            'aria-haspopup': 'dialog',
            'aria-labelledby': 'change-way way-name',
            'aria-disabled': isBusy(model),
            click: actions.openWays,
          },
          texts.change,
        ),
    ),
    // Only the script opens it.
    data.options.length > 1 && model.wallets !== undefined && sheetView(model, actions),
  ];
}

/** All ways to pay, by network. It stays closed until it is asked for. */
function sheetView(model: Model, actions: Actions): Tree {
  const { data } = model;
  return h(
    'dialog',
    { id: 'ways', class: 'sheet', 'aria-labelledby': 'ways-title', click: actions.closeWays },
    h(
      'div',
      { class: 'row' },
      h('h2', { id: 'ways-title', class: 'name' }, data.texts.chooseToken),
      h(
        'button',
        {
          class: 'tool',
          id: 'close-ways',
          'aria-label': data.texts.close,
        },
        iconView('close'),
      ),
    ),
    byNetwork(model).map((each) => networkView(model, each, actions)),
  );
}

/** What is accepted on one network, and how long that takes. */
interface NetworkOptions {
  readonly network: string;
  readonly time: string;
  readonly options: readonly CheckoutOption[];
}

/** The options by their networks, in the server's order. */
export function byNetwork({ data }: Pick<Model, 'data'>): readonly NetworkOptions[] {
  const all = data.options;
  return all
    .filter(({ chainTitle }, at) => all.findIndex((each) => each.chainTitle === chainTitle) === at)
    .map((first) => ({
      network: first.chainTitle,
      time: timeText({ data }, first),
      options: all.filter(({ chainTitle }) => chainTitle === first.chainTitle),
    }));
}

function networkView(model: Model, { network, time, options }: NetworkOptions, actions: Actions): Tree {
  return h(
    'fieldset',
    {},
    h(
      'legend',
      {},
      logoOf(model.data.drawings, network),
      h('bdi', {}, network),
      time && h('span', { class: 'soft small' }, time),
    ),
    options.map((option) => optionView(model, option, actions)),
  );
}

/** One token on one network to choose, with its price and the wallet's balance. */
function optionView(model: Model, option: CheckoutOption, actions: Actions): Tree {
  const { data, chosen } = model;
  const { texts, locale } = data;
  const facts = [
    balanceText(model, option),
    option.fee === '0' ? '' : fill(texts.feeOnTop, { fee: formatMoney(locale, option.fee) }),
    conditionText(model, option),
  ];
  return h(
    'label',
    { class: 'option' },
    h('input', {
      type: 'radio',
      name: 'token',
      value: option.tokenId,
      checked: option.tokenId === chosen,
      disabled: option.status === 'unavailable',
      change: () => actions.choose(option.tokenId),
    }),
    logoOf(data.drawings, option.symbol),
    h('span', { class: 'name' }, h('bdi', {}, option.symbol), factsView(facts)),
    h('span', { class: 'value soft' }, amountText(model, option)),
  );
}

/** Facts in one line, or below each other where it is too short for them. */
function factsView(facts: readonly string[]): Tree {
  const known = facts.filter((fact) => fact !== '');
  return h(
    'span',
    { class: 'facts soft small' },
    h(
      'span',
      {},
      known.map((fact) => h('span', {}, fact)),
    ),
  );
}

/** What the payer pays in this token; empty while no amount is chosen. */
export function amountText({ data }: Pick<Model, 'data'>, option: CheckoutOption): string {
  return option.amountInToken === '0' ? '' : formatPrice(data.locale, option);
}

/** What the connected wallet has; empty where no wallet pays on this page. */
function balanceText(model: Model, option: CheckoutOption): string {
  const { data, balances, payer } = model;
  if (payer === '' || isByAddress(model)) return '';
  const balance = balances[option.tokenId];
  if (balance === undefined) return data.texts.balanceUnknown;
  return fill(data.texts.balance, { amount: formatToken(data.locale, option, balance) });
}

/** How long a payment takes until it is final; empty while nothing is known of it. */
export function timeText(
  { data }: Pick<Model, 'data'>,
  { secondsToFinal }: Pick<CheckoutOption, 'secondsToFinal'>,
): string {
  if (secondsToFinal === 0) return '';
  return fill(data.texts.takes, { time: formatDuration(data.locale, secondsToFinal) });
}

function conditionText({ data }: Model, { status }: CheckoutOption): string {
  return { available: '', delayed: data.texts.delayed, unavailable: data.texts.unavailable }[status];
}
