import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { Texts } from '../text/en.ts';

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

/** The data that the page shows and its script starts from. It contains no secrets. */
export interface CheckoutData {
  readonly locale: string;
  readonly texts: Texts;
  /** Path of the AI protocol on this origin, which receives paying signatures. */
  readonly agentApi: string;
  /** The link, before a session begins. */
  readonly link?: { readonly linkId: string; readonly version: string; readonly isCustom: boolean };
  readonly state?: CheckoutState;
  /** Where to start again after an expired session; empty when there is no such place. */
  readonly linkUrl: string;
  readonly title: string;
  /** The merchant's logo, hosted here, for displays of two densities. */
  readonly logo?: { readonly url: string; readonly dense: string } | undefined;
  readonly merchant: string;
  readonly items: readonly PageItem[];
  /** Price in Micro-USD; empty until the payer chooses it. */
  readonly amount: string;
  /**
   * The range that the payer may choose from over all tokens, in US dollars, without a fee on top. Absent where there
   * is no choice.
   */
  readonly minAmountInUSD?: string;
  readonly maxAmountInUSD?: string;
  readonly isFeeOnTop: boolean;
  readonly isEmailRequired: boolean;
  /** The only wallet that may pay; empty: any. */
  readonly intendedPayer: string;
  readonly recipient: string;
  /** The settlement token's id, and its display name. */
  readonly settlementToken: string;
  readonly settledIn: string;
  readonly options: readonly CheckoutOption[];
  /** The least total in Micro-USD that a plain transfer can pay; absent where none can. */
  readonly minDeposit?: string | undefined;
  /** Local worlds: a wallet for visitors without one, whose key is not in the browser. */
  readonly demoPayer?: string | undefined;
}
