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
  /** How long after the deadline an unsettled payment goes back to its payer, in seconds; as usual when undefined. */
  readonly reclaimAfterSeconds: number | undefined;
  /** For accounts without a mode of their own; escrow when absent. */
  readonly settlementMode?: SettlementMode | undefined;
  /** Payable orders of one session; no limit when absent. */
  readonly orderLimits?: OrderLimits | undefined;
  /**
   * Absent where deposit addresses are not watched. Without a policy, a deposit that is short or late goes back.
   */
  readonly gasless?: { readonly deposits?: DepositPolicy | undefined } | undefined;
}

/** How many orders of one session may be payable at a time: from one client network, and in total. */
export interface OrderLimits {
  readonly ofNetwork: number;
  readonly inAll: number;
}

/** What applies to deposits of links without a policy of their own, and the most that the operator adds. */
export interface DepositPolicy {
  readonly underpaidPpm: number;
  /** Micro-USD; undefined: only the share counts. */
  readonly underpaidAmount: MicroUsd | undefined;
  readonly latePayment: LatePayment;
  readonly lateHours: number;
  /** What the operator adds to a short deposit besides the order's own fee, in Micro-USD. */
  readonly addedAboveFee: MicroUsd;
  /** What the operator adds to all short deposits of 24 hours together, in Micro-USD. */
  readonly addedPerDay: MicroUsd;
}

/** A payer's request for an order of one session in one token. */
export interface OrderRequest {
  /** Locked by the caller. */
  readonly session: SessionTerms;
  /** Checksummed. */
  readonly payer: Hex;
  /** Empty when not given; never goes on chain. */
  readonly payerEmail: string;
  /**
   * What shows that the owner of the session or of the payer's wallet asks; absent: whoever has the page's URL may. A
   * proven request replaces the e-mail address of an order that is there already.
   */
  readonly proof?: 'secret' | 'signature' | undefined;
  readonly token: Token;
  /** When the order ends, in Unix seconds; the session's end when absent. */
  readonly endsAt?: number | undefined;
  /** The client network that asks for it, if it counts against that network's limit. */
  readonly network?: string | undefined;
  /** The language of the payer's page, as a BCP 47 tag, for e-mails. */
  readonly language?: string | undefined;
  /** How long after the order's end a block may still have the payment, in seconds; 0 when absent. */
  readonly lateSeconds?: number;
  /** When absent, the merchant's account decides for a signed order, and a draft is held in escrow. */
  readonly settlementMode?: SettlementMode | undefined;
}
