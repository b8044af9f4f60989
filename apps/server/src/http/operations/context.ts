import type { Database, LaggingReads } from '@florin/pg';
import type { SettlementMode } from '@florin/protocol/order.ts';
import type { ImageIntake } from '#catalog/images/intake.ts';
import type { TokenSigningReader } from '#contracts/token-signing.ts';
import type { TellOwners } from '#members/context.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { SessionContext } from '#sessions/context.ts';
import type { SessionFinder } from '#sessions/session.ts';
import type { SessionInserter } from '#sessions/session-insert.ts';
import type { WebhookContext } from '#webhooks/outbox-context.ts';

/** What the operations need that API keys and members share. */
export interface OperationContext extends SessionContext, WebhookContext {
  /** Always in the caller's scope. */
  readonly db: Pick<Database, 'inScope'>;
  /** Lists, search and sums, where a replica answers them; the primary when absent. */
  readonly lists?: LaggingReads | undefined;
  /** Stores new sessions; many requests may share one commit. */
  readonly insertSession: SessionInserter;
  /** Finds sessions for many concurrent requests; one query each when absent. */
  readonly findSession?: SessionFinder | undefined;
  /** The signature methods of a token; absent where the service sends no payments itself. */
  readonly signingOf?: TokenSigningReader | undefined;
  /** The settlement mode of accounts without their own; escrow when absent. */
  readonly settlementMode?: SettlementMode | undefined;
  /** What the operator adds to short deposits: nothing when undefined. */
  readonly deposits: DepositPolicy | undefined;
  /** Downloads the images that merchants name; without it products have none. */
  readonly images?: ImageIntake | undefined;
  /** Absent where no e-mail is configured. */
  readonly tellOwners?: TellOwners | undefined;
}
