import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { ScriptTexts } from '../text/script-texts.ts';

/** The logos of tokens and networks that the page has a drawing of. */
export interface Drawings {
  /** Path of the picture that shows one for `#<key>`, and every wallet app. */
  readonly file: string;
  readonly keys: readonly string[];
}

/** The data that the page's script starts from. It contains no secrets. */
export interface CheckoutData {
  readonly locale: string;
  readonly texts: ScriptTexts;
  /** Path of the AI protocol on this origin, which receives paying signatures. */
  readonly agentApi: string;
  readonly drawings: Drawings;
  /** The link, before a session begins. */
  readonly link?: {
    readonly linkId: string;
    readonly version: string;
    readonly isCustom: boolean;
    /** The way back to the shop. */
    readonly cancelUrl?: string;
  };
  readonly state?: CheckoutState;
  readonly title: string;
  /** Price in Micro-USD; empty until the payer chooses it. */
  readonly amount: string;
  readonly isFeeOnTop: boolean;
  readonly isEmailRequired: boolean;
  /** What else the e-mail address is for, in words; absent where nothing is. */
  readonly emailHint?: string | undefined;
  /** The only wallet that may pay; empty: any. */
  readonly intendedPayer: string;
  readonly options: readonly CheckoutOption[];
  /** The least total in Micro-USD that a plain transfer can pay; absent where none can. */
  readonly minDeposit?: string | undefined;
  /**
   * Where payers get tokens, with places for the wallet's `{ADDRESS}`, the `{TOKEN}`, its `{CHAIN_ID}` and the missing `{AMOUNT}`;
   * absent where the operator names none.
   */
  readonly fundingUrl?: string | undefined;
  /** The listed origin of the shop's page that opened or frames this one; absent where there is none. */
  readonly shop?: string | undefined;
}

/** The same, with the service's time when it rendered the page, in Unix seconds. */
export interface ScriptData extends CheckoutData {
  readonly now: number;
}
