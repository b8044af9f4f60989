import type { Hex, Order, Payout } from '@florin/protocol/order.ts';

/** What became of an order key, by the numbers of IPaymentGateway. */
export const statuses = { unknown: 0, paid: 1, settled: 2, refunded: 3, reclaimed: 4 } as const;
export type Status = (typeof statuses)[keyof typeof statuses];

export interface OrderSlot {
  readonly orderId: Hex;
  readonly status: Status;
}

/** What one token of a chain may still pay out of the vault, and what it has paid in which hour. */
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

/** Everything that the contracts and tokens of one chain have stored. Never changed: a call gives a new one. */
export interface ContractState {
  /** By metaData, the single-use key of a session. */
  readonly slots: ReadonlyMap<Hex, OrderSlot>;
  /** By order, what its merchant has given back after the settlement. */
  readonly refunded: ReadonlyMap<Hex, bigint>;
  readonly accruedFees: ReadonlyMap<string, bigint>;
  readonly isPaused: boolean;
  /** The vault's own: whether it is paused, and whether the service's keys have lost their roles there. */
  readonly isVaultPaused: boolean;
  readonly isVaultSignerOut: boolean;
  readonly isVaultSettlerOut: boolean;
  readonly paidOut: ReadonlySet<Hex>;
  readonly caps: ReadonlyMap<string, Caps>;
  readonly outflows: ReadonlyMap<string, Outflow>;
  /** Token balances by `<holder>:<token>`, lower case. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** By `<owner>:<spender>:<token>`. */
  readonly allowances: ReadonlyMap<string, bigint>;
  /** `<holder>:<token>`, where the token refuses the holder. */
  readonly blocked: ReadonlySet<string>;
  /** `<payer>:<nonce>` of authorizations and permits that were used. */
  readonly usedNonces: ReadonlySet<string>;
  /** Messages of CCTP that were delivered here. */
  readonly received: ReadonlySet<Hex>;
}

export const emptyState: ContractState = {
  slots: new Map(),
  refunded: new Map(),
  accruedFees: new Map(),
  isPaused: false,
  isVaultPaused: false,
  isVaultSignerOut: false,
  isVaultSettlerOut: false,
  paidOut: new Set(),
  caps: new Map(),
  outflows: new Map(),
  balances: new Map(),
  allowances: new Map(),
  blocked: new Set(),
  usedNonces: new Set(),
  received: new Set(),
};

/** One log of a call, without its place in a block. */
export interface ModelLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly name: string;
  /** Zero where the event is about no order. */
  readonly orderId: Hex;
}

/** Circle's contracts as one chain has them. */
export interface CircleContext {
  readonly domain: number;
  readonly transmitter: Hex;
  readonly messenger: Hex;
  readonly route: Hex;
  readonly token: Hex;
  /** By chain, Circle's number of it. */
  readonly domains: ReadonlyMap<bigint, number>;
  readonly burnLimit: bigint;
}

/** A payer's consent as it comes to the gateway. */
export interface GivenConsent {
  readonly method: 'eip3009' | 'permit2';
  readonly orderId: Hex;
  readonly order: Order;
  /** Of the token or of Permit2. */
  readonly nonce: bigint;
  readonly signature: Hex;
}

/** Where and when a call is made, and who has which role. */
export interface CallContext {
  readonly chainId: number;
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly orderSigner: Hex;
  readonly settler: Hex;
  /** Who settles besides. */
  readonly otherSettlers: readonly Hex[];
  readonly admin: Hex;
  /** May pause payments, and not take that back. */
  readonly guardian: Hex;
  readonly feeRecipient: Hex;
  /** A contract that makes several calls in one transaction, whoever asks (`batch.ts`). */
  readonly batcher: Hex;
  readonly tokens: readonly Hex[];
  readonly circle: CircleContext | undefined;
  readonly timeSeconds: number;
  /** False where a seeded bug takes away that an order settles once. */
  readonly isIdempotent: boolean;
  /** Holders who have what they pay, and have approved it. */
  readonly isRich: (holder: string) => boolean;
  readonly isOrderSigned: (orderId: Hex, order: Order, signature: Hex) => boolean;
  readonly isPayoutSigned: (payout: Payout, signature: Hex) => boolean;
  /** Whether the payer has signed that the gateway may take this order's total. */
  readonly isConsentSigned: (consent: GivenConsent) => boolean;
}

export interface Call {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** What a call did. One that reverted changed nothing; by the name of its error. */
export type CallResult =
  | { readonly state: ContractState; readonly logs: readonly ModelLog[] }
  | { readonly reverted: string };

/** Thrown within the model where a contract reverts. */
export class Reverted extends Error {
  override readonly name = 'Reverted';
}

/** A call under way: what it has changed and logged so far. */
export interface Running {
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

/** The state with more of a token in a holder's hands, from outside the model. */
export function funded(state: ContractState, holder: string, token: Hex, amount: bigint): ContractState {
  const balances = new Map(state.balances);
  balances.set(balanceKey(holder, token), balanceOf(state, holder, token) + amount);
  return { ...state, balances };
}
