import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import type { Actions, AmountField } from './actions.ts';
import { fieldView } from './field.ts';
import { fill, formatMoney, shorten } from './format.ts';
import { drawingKey, iconView, logoOf } from './mark.ts';
import {
  chosenOf,
  hasDeposit,
  isByAddress,
  isDepositable,
  isForTransfers,
  isMade,
  isShort,
  type Model,
  mayPay,
} from './model.ts';
import { refundView } from './refund-view.ts';
import { lackView, shortView } from './short-view.ts';
import { stages, stagesView } from './stages.ts';
import { tabsView } from './tabs.ts';
import { isBusy, taskButton } from './task-button.ts';
import { h, type Tree } from './tree.ts';
import { isRemote, walletAppLinks } from './wallet-apps.ts';
import type { Wallet } from './wallet-type.ts';
import { amountText, byNetwork, wayView } from './way-view.ts';

/** The payment part of the page, with the field for an amount where the page has one. Absent when no payment is due. */
export function payView(model: Model, actions: Actions, now: number, amountField: Tree): Tree {
  const { data, step, problem } = model;
  // A deposit address is the whole way to pay.
  const canPay = mayPay(model, now) && !hasDeposit(model);
  if (!canPay && step === '' && problem === '' && model.isConnected) return madeView(model);
  const option = canPay ? chosenOf(model) : undefined;
  const isTransfer = isByAddress(model);
  // Without a wallet in this browser, the way is chosen where the wallet is.
  const hasWay =
    option !== undefined && (isTransfer || isConnected(model) || model.wallets?.every(isRemote) !== true);
  const byWallet = !isTransfer && isConnected(model) ? option : undefined;
  const byOnly = hasWay && !isTransfer && byWallet === undefined;
  const isBare = !hasWay && isIdle(model) && model.isConnected;
  return [
    canPay && [amountField, emailView(model, actions)],
    canPay && data.options.length === 0 && h('p', { class: 'problem' }, data.texts.noRoute),
    option !== undefined && [
      isDepositable(model) ? sourceView(model, actions) : leastView(model),
      isTransfer && refundView(model, option),
      !isTransfer && walletsView(model, actions),
    ],
    // Above the bar, which stays in view and says what is missing.
    byWallet !== undefined && shortView(model, byWallet, actions),
    h(
      'div',
      { class: isBare ? 'bar bare' : 'bar', id: 'bar', tabindex: '-1' },
      hasWay && option !== undefined && wayView(model, option, actions),
      h(
        'div',
        { class: 'says' },
        step !== '' && !isTransfer && stagesView(data.texts, model),
        stepView(model),
        // What the payer decided is no failure.
        h(
          'p',
          {
            id: 'problem',
            class: [data.texts.rejected, data.texts.stopped].includes(problem) ? 'step' : 'problem',
            role: 'alert',
          },
          problem,
        ),
        lackView(model, byWallet),
        h('p', { class: 'soft', id: 'connection', role: 'status' }, !model.isConnected && data.texts.offline),
        option !== undefined &&
          model.mayPayPlainly &&
          taskButton(model, {
            ...{ id: 'pay-plainly', kind: 'plain', text: data.texts.payPlainly },
            click: actions.payPlainly,
          }),
        byWallet !== undefined &&
          isIdle(model) &&
          !isShort(model) &&
          // Of a part that arrived elsewhere the state says that this is the whole price nevertheless.
          data.state?.deposits[0] === undefined &&
          byWallet.amountInToken !== '0' &&
          h('p', { class: 'soft small' }, data.texts.exactOnly),
      ),
      canPay && waitView(model, actions),
      option !== undefined &&
        isTransfer &&
        taskButton(model, {
          ...{ id: 'show-deposit', kind: 'button', text: data.texts.showAddress },
          click: actions.showDeposit,
        }),
      byOnly && connectButton(model, actions),
      byWallet !== undefined && payButton(model, byWallet, actions),
    ),
  ];
}

