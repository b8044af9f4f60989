import type { Actions } from './actions.ts';
import { editOf } from './amount.ts';
import { depositView, elsewhereView } from './deposit-view.ts';
import { fill, formatMoney, formatToken, shorten } from './format.ts';
import { boundsOf, type Model, mayPay } from './model.ts';
import { optionView } from './option-view.ts';
import { h, type Tree } from './tree.ts';

type Typed = { readonly target: HTMLInputElement } & Parameters<typeof editOf>[0];

/** The payment part of the page. Absent when no payment is due. */
export function payView(model: Model, actions: Actions, now: number): Tree {
  const { data, step, problem } = model;
  const { texts } = data;
  if (!mayPay(model, now) && step === '' && problem === '' && model.isConnected) return undefined;
  const isOpen = mayPay(model, now);
  return [
    isOpen && inputsView(model, actions),
    isOpen && data.options.length === 0 && h('p', { class: 'problem' }, texts.noRoute),
    isOpen && model.deposit !== undefined && depositView(model, model.deposit, actions),
    isOpen &&
      model.deposit === undefined &&
      data.options.length > 0 &&
      (model.wallet === undefined || model.payer === ''
        ? walletsView(model, actions)
        : choiceView(model, actions)),
    isOpen && model.deposit === undefined && data.options.length > 0 && elsewhereView(model, actions),
    h(
      'p',
      { id: 'step', class: 'step', role: 'status' },
      step !== '' && h('span', { class: 'spinner', 'aria-hidden': 'true' }),
      step,
    ),
    isOpen && waitView(model, actions),
    h('p', { id: 'problem', class: 'problem', role: 'alert' }, problem),
    h('p', { class: 'soft', id: 'connection', role: 'status' }, !model.isConnected && texts.offline),
  ];
}

/** The payer must be able to continue after a prompt that was not answered, or was closed by accident. */
function waitView({ data, waitsFor }: Model, actions: Actions): Tree {
  const { texts } = data;
  if (waitsFor === '') return undefined;
  const button = (id: string, text: string, click: () => void) =>
    h('button', { type: 'button', class: 'quiet', id, click }, text);
  return h(
    'p',
    { class: 'actions', id: 'waiting' },
    waitsFor === 'wallet' && button('ask-again', texts.askAgain, actions.askAgain),
    button('cancel', texts.cancel, actions.cancel),
  );
}

function inputsView(model: Model, actions: Actions): Tree {
  const { data, step, amountProblem } = model;
  const { texts, link } = data;
  const isBusy = step !== '';
  return [
    link?.isCustom === true &&
      h(
        'p',
        { class: 'field' },
        h('label', { for: 'amount-input' }, texts.amountLabel),
        h('input', {
          id: 'amount-input',
          inputmode: 'decimal',
          autocomplete: 'transaction-amount',
          'aria-describedby': 'amount-hint amount-bounds',
          required: true,
          disabled: isBusy,
          'aria-invalid': amountProblem !== '' && 'true',
          input: (event: Typed) => actions.typeAmount(event.target, editOf(event)),
          change: ({ target }: Typed) => actions.leaveAmount(target),
        }),
        h('span', { id: 'amount-hint', class: 'soft small' }, texts.amountHint),
        h('span', { id: 'amount-bounds', class: 'soft small' }, boundsText(model)),
        h('span', { id: 'amount-problem', class: 'problem', role: 'alert' }, amountProblem),
      ),
    data.isEmailRequired &&
      h(
        'p',
        { class: 'field' },
        h('label', { for: 'email-input' }, texts.emailLabel),
        h('input', {
          id: 'email-input',
          type: 'email',
          autocomplete: 'email',
          required: true,
          maxlength: '254',
          disabled: isBusy,
        }),
      ),
  ];
}

/** The range that the chosen token accepts. */
function boundsText({ data, chosen }: Model): string {
  const bounds = boundsOf(data.options.find(({ tokenId }) => tokenId === chosen));
  if (bounds === undefined) return '';
  return [bounds.least, bounds.most].map((bound) => formatMoney(data.locale, bound.toString())).join(' – ');
}

function walletsView(model: Model, actions: Actions): Tree {
  const { data, wallets, step } = model;
  const { texts } = data;
  if (wallets.length === 0) {
    return [
      h('h2', {}, texts.chooseWallet),
      h('p', { id: 'no-wallet' }, texts.noWallet),
      h(
        'button',
        { type: 'button', class: 'quiet', id: 'copy', click: () => actions.copy(location.href) },
        model.copied === location.href ? texts.copied : texts.copyLink,
      ),
    ];
  }
  return [
    h('h2', { id: 'wallets-title' }, texts.chooseWallet),
    h(
      'ul',
      { class: 'wallets', 'aria-labelledby': 'wallets-title' },
      wallets.map((wallet) =>
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', class: 'wallet', disabled: step !== '', click: () => actions.connect(wallet) },
            wallet.icon !== '' && h('img', { class: 'icon', src: wallet.icon, alt: '' }),
            h('bdi', {}, wallet.name),
          ),
        ),
      ),
    ),
  ];
}

function choiceView(model: Model, actions: Actions): Tree {
  const { data, step, payer, chosen } = model;
  const { texts, locale } = data;
  const isBusy = step !== '';
  const option = data.options.find(({ tokenId }) => tokenId === chosen);
  const isPriced = option !== undefined && option.amountInToken !== '0';
  const label = isPriced
    ? fill(texts.payAmount, { amount: formatToken(locale, option, option.amountInToken) })
    : texts.pay;
  return [
    h(
      'p',
      { class: 'connected' },
      h('span', {}, fill(texts.connected, { address: shorten(payer) })),
      h(
        'button',
        { type: 'button', class: 'plain', id: 'change-wallet', disabled: isBusy, click: actions.disconnect },
        texts.changeWallet,
      ),
    ),
    h(
      'fieldset',
      { disabled: isBusy },
      h('legend', {}, texts.chooseToken),
      data.options.map((each) => optionView(model, each, actions)),
    ),
    option !== undefined &&
      h('p', { class: 'network' }, `${texts.network}: `, h('strong', {}, option.chainTitle)),
    h(
      'button',
      {
        type: 'button',
        id: 'pay-button',
        class: 'button',
        disabled: isBusy || option === undefined || option.status === 'unavailable',
        click: actions.pay,
      },
      model.problem === '' ? label : `${texts.tryAgain}: ${label}`,
    ),
    model.mayPayPlainly &&
      h(
        'button',
        { type: 'button', class: 'quiet', id: 'pay-plainly', disabled: isBusy, click: actions.payPlainly },
        texts.payPlainly,
      ),
    h('p', { class: 'soft small' }, texts.exactOnly),
  ];
}
