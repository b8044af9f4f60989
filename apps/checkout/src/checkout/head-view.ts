import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { CheckoutData } from './data.ts';
import { fill, formatMoney, formatSpan } from './format.ts';
import { iconView } from './mark.ts';
import { isOpen } from './model.ts';
import { h, type Tree } from './tree.ts';

/**
 * The amount and what it is for: the first thing on the page. `by` has the total, with its fee;
 * `now` is in Unix seconds.
 */
export function headView(data: CheckoutData, now: number, by?: { total: string; fee: string }): Tree {
  const { texts, locale, state } = data;
  // A custom link's options have no price before the payer chooses one.
  const priced = by?.total === '0' ? undefined : by;
  const shown = priced?.total ?? data.amount;
  const isOpenAmount = shown === '' || shown === '0';
  const amount = isOpenAmount ? texts.yourChoice : formatMoney(locale, shown);
  const fee = priced?.fee ?? '0';
  const open = state !== undefined && isOpen(state, now) ? state : undefined;
  // A page has a link until its session begins.
  const due = open ?? data.link;
  return [
    due?.cancelUrl !== undefined &&
      h('p', { class: 'small' }, backView(texts, due.cancelUrl, { id: 'back' })),
    h(
      'div',
      { class: 'sum' },
      h(
        'h1',
        { id: 'amount', tabindex: '-1', class: isOpenAmount ? 'open' : amount.length > longAmount && 'long' },
        amount,
      ),
      open !== undefined && clockView(data, open, now),
    ),
    h('p', { class: 'title' }, h('bdi', {}, data.title)),
    fee !== '0' && h('p', { class: 'soft' }, fill(texts.feeOnTop, { fee: formatMoney(locale, fee) })),
    data.isFeeOnTop && isOpenAmount && due !== undefined && h('p', { class: 'soft' }, texts.feeAdded),
  ];
}

/** Characters: longer ones are smaller, so that the time left stays beside them. */
const longAmount = 9;

/** The way back to the shop without a payment. */
export function backView(
  texts: Pick<CheckoutData['texts'], 'backTo'>,
  href: string,
  attributes: { readonly id: string; readonly class?: string },
): Tree {
  const { host } = new URL(href);
  return h('a', { ...attributes, href, rel: 'noreferrer' }, fill(texts.backTo, { host }));
}

/** Below it the clock asks for attention. */
const hurrySeconds = 120;

/** The time left. A timer is no live region: a screen reader does not speak it every second. */
function clockView({ texts }: CheckoutData, { expiresAt }: CheckoutState, now: number): Tree {
  const left = Math.max(0, expiresAt - now);
  const time = formatSpan(left);
  return h(
    'p',
    {
      class: left < hurrySeconds ? 'pill late' : 'pill',
      id: 'time',
      role: 'timer',
      'aria-label': fill(texts.timeLeft, { time }),
    },
    iconView('clock'),
    time,
  );
}