/** The last stages of a payment that this page's wallet made: the state says more about each. */
function madeView({ data, isSent, hasAllowed }: Model): Tree {
  if (!isSent || !isMade(data.state)) return undefined;
  const stage = data.state?.status === 'initialized' ? stages.confirm : stages.done;
  return stagesView(data.texts, { stage, hasAllowed });
}

const isIdle = ({ step, problem }: Model) => step === '' && problem === '';
const isConnected = ({ wallet, payer }: Model) => wallet !== undefined && payer !== '';

function stepView({ step, waitsFor, wallet }: Model): Tree {
  const icon = waitsFor === 'wallet' ? wallet?.icon : undefined;
  return h(
    'p',
    { id: 'step', class: 'step', role: 'status' },
    step !== '' && h('span', { class: 'spinner', 'aria-hidden': 'true' }),
    icon && h('img', { class: 'wallet-icon', src: icon, alt: '' }),
    step,
  );
}

/** The payer must be able to continue after a prompt that was not answered, or was closed by accident. */
function waitView({ data, waitsFor }: Model, actions: Actions): Tree {
  const { texts } = data;
  if (waitsFor === '') return undefined;
  const button = (id: string, text: string, click: () => void) =>
    h('button', { class: 'plain', id, click }, text);
  return h(
    'p',
    { class: 'links', id: 'waiting' },
    waitsFor === 'wallet' && button('ask-again', texts.askAgain, actions.askAgain),
    button('cancel', texts.cancel, actions.cancel),
  );
}

/** For merchants who ask for it. */
function emailView(model: Model, actions: Actions): Tree {
  const { data, email } = model;
  if (!data.isEmailRequired) return undefined;
  return fieldView(model, {
    id: 'email',
    label: data.texts.emailLabel,
    hint: data.emailHint,
    problems: [data.texts.emailMissing, data.texts.emailWrong],
    attributes: {
      type: 'email',
      autocomplete: 'email',
      required: true,
      maxlength: '254',
      value: email || undefined,
      input: ({ target }: { readonly target: AmountField }) => actions.typeEmail(target),
    },
  });
}

/** Why a small payment cannot come from an exchange. */
function leastView(model: Model): Tree {
  const { texts, locale, minDeposit } = model.data;
  if (minDeposit === undefined || !isForTransfers(model)) return undefined;
  const least = formatMoney(locale, minDeposit);
  return h('p', { class: 'soft small', id: 'deposit-least' }, fill(texts.depositLeast, { least }));
}

/** Where the money comes from. */
function sourceView({ data, step, source }: Model, actions: Actions): Tree {
  const { texts } = data;
  return tabsView(
    { wallet: texts.byWallet, address: texts.byAddress },
    {
      name: 'by',
      legend: texts.source,
      chosen: source,
      disabled: step !== '',
      choose: actions.chooseSource,
    },
  );
}

/** The wallets of this browser. The list stays when one is connected: so nothing moves, and another is one press away. */
function walletsView(model: Model, actions: Actions): Tree {
  const { wallets, data } = model;
  const { texts } = data;
  return h(
    'section',
    { class: 'wallets', 'aria-labelledby': 'wallets-title' },
    // The choice above it says the same, unless there are several.
    h(
      'h2',
      { id: 'wallets-title', class: isDepositable(model) && wallets?.[1] === undefined && 'hide' },
      texts.chooseWallet,
    ),
    wallets === undefined
      ? h('p', { class: 'ghost soft' }, texts.searchingWallets)
      : [
          wallets.every(isRemote) && !isConnected(model) && noWalletView(model, actions),
          wallets.length > 0 &&
            h(
              'ul',
              {},
              wallets.map((wallet) => h('li', {}, walletButton(model, wallet, actions))),
            ),
        ],
  );
}

/**
 * Where Pay will be: connects the first wallet of this browser, which it names where there are more. It keeps its place while
 * the page looks for wallets.
 */
