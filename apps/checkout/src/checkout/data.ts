import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { Texts } from '../text/en.ts';

/** A line item as the page shows it. */
export interface PageItem {
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
  readonly quantity: number;
  /** Micro-USD of all of them; empty when the payer chooses. */
  readonly value: string;
  readonly image?: { readonly url: string; readonly dense: string };
}

/** All that the page shows and its script starts from. Nothing in it is secret. */
export interface CheckoutData {
  readonly locale: string;
  readonly texts: Texts;
  /** Where the AI protocol answers on this origin: a signature that pays goes there. */
  readonly agentApi: string;
  /** The link, while no session has begun. */
  readonly link?: { readonly linkId: string; readonly version: string; readonly isCustom: boolean };
  readonly state?: CheckoutState;
  /** Where to begin anew after an expired session; empty when there is no such place. */
  readonly linkUrl: string;
  readonly title: string;
  /** The merchant's logo, hosted here, for displays of two densities. */
  readonly logo?: { readonly url: string; readonly dense: string };
  readonly merchant: string;
  readonly items: readonly PageItem[];
  /** Price in Micro-USD; empty when the payer has still to choose. */
  readonly amount: string;
  /** What the payer may choose, over all tokens, in US dollars; a fee on top comes besides. Absent where nothing is chosen. */
  readonly minAmountInUSD?: string;
  readonly maxAmountInUSD?: string;
  readonly isFeeOnTop: boolean;
  readonly isEmailRequired: boolean;
  /** The only wallet that may pay; empty: any. */
  readonly intendedPayer: string;
  readonly recipient: string;
  /** The settlement token's id, and its name for people. */
  readonly settlementToken: string;
  readonly settledIn: string;
  readonly options: readonly CheckoutOption[];
  /** The least total in Micro-USD that can be paid by a plain transfer; absent where nothing can. */
  readonly minDeposit?: string;
  /** Local worlds: a wallet without a key in the browser, for those who have none. */
  readonly demoPayer?: string;
}
