import type { Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import type { Notify } from '#webhooks/outbox.ts';

/** This room's dependencies on the process that it runs in. */
export interface MerchantContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly secrets: SecretBox;
  readonly notify?: Notify | undefined;
}

/** The dependencies of idempotency keys. */
export type IdempotencyContext = Pick<MerchantContext, 'clock' | 'random' | 'secrets'>;