function connectButton(model: Model, actions: Actions): Tree {
  const { wallets, data } = model;
  const { stageConnect } = data.texts;
  const first = wallets?.find((wallet) => wallet.rdns !== '' && !isRemote(wallet));
  // The window of a framed page says itself what it does.
  if (first === undefined && wallets !== undefined) return undefined;
  return taskButton(model, {
    ...{ id: 'connect', kind: 'button' },
    text:
      first && wallets?.[1] !== undefined
        ? [walletIcon(model, first), h('span', {}, h('bdi', {}, first.name), ` · ${stageConnect}`)]
        : stageConnect,
    disabled: first === undefined,
    click: () => first && actions.connect(first),
  });
}

function walletButton(model: Model, wallet: Wallet, actions: Actions): Tree {
  const isChosen = isConnected(model) && model.wallet?.id === wallet.id;
  return h(
    'button',
    {
      class: 'wallet',
      'aria-pressed': String(isChosen),
      'aria-disabled': model.payer === '' && model.waitsFor === 'wallet' ? undefined : isBusy(model),
      click: () => actions.connect(wallet),
    },
    walletIcon(model, wallet),
    h(
      'span',
      { class: 'name' },
      h('bdi', {}, wallet.name),
      isChosen && h('bdi', { class: 'soft small near' }, shorten(model.payer)),
    ),
    isChosen && iconView('check'),
  );
}

/** The ways on for a reader whose browser has no wallet: an app on this device, or another device. */
function noWalletView(model: Model, actions: Actions): Tree {
  const { data, isCopied, device } = model;
  const { texts } = data;
  return [
    // Above a long list of apps, and below what the other device scans.
    device.isHandheld
      ? [acceptedView(model), h('p', { id: 'no-wallet' }, texts.openIn), appsView(model)]
      : [codeView(model, actions), acceptedView(model)],
    h(
      'button',
      { class: 'plain', id: 'copy', click: actions.copyPage },
      isCopied ? texts.copied : texts.copyLink,
    ),
  ];
}

/** What the wallet must hold: it is chosen on another page. */
function acceptedView(model: Model): Tree {
  const { data } = model;
  return h(
    'div',
    { id: 'accepted', class: 'soft small' },
    data.texts.chooseToken,
    byNetwork(model).map(({ network, time, options }) => {
      const symbols = options.map(({ symbol }) => symbol).join(', ');
      return h(
        'div',
        { class: 'row' },
        logoOf(data.drawings, network),
        h('span', {}, h('bdi', {}, `${network}: ${symbols}`), time && ` · ${time}`),
      );
    }),
  );
}

function appsView({ data, device }: Model): Tree {
  return h(
    'ul',
    { id: 'apps' },
    walletAppLinks(device.url).map(({ name, href }) =>
      h(
        'li',
        {},
        h(
          'a',
          { class: 'button wallet', href },
          h('img', { class: 'wallet-icon', src: `${data.drawings.file}#${drawingKey(name)}`, alt: '' }),
          h('bdi', {}, name),
        ),
      ),
    ),
  );
}

/** A code with the session's address. On a link's page the session begins first, so that both devices have the same one. */
function codeView(model: Model, actions: Actions): Tree {
  const { texts, state } = model.data;
  if (state === undefined)
    return [
      h('p', { id: 'no-wallet' }, texts.noWallet),
      taskButton(model, { id: 'show-code', kind: 'button', text: texts.showCode, click: actions.showCode }),
    ];
  return [
    h('p', { id: 'no-wallet' }, texts.scan),
    h('img', {
      class: 'code',
      id: 'page-code',
      src: `/checkout/${state.sessionId}/code.svg`,
      alt: texts.chooseCode,
      width: '240',
      height: '240',
    }),
  ];
}

function walletIcon({ data }: Model, { icon, name }: { icon: string; name: string }): Tree {
  if (icon !== '') return h('img', { class: 'wallet-icon', src: icon, alt: '' });
  return logoOf(data.drawings, name);
}

function payButton(model: Model, option: CheckoutOption, actions: Actions): Tree {
  const { texts } = model.data;
  const amount = amountText(model, option);
  return taskButton(model, {
    ...{ id: 'pay-button', kind: isShort(model) ? 'quiet' : 'button', click: actions.pay },
    text: amount === '' ? texts.pay : fill(texts.payAmount, { amount }),
    disabled: option.status === 'unavailable',
    isShort: isShort(model),
  });
}
