import type { Hex, Order, Payout } from '@florin/protocol/order.ts';

/** The status of an order key, by the numbers of IPaymentGateway. */
export const statuses = { unknown: 0, paid: 1, settled: 2, refunded: 3, reclaimed: 4 } as const;
export type Status = (typeof statuses)[keyof typeof statuses];

export interface OrderSlot {
  readonly orderId: Hex;
  readonly status: Status;
  readonly paidAtSeconds: number;
}

/** What the vault may still pay out in one token, and what it has paid out per hour. */
interface Outflow {
  readonly hour: number;
  readonly inHour: bigint;
  readonly inDay: bigint;
}

export interface Caps {
  readonly perOrder: bigint;
  readonly hourly: bigint;
  readonly daily: bigint;
}

/** The storage of one chain's contracts and tokens. Immutable: each call returns a new state. */
export interface ContractState {
  /** By metaData, the single-use key of a session. */
  readonly slots: ReadonlyMap<Hex, OrderSlot>;
  /** By order, the amount that its merchant refunded after the settlement. */
  readonly refunded: ReadonlyMap<Hex, bigint>;
  readonly accruedFees: ReadonlyMap<string, bigint>;
  readonly isPaused: boolean;
  /** State of the vault itself: whether it is paused, and whether the service's keys have lost their roles. */
  readonly isVaultPaused: boolean;
  readonly isVaultSignerRemoved: boolean;
  readonly isVaultSettlerRemoved: boolean;
  readonly paidOut: ReadonlySet<Hex>;
  readonly caps: ReadonlyMap<string, Caps>;
  readonly outflows: ReadonlyMap<string, Outflow>;
  /** Token balances by `<holder>:<token>`, lower case. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** By `<owner>:<spender>:<token>`. */
  readonly allowances: ReadonlyMap<string, bigint>;
  /** `<holder>:<token>` where the token blocks the holder. */
  readonly blocked: ReadonlySet<string>;
  /** `<payer>:<nonce>` of used authorizations and permits. */
  readonly usedNonces: ReadonlySet<string>;
  /** CCTP messages that were delivered on this chain. */
  readonly received: ReadonlySet<Hex>;
}

export const emptyState: ContractState = {
  slots: new Map(),
  refunded: new Map(),
  accruedFees: new Map(),
  isPaused: false,
  isVaultPaused: false,
  isVaultSignerRemoved: false,
  isVaultSettlerRemoved: false,
  paidOut: new Set(),
  caps: new Map(),
  outflows: new Map(),
  balances: new Map(),
  allowances: new Map(),
  blocked: new Set(),
  usedNonces: new Set(),
  received: new Set(),
};

/** One log of a call, without its position in a block. */
export interface ModelLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly name: string;
  /** Zero if the event has no order. */
  readonly orderId: Hex;
}

/** The CCTP contracts of one chain. */
export interface CircleContext {
  readonly domain: number;
  readonly transmitter: Hex;
  readonly messenger: Hex;
  readonly route: Hex;
  readonly token: Hex;
  /** Circle's domain number of each chain. */
  readonly domains: ReadonlyMap<bigint, number>;
  readonly burnLimit: bigint;
}

/** A payer's consent as the gateway receives it. */
export interface PayerConsent {
  readonly method: 'eip3009' | 'permit2';
  readonly orderId: Hex;
  readonly order: Order;
  /** The nonce of the token or of Permit2. */
  readonly nonce: bigint;
  readonly signature: Hex;
}

/** Location, time and roles of a call. */
export interface CallContext {
  readonly chainId: number;
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly orderSigner: Hex;
  readonly settler: Hex;
  /** Further addresses with the right to settle. */
  readonly otherSettlers: readonly Hex[];
  readonly admin: Hex;
  /** May pause payments, but not resume them. */
  readonly guardian: Hex;
  readonly feeRecipient: Hex;
  /** A contract that makes several calls in one transaction for any caller (`batch.ts`). */
  readonly batcher: Hex;
  readonly tokens: readonly Hex[];
  readonly circle: CircleContext | undefined;
  readonly timeSeconds: number;
  /**
   * The least time between an order's `payBy` and its `reclaimAt`: two days in the contract. Histories last minutes, so
   * those in which orders become reclaimable have less, which may be negative.
   */
  readonly leastSecondsToSettle: number;
  /** For how long after a payment only settlers settle it: a day in the contract. */
  readonly settlersOnlySeconds: number;
  /** False where a seeded bug allows an order to settle twice. */
  readonly isIdempotent: boolean;
  /** Holders that have the tokens they pay and have approved them. */
  readonly hasUnlimitedTokens: (holder: string) => boolean;
  readonly isOrderSigned: (orderId: Hex, order: Order, signature: Hex) => boolean;
  readonly isPayoutSigned: (payout: Payout, signature: Hex) => boolean;
  /** Whether the payer's signature allows the gateway to take this order's total. */
  readonly isConsentSigned: (consent: PayerConsent) => boolean;
}

export interface Call {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** The result of a call. A reverted call changed nothing and carries the name of its error. */
export type CallResult =
  | { readonly state: ContractState; readonly logs: readonly ModelLog[] }
  | { readonly reverted: string };

/** Thrown inside the model where a contract reverts. */
export class Reverted extends Error {
  override readonly name = 'Reverted';
}

/** A call in progress, with its changes and logs so far. */
export interface CallInProgress {
  readonly context: CallContext;
  readonly from: Hex;
  state: ContractState;
  readonly logs: ModelLog[];
}

export function isSettler({ settler, otherSettlers }: CallContext, address: Hex): boolean {
  return [settler, ...otherSettlers].some((each) => each.toLowerCase() === address.toLowerCase());
}

export function balanceKey(holder: string, token: string): string {
  return `${holder.toLowerCase()}:${token.toLowerCase()}`;
}

export function balanceOf(state: ContractState, holder: string, token: string): bigint {
  return state.balances.get(balanceKey(holder, token)) ?? 0n;
}

/** The state after a holder received tokens from outside the model. */
export function funded(state: ContractState, holder: string, token: Hex, amount: bigint): ContractState {
  const balances = new Map(state.balances);
  balances.set(balanceKey(holder, token), balanceOf(state, holder, token) + amount);
  return { ...state, balances };
}
