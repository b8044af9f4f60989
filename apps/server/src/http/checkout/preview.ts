import { type CheckoutData, chooseLanguage, fill, h, type Language, type Tree } from '@florin/checkout';
import { brandColorsOf } from '@florin/protocol/brand-colors.ts';
import type { HostedPreview } from '@florin/protocol/hosted-preview.ts';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import type { ShownMerchant } from '#catalog/branding.ts';
import type { ItemProduct } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import { networkTitle } from '#chains/networks.ts';
import { brandStyle, hashOf, renderPreview } from './page.ts';
import { logoOf, pageItem } from './page-data.ts';
import { style } from './style.ts';

/** Ways to pay that the preview shows. */
const shownOptions = 3;

/** What is stored of a merchant whose page is previewed. */
export interface PreviewedMerchant {
  readonly front: ShownMerchant;
  /** By id. */
  readonly products: ReadonlyMap<string, ItemProduct>;
}

/** A hosted page with a draft's contents, and the policy that lets the dashboard frame it. */
export function previewPage(
  deps: { readonly chains: Chains; readonly origin: string },
  draft: HostedPreview,
  stored: PreviewedMerchant,
  acceptLanguage: string | undefined,
): { readonly text: string; readonly policy: string } {
  const language = chooseLanguage(undefined, acceptLanguage);
  const brand = draft.color === '' ? '' : brandStyle(brandColorsOf(draft.color));
  const css = styleOfScheme(style + brand, draft.scheme);
  const data = previewData(draft, stored, language);
  return {
    text: renderPreview(data, payView(deps.chains, data), { language, css }),
    policy: previewPolicy(css, deps.origin),
  };
}

/**
 * The page is framed by the dashboard alone, and does nothing there: no script, no form, no request but for the logo, and
 * an origin of its own. Pages that take payments are never framed.
 */
function previewPolicy(css: string, origin: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${hashOf(css)}'`,
    `img-src ${origin} data:`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox',
  ].join('; ');
}

/** The page's style as in one colour scheme, regardless of what the reader's device prefers. */
export function styleOfScheme(css: string, scheme: HostedPreview['scheme']): string {
  return css
    .replaceAll(
      /@media \(prefers-color-scheme: dark\) \{((?:[^{}]*\{[^{}]*\})*)\s*\}/g,
      scheme === 'dark' ? '$1' : '',
    )
    .replaceAll('color-scheme: light dark', `color-scheme: ${scheme}`);
}

function previewData(
  draft: HostedPreview,
  { front, products }: PreviewedMerchant,
  language: Language,
): CheckoutData {
  const { linkName } = merchantTextLimits;
  return {
    ...{ locale: language.tag, texts: language.texts, agentApi: '', linkUrl: '' },
    title: merchantText(draft.title, linkName),
    merchant: merchantText(front.merchantName, linkName),
    logo: draft.hasLogo ? logoOf(front.logoUrl) : undefined,
    items: draft.items.map(({ productId, name, quantity, value }) => {
      const named = { productName: name, productDescription: '', imageUrl: '', attributes: [] };
      return pageItem({ quantity, productData: products.get(productId)?.productData ?? named }, value);
    }),
    ...{ amount: draft.amount, isFeeOnTop: draft.isFeeOnTop, isEmailRequired: draft.isEmailRequired },
    ...{ intendedPayer: '', recipient: '', settlementToken: '', settledIn: '', options: [] },
  };
}

/** Stands where the page's script asks for the payment. Its button does nothing. */
function payView(chains: Chains, { texts, amount, isEmailRequired }: CheckoutData): Tree {
  const options = chains.tokens.slice(0, shownOptions).map(({ symbol, chainId }, index) => {
    const chain = chains.byId(chainId);
    const network = chain === undefined ? '' : networkTitle(chain);
    return h(
      'label',
      { class: 'option' },
      h('input', { type: 'radio', name: 'tokenId', checked: index === 0 }),
      h('span', { class: 'name' }, h('bdi', {}, fill(texts.tokenOnNetwork, { token: symbol, network }))),
    );
  });
  const field = (id: string, label: string): Tree =>
    h('p', { class: 'field' }, h('label', { for: id }, label), h('input', { id }));
  return [
    amount === '' && field('amount-input', texts.amountLabel),
    isEmailRequired && field('email-input', texts.emailLabel),
    h('fieldset', {}, h('legend', {}, texts.chooseToken), options),
    h('button', { type: 'button' }, texts.pay),
  ];
}
