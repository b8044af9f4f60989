import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { ClaimTexts } from '../text/claim/en.ts';
import type { Texts } from '../text/en.ts';

/** Words that this page shares with the hosted page. */
export type SharedTexts = Pick<
  Texts,
  | 'whyUnderpaid'
  | 'whyOverpaid'
  | 'whyLate'
  | 'whyWrongToken'
  | 'whyDuplicate'
  | 'goesBack'
  | 'wentBack'
  | 'heldBack'
  | 'byHand'
  | 'heldByHand'
  | 'goesLater'
  | 'secondPaid'
  | 'takenTwice'
  | 'closed'
  | 'noWallet'
  | 'rejected'
  | 'walletBusy'
  | 'wrongNetwork'
  | 'disconnected'
  | 'unseen'
  | 'reverted'
  | 'refundWrong'
  | 'browserWallet'
  | 'returnTx'
  | 'explorer'
  | 'inDoubtElsewhere'
>;

/** Money that reached an address and did not pay, and its outcome. */
export interface ClaimedMoney {
  readonly kind: 'underpaid' | 'overpaid' | 'late' | 'wrong_token' | 'duplicate';
  readonly symbol: string;
  readonly decimals: number;
  /** In units of the token. */
  readonly amount: string;
  readonly outcome: CheckoutState['exceptions'][number]['outcome'];
  /** While it waits, in Unix seconds; else 0. */
  readonly until: number;
  /** The transaction that gave it back. */
  readonly tx?: string;
}

/** Money at an address of a session that still waits for its payment. */
export interface ArrivedMoney {
  readonly symbol: string;
  readonly decimals: number;
  /** In units of the token. */
  readonly amount: string;
  /** What is missing; 0 where it is enough. */
  readonly missing: string;
  /** Unix seconds: until then the rest counts. */
  readonly payUntil: number;
  /** What becomes of it when it does not become the payment. */
  readonly outcome: ClaimedMoney['outcome'];
  /** Unix seconds: until then the merchant may accept it; else 0. */
  readonly until: number;
}

/** The facts with which a wallet reaches a chain. */
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
  /** Both are shortened, until the page has read them with the session's secret. */
  readonly address: string;
  readonly refundAddress: string;
  /** Whether it was asked for without the session's secret, so that it need not be of the secret's owner. */
  readonly isUnproven: boolean;
  /** The configured tokens of its chain. */
  readonly tokens: readonly { readonly symbol: string; readonly address: string }[];
  readonly money: readonly ClaimedMoney[];
  readonly arrived?: ArrivedMoney | undefined;
}

/** An unsettled payment, which its payer can reclaim in the end. */
export interface Reclaimable extends ClaimNetwork {
  readonly orderId: string;
  /** Shortened. */
  readonly payer: string;
  /** The chain's token, for the request. */
  readonly token: string;
  /** Unix seconds. */
  readonly from: number;
}

/** The data of the page about money to return. It contains no secrets. */
export interface ClaimData {
  readonly locale: string;
  readonly words: ClaimTexts;
  readonly texts: SharedTexts;
  readonly sessionId: string;
  readonly title: string;
  /** `?lang=…`, or empty. */
  readonly query: string;
  /** Whether a payment or a part of it may no longer count. */
  readonly isInDoubt: boolean;
  readonly places: readonly ClaimPlace[];
  /** The smallest amount that the service sends back, in Micro-USD; absent where it sends nothing. */
  readonly least?: string | undefined;
  readonly reclaimable?: Reclaimable | undefined;
}

/** The chain's coin, in the gateway's notation. */
export const coinAddress = '0x0000000000000000000000000000000000000000';
