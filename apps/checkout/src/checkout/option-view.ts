import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import type { Actions } from './actions.ts';
import { fill, formatToken } from './format.ts';
import type { Model } from './model.ts';
import { h, type Tree } from './tree.ts';

/** One token on one network to choose, with the wallet's balance. */
export function optionView(
  { data, chosen, balances, wallet }: Model,
  option: CheckoutOption,
  actions: Actions,
): Tree {
  const { texts, locale } = data;
  const balance = balances[option.tokenId];
  const held =
    wallet === undefined
      ? ''
      : balance === undefined
        ? texts.balanceUnknown
        : fill(texts.balance, { amount: formatToken(locale, option, balance) });
  const condition = { available: '', delayed: texts.delayed, unavailable: texts.unavailable }[option.status];
  const id = `token-${option.tokenId}`;
  return h(
    'label',
    { class: 'option', for: id },
    h('input', {
      type: 'radio',
      name: 'token',
      id,
      value: option.tokenId,
      checked: option.tokenId === chosen,
      disabled: option.status === 'unavailable',
      change: () => actions.choose(option.tokenId),
    }),
    h(
      'span',
      { class: 'name' },
      h('bdi', {}, fill(texts.tokenOnNetwork, { token: option.symbol, network: option.chainTitle })),
    ),
    h('span', { class: 'soft small' }, [held, condition].filter((part) => part !== '').join(' · ')),
  );
}
