import type { CheckoutData, ScriptData } from '../checkout/data.ts';
import type { Texts } from '../text/en.ts';
import { scriptTexts } from '../text/script-texts.ts';

/** A line item as the page shows it. */
export interface PageItem {
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
  readonly quantity: number;
  /** Total of all units in Micro-USD; empty when the payer chooses. */
  readonly value: string;
  readonly image?: { readonly url: string; readonly dense: string };
}

/** An image hosted here, for displays of two densities. */
export interface PageImage {
  readonly url: string;
  readonly dense: string;
}

/** The merchant as payers see it. */
export interface PageMerchant {
  readonly merchant: string;
  /** The name as in contracts; the merchant's name where none is known. */
  readonly legalName: string;
  readonly logo?: PageImage | undefined;
  /** For dark backgrounds. */
  readonly darkLogo?: PageImage | undefined;
  /** Square. */
  readonly icon?: PageImage | undefined;
  /** Whether the background behind the order is light or dark; `device`: as the reader's device prefers. */
  readonly scheme: 'light' | 'dark' | 'device';
  /** The merchant's pages; without a URL they are only named. */
  readonly links: readonly {
    readonly name: 'support' | 'terms' | 'refunds' | 'privacy';
    readonly url: string;
  }[];
}

/** Everything that the page shows. The server renders it; the script gets what it needs of it. */
export interface PageData extends CheckoutData, PageMerchant {
  readonly texts: Texts;
  readonly items: readonly PageItem[];
  /** In words: the range that the payer may choose from over all tokens, without a fee on top. Absent where there is no choice. */
  readonly bounds?: string;
  /** Where to start again after an expired session; empty when there is no such place. */
  readonly linkUrl: string;
  readonly recipient: string;
  /** The chain of the settlement, and the token's display name; the chain is empty where it is not configured. */
  readonly settlementChainId: string;
  readonly settledIn: string;
  /** Base URLs of explorers by chainId, without a slash at the end; absent where none is known. */
  readonly explorers: Readonly<Record<string, string>>;
}

/** The part of a page's data that its script needs; `now` is in Unix seconds. */
export function scriptData(data: PageData, now: number): ScriptData {
  const {
    merchant: _m,
    legalName: _n,
    logo: _l,
    darkLogo: _d,
    icon: _c,
    scheme: _h,
    links: _k,
    ...page
  } = data;
  const {
    items: _i,
    bounds: _b,
    linkUrl: _u,
    recipient: _r,
    settlementChainId: _t,
    settledIn: _s,
    explorers: _e,
    texts,
    ...script
  } = page;
  const has = {
    hasAmount: data.link?.isCustom === true,
    hasEmail: data.isEmailRequired,
    isOfAgent: data.intendedPayer !== '',
  };
  return { ...script, now, texts: scriptTexts(texts, has) };
}

/** What a page's time depends on. */
export interface Reader {
  /** Unix seconds. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
}
