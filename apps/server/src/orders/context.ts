import type { LatePayment } from '@florin/protocol/exception-policy.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex, SettlementMode } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import type { FeeRates } from './quote.ts';
import type { OrderSigner } from './signer.ts';
import type { SessionTerms } from './stored-order.ts';

/** What this room needs of the process that it runs in. */
export interface OrderContext {
  readonly clock: Clock;
  readonly chains: Chains;
  readonly rates: FeeRates;
  readonly signer: OrderSigner;
  /** How long after the deadline the payer may take an unsettled payment back, in seconds. */
  readonly reclaimAfterSeconds: number;
  /** For accounts that say nothing; escrow when absent. */
  readonly settlementMode?: SettlementMode;
  /** Payable orders of a session; any number when absent. */
  readonly orderLimits?: OrderLimits;
  /** Absent where deposit addresses are not watched. Without a policy a deposit pays in full and in time, or goes back. */
  readonly gasless?: { readonly deposits?: DepositPolicy | undefined };
}

/** How many orders of one session may be payable at a time: prepared from one client network, and in all. */
export interface OrderLimits {
  readonly ofNetwork: number;
  readonly inAll: number;
}

/** What holds for deposits where a link says nothing, and what the operator adds at the most. */
export interface DepositPolicy {
  readonly underpaidPpm: number;
  /** Micro-USD; undefined: the share alone counts. */
  readonly underpaidAmount: MicroUsd | undefined;
  readonly latePayment: LatePayment;
  readonly lateHours: number;
  /** What the operator adds to a short deposit besides the order's own fee, in Micro-USD. */
  readonly addedAboveFee: MicroUsd;
  /** What the operator adds to all short deposits of 24 hours together, in Micro-USD. */
  readonly addedPerDay: MicroUsd;
}

/** What a payer asks for: an order of one session in one token. */
export interface OrderRequest {
  /** Locked by the caller. */
  readonly session: SessionTerms;
  /** Checksummed. */
  readonly payer: Hex;
  /** Empty when not given; never goes on chain. */
  readonly payerEmail: string;
  readonly token: Token;
  /** When the order ends, in Unix seconds; with the session when absent. */
  readonly endsAt?: number;
  /** The client network that has it prepared, where it counts for one. */
  readonly network?: string;
  /** How long after the order's end a block may still carry the payment, in seconds; 0 when absent. */
  readonly lateSeconds?: number;
  /** When absent, an order that is signed goes by the merchant's account, and one that is only drafted is held. */
  readonly settlementMode?: SettlementMode;
}
