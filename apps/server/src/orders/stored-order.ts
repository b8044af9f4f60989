import type { FeeModel, PaymentAmounts } from '@florin/protocol/fee.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';

/** What a session says of its orders: who is paid how much, and until when. */
export interface SessionTerms {
  readonly sessionId: string;
  readonly merchantId: string;
  /** The link's id for sessions begun from a link, else empty. */
  readonly businessId: string;
  readonly accountId: string;
  /** The merchant's settlement wallet, as it was when the session was created. */
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

/** An order that the service has signed or, for deposits that may be late, signs when it collects them. */
export interface StoredOrder {
  readonly orderId: Hex;
  readonly sessionId: string;
  readonly chainId: number;
  /** The token that the payer pays with. */
  readonly tokenId: string;
  readonly payerEmail: string;
  readonly order: Order;
  /** The contract that takes the payment and settles it; in rows from before it was stored, empty. */
  readonly gateway: Hex | '';
  /** The vault that pays for it on the settlement chain, and no other ever does; empty when none pays, or as above. */
  readonly payoutVault: Hex | '';
  readonly amounts: PaymentAmounts;
  /** `0x` for orders that are only collected. */
  readonly signature: Hex;
}
