import type { CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { ClaimTexts } from '../text/claim.ts';
import type { Texts } from '../text/en.ts';

/** Words that this page shares with the hosted page. */
export type SharedTexts = Pick<
  Texts,
  | 'whyUnderpaid'
  | 'whyOverpaid'
  | 'whyLate'
  | 'whyWrongToken'
  | 'whyDuplicate'
  | 'noWallet'
  | 'rejected'
  | 'wrongNetwork'
  | 'wrongPayer'
  | 'failed'
  | 'reverted'
  | 'refundWrong'
  | 'browserWallet'
>;

/** What came to an address and did not pay, and what becomes of it. */
export interface ClaimedMoney {
  readonly kind: 'underpaid' | 'overpaid' | 'late' | 'wrong_token' | 'duplicate';
  readonly symbol: string;
  readonly decimals: number;
  /** In units of the token. */
  readonly amount: string;
  readonly outcome: CheckoutState['exceptions'][number]['outcome'] | 'accepted';
  /** While it waits, in Unix seconds; else 0. */
  readonly until: number;
}

/** What a wallet needs in order to come to a chain. */
export interface ClaimNetwork {
  readonly chainId: string;
  readonly chainTitle: string;
  readonly network?: {
    readonly rpcUrl: string;
    readonly explorer: string;
    readonly currency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  };
}

/** One deposit address of the session. */
export interface ClaimPlace extends ClaimNetwork {
  readonly orderId: string;
  readonly address: string;
  readonly refundAddress: string;
  /** The tokens that are configured on its chain. */
  readonly tokens: readonly { readonly symbol: string; readonly address: string }[];
  readonly money: readonly ClaimedMoney[];
}

/** A payment that is not settled: its payer can take it back in the end. */
export interface Reclaimable extends ClaimNetwork {
  readonly orderId: string;
  readonly payer: string;
  /** The chain's token: what the call is asked about. */
  readonly token: string;
  /** Unix seconds. */
  readonly from: number;
}

/** All that the page about money that has to go back shows. Nothing in it is secret. */
export interface ClaimData {
  readonly locale: string;
  readonly words: ClaimTexts;
  readonly texts: SharedTexts;
  readonly sessionId: string;
  readonly title: string;
  /** `?lang=…`, or empty. */
  readonly query: string;
  readonly places: readonly ClaimPlace[];
  /** The least that the service sends back by itself, in Micro-USD; absent where it sends nothing. */
  readonly least?: string;
  readonly reclaimable?: Reclaimable;
}

/** The chain's coin, as the gateway names it. */
export const coinAddress = '0x0000000000000000000000000000000000000000';
