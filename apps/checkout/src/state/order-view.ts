import { fill, formatMoney } from '../checkout/format.ts';
import { h, type Tree } from '../checkout/tree.ts';
import type { PageData, PageImage, PageItem, PageMerchant } from './page-data.ts';

/** The merchant: logo, icon or the first letter of the name, and the name. */
export function merchantView(front: PageMerchant): Tree {
  const { merchant, icon } = front;
  return h(
    'p',
    { class: 'merchant' },
    logoView(front) ??
      (icon === undefined
        ? h('span', { class: 'coin', 'aria-hidden': 'true' }, [...merchant][0])
        : h('img', { class: 'brand-icon', src: icon.url, srcset: `${icon.dense} 3x`, alt: '' })),
    h('bdi', {}, merchant),
  );
}

/**
 * The merchant's logo for the background it stands on; on a plate where it is made for another one. The name is beside it,
 * so that screen readers need no description of the logo.
 */
function logoView({ logo, darkLogo, scheme }: PageMerchant): Tree {
  const dark = darkLogo ?? logo;
  const shown = scheme === 'dark' ? dark : logo;
  if (shown === undefined || dark === undefined) return undefined;
  const setOf = ({ url, dense }: PageImage) => `${url} 2x, ${dense} 3x`;
  const plate =
    darkLogo !== undefined ? '' : scheme === 'dark' ? ' plate' : scheme === 'device' ? ' dark-plate' : '';
  const image = h('img', { class: `logo${plate}`, src: shown.url, srcset: setOf(shown), alt: '' });
  if (scheme !== 'device' || darkLogo === undefined) return image;
  return h(
    'picture',
    {},
    h('source', { media: '(prefers-color-scheme: dark)', srcset: setOf(darkLogo) }),
    image,
  );
}

/** The merchant's own pages, and the name of who sells. They open beside the payment. */
export function footView({ texts, legalName, merchant, links }: PageData): Tree {
  if (links.length === 0 && legalName === merchant) return undefined;
  return h(
    'footer',
    { class: 'foot' },
    legalName !== merchant && h('bdi', {}, legalName),
    links.map(({ name, url }) =>
      url === ''
        ? h('span', {}, texts[name])
        : h('a', { href: url, rel: 'noreferrer', target: '_blank' }, texts[name]),
    ),
  );
}

/** More items than this are folded, so that the payment stays in view. */
const shownItems = 3;

/** The items for sale. */
export function itemsView(data: PageData): Tree {
  const { items, texts } = data;
  // The head above says the name already, and the price of the only item.
  const isTitle = ({ name, value, description, attributes, quantity, image }: PageItem) =>
    name === data.title &&
    description === '' &&
    (value === '' ||
      (items.length === 1 && value === data.amount && quantity === 1 && attributes.length === 0 && !image));
  const named = items.filter((item) => item.name !== '' && !isTitle(item));
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
  const row = (name: string, value: Tree) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
  return h(
    'details',
    { id: 'details' },
    h('summary', {}, texts.details),
    h(
      'dl',
      {},
      row(texts.wallet, h('bdi', { class: 'address' }, recipient)),
      row(texts.settledIn, h('bdi', {}, settledIn)),
    ),
  );
}
