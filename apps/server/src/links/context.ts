import type { Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { LinkPrice } from './link-terms.ts';

/** This room's dependencies on the process that it runs in. */
export interface LinkContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  /** Whether any route takes this price. Routes and fees belong to the room orders. */
  readonly isPayable: (price: LinkPrice) => boolean;
}
