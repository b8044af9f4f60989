import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import type { Actions } from './actions.ts';
import { fill, formatToken, toDecimal } from './format.ts';
import { markView } from './mark.ts';
import { holds, isDepositable, type Model } from './model.ts';
import { taskButton } from './task-button.ts';
import { h, type Tree } from './tree.ts';

/**
 * Help for a payer whose wallet has too little of the chosen token. Always there, so that what follows it stays; empty while
 * nothing is missing.
 */
export function shortView(model: Model, option: CheckoutOption, actions: Actions): Tree {
  return h('section', { id: 'short' }, helpView(model, option, actions));
}

/** What is missing, and the ways on. */
function helpView(model: Model, option: CheckoutOption, actions: Actions): Tree {
  const { data, balances } = model;
  const { texts, locale, fundingUrl } = data;
  const balance = balances[option.tokenId];
  if (balance === undefined || option.amountInToken === '0' || holds(option, balances)) return undefined;
  const missing = BigInt(option.amountInToken) - BigInt(balance);
  const others = data.options.filter(
    (other) => other.status !== 'unavailable' && other.total !== '0' && holds(other, balances),
  );
  const button = (id: string, text: Tree, click: () => void) =>
    taskButton(model, { id, kind: 'quiet', text, click });
  return [
    h('p', {}, fill(texts.short, { missing: formatToken(locale, option, missing.toString()) })),
    // More of them would hide the rest of the page; the sheet has all.
    others.slice(0, 3).map((other) => {
      const { tokenId, symbol: token, chainTitle: network } = other;
      const text = [markView(data.drawings, other), fill(texts.tokenOnNetwork, { token, network })];
      return button(`use-${tokenId}`, text, () => actions.choose(tokenId));
    }),
    isDepositable(model) &&
      button('send-elsewhere', texts.sendElsewhere, () => actions.chooseSource('address')),
    fundingUrl !== undefined && fundingLink(model, option, fundingUrl, missing),
  ];
}

/** The operator's bridge or on-ramp. */
function fundingLink(
  { data, payer }: Model,
  { symbol, chainId, decimals }: CheckoutOption,
  fundingUrl: string,
  missing: bigint,
): Tree {
  const [TOKEN, AMOUNT] = [encodeURIComponent(symbol), toDecimal(missing, decimals)];
  const href = fill(fundingUrl, { ADDRESS: payer, CHAIN_ID: chainId, TOKEN, AMOUNT });
  return h(
    'a',
    { class: 'button quiet', id: 'funding', href, rel: 'noreferrer', target: '_blank' },
    fill(data.texts.getToken, { token: symbol, host: new URL(href).host }),
  );
}
