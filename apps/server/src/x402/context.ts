import type { Rpc } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { AuthorizationContext } from '#authorizations/context.ts';
import type { SubmissionContext } from '#submissions/context.ts';
import type { PaymentRow } from './payment.sql.ts';

/** What this room needs of the process that it runs in. It includes the context of submissions. */
export interface X402Context extends AuthorizationContext {
  readonly gasless: SubmissionContext['gasless'];
  readonly sender: SubmissionContext['sender'];
  readonly db: Database;
  readonly rpcOf: (chainId: number) => Rpc;
  /** The 32-byte key that authenticates offers. */
  readonly offerKey: Uint8Array;
  /** Reads a payment for a request that waits for it; batched with other reads. */
  readonly readPayment: (orderId: string) => Promise<PaymentRow | undefined>;
  /** How long a request waits for its payment to be seen in a block, in milliseconds. */
  readonly waitMs: number;
}
