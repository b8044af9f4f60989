import type { FeeModel, PaymentAmounts } from '@florin/protocol/fee.ts';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';

/** The terms that a session gives its orders: recipient, price and end. */
export interface SessionTerms {
  readonly sessionId: string;
  readonly merchantId: string;
  /** The link's id for sessions begun from a link, else empty. */
  readonly businessId: string;
  readonly accountId: string;
  /** The merchant's settlement wallet when the session was created. */
  readonly recipient: Hex;
  readonly settlementToken: string;
  readonly feeModel: FeeModel;
  readonly amount: MicroUsd;
  readonly metaData: Hex;
  readonly channelId: Hex;
  /** Custom links: the total that the payer chose. */
  readonly chosenTotal: MicroUsd | undefined;
  readonly expirationTime: Date;
  readonly signedOnce: boolean;
  readonly createdAt: Date;
}

/** An order that the service has signed, or signs when it collects a deposit. */
export interface StoredOrder {
  readonly orderId: Hex;
  readonly sessionId: string;
  readonly chainId: number;
  /** The token that the payer pays with. */
  readonly tokenId: string;
  readonly payerEmail: string;
  /** Whether the session's secret came with the request. Who has only the page's URL may have made other orders. */
  readonly withSecret: boolean;
  readonly order: Order;
  /** The contract that takes the payment and settles it; empty in rows from before it was stored. */
  readonly gateway: Hex | '';
  /** The only vault that may pay the merchant on the settlement chain; empty without a payout, and in old rows. */
  readonly payoutVault: Hex | '';
  readonly amounts: PaymentAmounts;
  /** `0x` for orders that only the service pays, by collecting a deposit. */
  readonly signature: Hex;
  /**
   * What the operator added to the order's short deposit, or is adding, in units of the token. 0 for most orders, and for an
   * addition that is not followed any more.
   */
  readonly added: bigint;
}

/**
 * What the payer paid of an order's total in Micro-USD, rounded down: the rest is the operator's addition. No refund that
 * a merchant makes returns more. 0 for an addition that is no part of the total: then the row is false.
 */
export function paidValueOf({
  amounts: { totalValue },
  order: { total },
  added,
}: Pick<StoredOrder, 'amounts' | 'added'> & { readonly order: Pick<Order, 'total'> }): MicroUsd {
  const isPart = total > 0n && added >= 0n && added <= total;
  return isPart ? microUsd((totalValue * (total - added)) / total) : microUsd(0n);
}
