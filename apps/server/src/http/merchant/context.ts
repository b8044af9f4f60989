import type { Database } from '@florin/pg';
import type { SettlementMode } from '@florin/protocol/order.ts';
import type { ImageIntake } from '#catalog/images/intake.ts';
import type { TokenSigningReader } from '#contracts/token-signing.ts';
import type { ApiKeyLookup } from '#merchants/api-key.ts';
import type { KeyUseRecorder } from '#merchants/api-key-limits.ts';
import type { SessionContext } from '#sessions/context.ts';
import type { SessionFinder } from '#sessions/session.ts';
import type { SessionInserter } from '#sessions/session-insert.ts';
import type { WebhookContext } from '#webhooks/outbox-context.ts';
import type { RateLimits } from '../rate-limit.ts';

/** What the merchant API needs of the process that serves it. */
export interface MerchantDoorContext extends SessionContext, WebhookContext {
  /** Always in the caller's scope. The functions below provide the facts needed before the caller is known. */
  readonly db: Pick<Database, 'inScope'>;
  readonly lookupApiKey: ApiKeyLookup;
  /** Whether any valid key lists a web origin; none is listed when absent. */
  readonly isOriginListed?: ((origin: string) => Promise<boolean>) | undefined;
  /** Stores new sessions; many requests may share one commit. */
  readonly insertSession: SessionInserter;
  /** Finds sessions for many concurrent requests; one query each when absent. */
  readonly findSession?: SessionFinder | undefined;
  /** The signature methods of a token; absent where the service sends no payments itself. */
  readonly signingOf?: TokenSigningReader | undefined;
  /** The settlement mode of accounts without their own; escrow when absent. */
  readonly settlementMode?: SettlementMode | undefined;
  /** Downloads the images that merchants name; without it products have none. */
  readonly images?: ImageIntake | undefined;
  /** The callers' rate limits; unlimited when absent. */
  readonly rateLimits?: RateLimits | undefined;
  /** Gets every used key; requests do not wait for it. */
  readonly recordKeyUse?: KeyUseRecorder | undefined;
}
