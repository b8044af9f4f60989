import type { CheckoutState, ShownDeposit } from '@florin/protocol/checkout-state.ts';
import { fill, formatToken } from '../checkout/format.ts';
import { h, type Tree } from '../checkout/tree.ts';
import type { PageData } from './page-data.ts';
import { actView } from './receipt-view.ts';

/**
 * What has already arrived at other addresses of the session, such as one that the payer's other device shows, and what
 * is to be sent now: the rest there, or the whole amount here.
 */
export function elsewhereNotice(
  { texts, locale, options }: PageData,
  { address, tokenId, amountInToken }: ShownDeposit,
  { deposits }: CheckoutState,
): Tree {
  const own = options.find((option) => option.tokenId === tokenId);
  const others = deposits.filter(
    (deposit) => deposit.tokenId !== tokenId || !address.endsWith(deposit.addressEnd),
  );
  return others.map((deposit) => {
    const amount = (units: string) => formatToken(locale, deposit, units);
    const has = amount(deposit.amountInToken);
    const network = options.find((option) => option.tokenId === deposit.tokenId)?.chainTitle;
    if (deposit.missingInToken === '0')
      return h('p', { class: 'loud elsewhere', role: 'status' }, fill(texts.wholeElsewhere, { has }));
    const rest = amount(deposit.missingInToken);
    return h(
      'div',
      { class: 'elsewhere', role: 'status' },
      h('p', { class: 'loud' }, fill(texts.arrivedElsewhere, { has, rest, end: deposit.addressEnd })),
      deposit.tokenId !== tokenId && network !== undefined && h('p', {}, fill(texts.onNetwork, { network })),
      againView(texts, deposit),
      own !== undefined &&
        h('p', {}, fill(texts.orSendAll, { has, all: formatToken(locale, own, amountInToken) })),
    );
  });
}

/**
 * Shows the whole address of a deposit again. Where the session shows another or none, only pages with its secret can do so:
 * the style sheet hides it on others.
 */
export function againView(
  { showAgain }: PageData['texts'],
  { addressEnd, isShown }: CheckoutState['deposits'][number],
): Tree {
  const kind = isShown === true ? 'quiet' : 'quiet owner';
  return actView('again', { class: kind, 'data-text': addressEnd }, showAgain);
}
