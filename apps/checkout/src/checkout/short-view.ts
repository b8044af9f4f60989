import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import type { Actions } from './actions.ts';
import { fill, formatToken, nameOfToken, toDecimal } from './format.ts';
import { markView } from './mark.ts';
import { holds, isDepositable, isShort, type Model, missingOf } from './model.ts';
import { taskButton } from './task-button.ts';
import { h, type Tree } from './tree.ts';
import { amountText } from './way-view.ts';

/** How much the wallet has too little of the chosen token. Always there, so that screen readers hear of it. */
export function lackView(model: Model, option: CheckoutOption | undefined): Tree {
  const { texts, locale } = model.data;
  return h(
    'p',
    { id: 'lack', class: 'step', role: 'status' },
    option !== undefined &&
      isShort(model) &&
      fill(texts.short, {
        missing: formatToken(locale, option, missingOf(model).toString()),
        network: option.chainTitle,
      }),
  );
}

/** The ways on for a payer whose wallet has too little of the chosen token. */
export function shortView(model: Model, option: CheckoutOption, actions: Actions): Tree {
  if (!isShort(model)) return undefined;
  const { data, balances } = model;
  const { texts, fundingUrl } = data;
  const others = data.options.filter(
    (other) => other.status !== 'unavailable' && other.total !== '0' && holds(other, balances),
  );
  return h(
    'section',
    { id: 'short' },
    // More of them would hide the rest of the page; the sheet has all.
    others.slice(0, 3).map((other, index) => {
      const { tokenId } = other;
      const amount = nameOfToken(texts, { ...other, symbol: amountText(model, other) });
      return taskButton(model, {
        id: `use-${tokenId}`,
        kind: index === 0 ? 'button' : 'quiet',
        text: [markView(data.drawings, other), fill(texts.payAmount, { amount })],
        click: () => {
          actions.choose(tokenId);
          actions.pay();
        },
      });
    }),
    isDepositable(model) &&
      taskButton(model, {
        ...{ id: 'send-elsewhere', kind: 'quiet', text: texts.sendElsewhere },
        click: () => actions.chooseSource('address'),
      }),
    fundingUrl !== undefined && fundingLink(model, option, fundingUrl),
  );
}

/** The operator's bridge or on-ramp. */
function fundingLink(model: Model, option: CheckoutOption, fundingUrl: string): Tree {
  const { data, payer } = model;
  const { symbol, chainId, decimals } = option;
  const [TOKEN, AMOUNT] = [encodeURIComponent(symbol), toDecimal(missingOf(model), decimals)];
  const href = fill(fundingUrl, { ADDRESS: payer, CHAIN_ID: chainId, TOKEN, AMOUNT });
  return h(
    'a',
    { class: 'button quiet', id: 'funding', href, rel: 'noreferrer', target: '_blank' },
    fill(data.texts.getToken, { token: symbol, host: new URL(href).host }),
  );
}
