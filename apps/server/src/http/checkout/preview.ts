import {
  amountView,
  chooseLanguage,
  initialModel,
  type Language,
  noActions,
  type PageData,
  type PageMerchant,
  payView,
  type Tree,
} from '@florin/checkout';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import type { HostedPreview } from '@florin/protocol/hosted-preview.ts';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import type { ShownMerchant } from '#catalog/branding.ts';
import type { ItemProduct } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import { networkTitle } from '#chains/networks.ts';
import { brandStyle } from './brand-style.ts';
import { drawingsFor } from './drawings.ts';
import { hashOf, renderPreview } from './page.ts';
import { merchantOf, pageItem } from './page-data.ts';
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
  deps: { readonly chains: Chains; readonly origins: readonly string[] },
  draft: HostedPreview,
  stored: PreviewedMerchant,
  acceptLanguage: string | undefined,
): { readonly text: string; readonly policy: string } {
  const language = chooseLanguage(undefined, acceptLanguage);
  const css = styleOfScheme(style + brandStyle(draft.look), draft.scheme);
  const data = previewData(deps.chains, draft, stored, language);
  return {
    text: renderPreview(data, payViewOf(data), { language, css }),
    policy: previewPolicy(css, deps.origins),
  };
}

/**
 * The page is framed by the dashboard alone, and does nothing there: no script, no form, no request but for pictures, and
 * an origin of its own. Pages that take payments are never framed.
 */
function previewPolicy(css: string, origins: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${hashOf(css)}'`,
    `img-src ${origins.join(' ')} data:`,
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
      /@media screen and \(prefers-color-scheme: dark\) \{((?:[^{}]*\{[^{}]*\})*)\s*\}/g,
      scheme === 'dark' ? '$1' : '',
    )
    .replaceAll('color-scheme: light dark', `color-scheme: ${scheme}`);
}

function previewData(
  chains: Chains,
  draft: HostedPreview,
  { front, products }: PreviewedMerchant,
  language: Language,
): PageData {
  const options = previewOptions(chains, draft);
  const { linkName } = merchantTextLimits;
  return {
    ...{ locale: language.tag, texts: language.texts, agentApi: '', linkUrl: '' },
    title: merchantText(draft.title, linkName),
    ...previewedMerchant(draft, front),
    items: draft.items.map(({ productId, name, quantity, value }) => {
      const named = { productName: name, productDescription: '', imageUrl: '', attributes: [] };
      return pageItem({ quantity, productData: products.get(productId)?.productData ?? named }, value);
    }),
    ...{ amount: draft.amount, isFeeOnTop: draft.isFeeOnTop, isEmailRequired: draft.isEmailRequired },
    ...{ intendedPayer: '', recipient: '', settlementChainId: '', settledIn: '', explorers: {} },
    ...{ options, drawings: drawingsFor(options) },
    link: { linkId: '', version: '', isCustom: draft.amount === '' },
  };
}

/** The merchant with the draft's look. Links of the page lead nowhere in a preview. */
function previewedMerchant({ look, scheme }: HostedPreview, front: ShownMerchant): PageMerchant {
  const { hasLogo, hasDarkLogo, hasIcon, ...rest } = look;
  const merchant = merchantOf({
    ...{ merchantName: front.merchantName, embedOrigins: [], ...rest },
    logoUrl: hasLogo ? front.logoUrl : '',
    darkLogoUrl: hasDarkLogo ? front.darkLogoUrl : '',
    iconUrl: hasIcon ? front.iconUrl : '',
  });
  return {
    ...merchant,
    scheme: merchant.scheme === 'device' ? scheme : merchant.scheme,
    links: merchant.links.map(({ name }) => ({ name, url: '' })),
  };
}

/** The payment as a payer with a connected wallet sees it. Nothing in it does anything. */
function payViewOf(data: PageData): Tree {
  const wallet = {
    ...{ id: '', rdns: '' },
    name: data.texts.browserWallet,
    icon: '',
    provider: { request: async () => null },
  };
  const payer = `0x${'0'.repeat(40)}`;
  const balances = Object.fromEntries(
    data.options.map(({ tokenId, decimals }) => [tokenId, (1_000n * 10n ** BigInt(decimals)).toString()]),
  );
  const model = { ...initialModel(data), wallets: [wallet], wallet, payer, balances };
  return payView(model, noActions, 0, amountView(model, noActions));
}

/** The token of the settlement and the first others, each for the draft's amount. */
function previewOptions(
  { tokens, byId }: Chains,
  { isFeeOnTop, settlementToken, ...draft }: HostedPreview,
): CheckoutOption[] {
  const amount = isFeeOnTop ? '' : draft.amount;
  const first = tokens.filter(({ tokenId }) => tokenId === settlementToken);
  const others = tokens.filter(({ tokenId }) => tokenId !== settlementToken);
  return [...first, ...others].slice(0, shownOptions).flatMap(({ tokenId, symbol, decimals, chainId }) => {
    const chain = byId(chainId);
    if (chain === undefined) return [];
    const units = amount === '' ? 0n : BigInt(amount) * 10n ** BigInt(decimals - 6);
    return {
      ...{ tokenId, symbol, decimals },
      ...{ chainId: chainId.toString(), chainTitle: networkTitle(chain) },
      ...{ amountInToken: units.toString(), total: amount === '' ? '0' : amount, fee: '0' },
      ...{ status: 'available' as const, secondsToFinal: 0 },
    };
  });
}
