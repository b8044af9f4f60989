import { fill, formatMoney } from '../checkout/format.ts';
import { h, type Tree } from '../checkout/tree.ts';
import type { PageData, PageItem, PageMerchant } from './page-data.ts';

/** The merchant: logo, or the first letter of the name, and the name. */
export function merchantView({ merchant, logo }: PageMerchant): Tree {
  return h(
    'p',
    { class: 'merchant' },
    logoView(logo) ?? h('span', { class: 'coin', 'aria-hidden': 'true' }, [...merchant][0]),
    h('bdi', {}, merchant),
  );
}

/** The merchant's logo. The name is beside it, so that screen readers need no description of the logo. */
export function logoView(logo: PageMerchant['logo']): Tree {
  if (logo === undefined) return undefined;
  return h('img', { class: 'logo', src: logo.url, srcset: `${logo.url} 2x, ${logo.dense} 3x`, alt: '' });
}

/** More items than this are folded, so that the payment stays in view. */
const shownItems = 3;

/** The items for sale. */
export function itemsView(data: PageData): Tree {
  const { items, texts } = data;
  const named = items.filter(({ name }) => name !== '');
  if (named.length === 0) return undefined;
  // One folded item would save nothing.
  const first = named.length === shownItems + 1 ? named : named.slice(0, shownItems);
  const others = named.slice(first.length);
  const list = (part: readonly PageItem[]) =>
    h(
      'ul',
      { class: 'items' },
      part.map((item) => itemView(item, data)),
    );
  return h(
    'section',
    { 'aria-label': texts.items },
    list(first),
    others.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, fill(texts.moreItems, { count: String(others.length) })),
        list(others),
      ),
  );
}

function itemView(item: PageItem, { texts, locale }: PageData): Tree {
  const { image, attributes, quantity, name } = item;
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
      h('bdi', {}, quantity > 1 ? fill(texts.quantity, { name, count: String(quantity) }) : name),
      item.description !== '' && h('bdi', { class: 'soft small' }, item.description),
      attributes.length > 0 &&
        h(
          'bdi',
          { class: 'soft small' },
          attributes.map((attribute) => `${attribute.name}: ${attribute.value}`).join(' · '),
        ),
    ),
    item.value !== '' && h('div', { class: 'value' }, formatMoney(locale, item.value)),
  );
}

/** The recipient of the money. */
export function detailsView({ texts, recipient, settledIn }: PageData): Tree {
  const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, value))];
  return h(
    'details',
    { id: 'details' },
    h('summary', {}, texts.details),
    h('dl', {}, row(texts.wallet, recipient), row(texts.settledIn, settledIn)),
  );
}
