import type { ExceptionPolicy } from '@florin/protocol/exception-policy.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import type { LinkDisabledReason } from '@florin/protocol/link.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { ShopReturn } from '@florin/protocol/shop-return.ts';
import type { AccountStatus } from '#merchants/account.machine.ts';

/** A payment link with its account, its current products and its version. */
export interface StoredLink extends ShopReturn {
  readonly linkId: string;
  readonly merchantId: string;
  readonly linkType: 'fixed' | 'custom';
  readonly linkName: string;
  readonly account: {
    readonly accountId: string;
    readonly accountName: string;
    readonly accountAddress: Hex;
    readonly version: string;
    readonly status: AccountStatus;
  };
  readonly settlementToken: string;
  readonly feeModel: FeeModel;
  /** Sum of the items; 0 for custom links. */
  readonly amount: MicroUsd;
  readonly payerEmailRequired: boolean;
  readonly successUrl: string;
  readonly customSuccessText: string;
  readonly customDisabledText: string;
  /** Undefined where the configuration decides. */
  readonly exceptionPolicy?: ExceptionPolicy | undefined;
  /** At so many final payments the link is disabled. */
  readonly maxPayments?: number | undefined;
  /** Final payments so far. */
  readonly paymentCount: bigint;
  /** From then on the link is disabled. */
  readonly activeUntil?: Date | undefined;
  /** At the time of the read: a link that has just ended is disabled, although no event says so yet. */
  readonly status: 'active' | 'disabled' | 'deleted';
  /** Present while the link is disabled. */
  readonly disabledReason?: LinkDisabledReason | undefined;
  /** Content address of everything that the payer agrees to: `ver_` and 22 base62. */
  readonly versionCode: string;
  /** In order, each with productData. */
  readonly items: readonly LineItem[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
