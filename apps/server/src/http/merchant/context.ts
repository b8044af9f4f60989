import type { ApiKeyLookup } from '#merchants/api-key.ts';
import type { KeyUseRecorder } from '#merchants/api-key-limits.ts';
import type { OperationContext } from '../operations/context.ts';
import type { Limits } from '../rate-limit.ts';

/** What the merchant API needs of the process that serves it. */
export interface MerchantDoorContext extends OperationContext {
  readonly lookupApiKey: ApiKeyLookup;
  /** Whether any valid key lists a web origin; none is listed when absent. */
  readonly isOriginListed?: ((origin: string) => Promise<boolean>) | undefined;
  /** The callers' rate limits; unlimited when absent. */
  readonly limits?: Limits | undefined;
  /** Gets every used key; requests do not wait for it. */
  readonly recordKeyUse?: KeyUseRecorder | undefined;
}
