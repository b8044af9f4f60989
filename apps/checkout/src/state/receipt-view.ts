import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { fill, formatTime, formatToken, shorten } from '../checkout/format.ts';
import { explorerLink, iconView } from '../checkout/mark.ts';
import { h, type Tree } from '../checkout/tree.ts';
import type { PageData, Reader } from './page-data.ts';

/**
 * What stays to be known of a payment in a block, on a screen and on paper. It is a receipt while the payment is final: before,
 * and while that is in doubt, it does not say so.
 */
export function receiptView(data: PageData, state: CheckoutState, reader: Reader): Tree {
  const { texts, locale, options, explorers } = data;
  const { payment } = state;
  if (state.paidAt === '' && state.initiateTx === '') return returnsView(data, state);
  const row = (name: string, value: Tree) =>
    value !== undefined &&
    value !== '' &&
    value !== false &&
    h('div', {}, h('dt', {}, name), h('dd', {}, value));
  const time = (iso: string) =>
    iso === '' ? '' : h('time', { datetime: iso }, formatTime(locale, iso, reader.timeZone));
  const option = options.find(({ tokenId }) => tokenId === payment?.tokenId);
  const txAt = (chainId = '') => (explorers[chainId] === undefined ? '' : `${explorers[chainId]}/tx/`);
  const code = (name: string, value: string, url: string) =>
    value !== '' && row(name, codeView(data, name, value, url === '' ? '' : url + value));
  const tokens =
    option !== undefined && payment !== undefined
      ? fill(texts.tokenOnNetwork, {
          token: formatToken(locale, option, payment.amountInToken),
          network: option.chainTitle,
        })
      : '';
  return h(
    'section',
    { class: 'receipt', 'aria-labelledby': 'receipt-title' },
    h('h2', { id: 'receipt-title' }, state.paidAt === '' ? texts.payment : texts.receipt),
    // Before the rows: returned money makes them more than a window holds.
    state.paidAt !== '' && [
      h(
        'p',
        { class: 'actions' },
        actView('print', { class: 'quiet', id: 'print' }, texts.print),
        actView('download', { class: 'plain', id: 'download' }, texts.download),
      ),
      h('p', { class: 'soft small', 'data-act': 'hint' }, texts.downloadHint),
    ],
    h(
      'dl',
      {},
      row(texts.receiptNumber, state.receiptId !== '' && h('bdi', {}, state.receiptId)),
      row(
        texts.receiptTo,
        state.paidAt !== '' && state.receiptTo !== undefined && h('bdi', {}, state.receiptTo),
      ),
      row(texts.merchant, h('bdi', {}, (state.receiptNames ?? data).legalName)),
      row(texts.paidOn, time(state.paidAt)),
      row(texts.received, time(state.settledAt)),
      row(texts.paidWith, tokens),
      row(
        payment?.isDeposit === true ? texts.refundAddress : texts.paidBy,
        payment !== undefined && [
          h('bdi', { class: 'hash' }, payment.payer),
          // The script makes it whole on pages with the session's secret.
          h('bdi', { class: 'hash whole', id: 'whole-payer' }, payment.payer),
        ],
      ),
      code(texts.paymentTx, state.initiateTx, txAt(payment?.chainId)),
      code(texts.settlementTx, state.completeTx, txAt(data.settlementChainId)),
      code(texts.reference, state.sessionId, ''),
      returnRows(data, state),
    ),
  );
}

/** The transactions that gave back money which paid nothing, where no receipt has them. */
function returnsView(data: PageData, state: CheckoutState): Tree {
  const rows = returnRows(data, state);
  return rows.length > 0 && h('dl', { class: 'receipt' }, rows);
}

function returnRows(data: PageData, { exceptions }: CheckoutState): readonly Tree[] {
  const name = data.texts.returnTx;
  return exceptions.flatMap(({ returned }) => {
    if (returned === undefined) return [];
    const { tx, chainId } = returned;
    const explorer = data.explorers[chainId];
    const url = explorer === undefined ? '' : `${explorer}/tx/${tx}`;
    return [h('div', {}, h('dt', {}, name), h('dd', {}, codeView(data, name, tx, url)))];
  });
}

/** A button that the page's script acts for, and shows once it runs. */
export function actView(act: string, attributes: Record<string, string>, ...children: readonly Tree[]): Tree {
  return h('button', { type: 'button', 'data-act': act, ...attributes }, ...children);
}

/** A long code: short on screens, with its whole text to copy, on paper and behind its link. */
function codeView({ texts }: PageData, name: string, value: string, url: string): Tree {
  return h(
    'span',
    { class: 'code-line' },
    h('bdi', { class: 'hash', title: value }, shorten(value)),
    h('bdi', { class: 'hash whole' }, value),
    actView(
      'copy',
      { class: 'tool', 'data-text': value, 'aria-label': `${texts.copy}: ${name}` },
      iconView('copy'),
    ),
    url !== '' && explorerLink(url, `${texts.explorer}: ${name}`),
  );
}
