import type { CheckoutData, PageItem } from './data.ts';
import { fill, formatMoney } from './format.ts';
import { h, type Tree } from './tree.ts';

/** The amount and the items: the first thing on the page. `total` is the payer's total, once known. */
export function headView(data: CheckoutData, chosen?: { total: string; fee: string }): Tree {
  const { texts, locale } = data;
  const shown = chosen?.total ?? data.amount;
  const fee = chosen?.fee ?? '0';
  const feeText =
    fee !== '0'
      ? fill(texts.feeOnTop, { fee: formatMoney(locale, fee) })
      : data.isFeeOnTop && chosen === undefined
        ? texts.feeAdded
        : texts.feeIncluded;
  return [
    logoView(data.logo),
    h('p', { class: 'merchant' }, fill(texts.payTo, { merchant: data.merchant })),
    h('h1', { id: 'amount' }, shown === '' || shown === '0' ? texts.yourChoice : formatMoney(locale, shown)),
    h('p', { class: 'title' }, data.title),
    h('p', { class: 'soft' }, feeText),
  ];
}

/** The merchant's logo. The name is beside it, so that screen readers need no description of the logo. */
export function logoView(logo: CheckoutData['logo']): Tree {
  return (
    logo !== undefined &&
    h('img', { class: 'logo', src: logo.url, srcset: `${logo.url} 2x, ${logo.dense} 3x`, alt: '' })
  );
}

/** The items for sale. */
export function itemsView({ items, texts, locale }: CheckoutData): Tree {
  const named = items.filter(({ name }) => name !== '');
  if (named.length === 0) return undefined;
  return h(
    'section',
    { 'aria-label': texts.items },
    h(
      'ul',
      { class: 'items' },
      named.map((item) =>
        itemView(item, fill(texts.quantity, { name: item.name, count: String(item.quantity) }), locale),
      ),
    ),
  );
}

function itemView(item: PageItem, several: string, locale: string): Tree {
  const { image, attributes } = item;
  return h(
    'li',
    {},
    image !== undefined &&
      h('img', {
        src: image.url,
        srcset: `${image.url} 1x, ${image.dense} 3x`,
        alt: '',
        loading: 'lazy',
        width: '48',
        height: '48',
      }),
    h(
      'div',
      { class: 'name' },
      h('div', { dir: 'auto' }, item.quantity > 1 ? several : item.name),
      item.description !== '' && h('div', { class: 'soft small', dir: 'auto' }, item.description),
      attributes.length > 0 &&
        h(
          'div',
          { class: 'soft small', dir: 'auto' },
          attributes.map(({ name, value }) => `${name}: ${value}`).join(' · '),
        ),
    ),
    item.value !== '' && h('div', { class: 'value' }, formatMoney(locale, item.value)),
  );
}

/** The recipient of the money. */
export function detailsView({ texts, recipient, settledIn }: CheckoutData): Tree {
  const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, value))];
  return h(
    'details',
    { id: 'details' },
    h('summary', {}, texts.details),
    h('dl', {}, row(texts.wallet, recipient), row(texts.settledIn, settledIn)),
  );
}
