import type { FinalityPolicy } from '@florin/server/parts';
import type { ChainModel } from './chain-model.ts';
import type { FaultRates } from './faults.ts';
import type { Wiring } from './service-model.ts';
import type { Story } from './story.ts';

/**
 * A mistake that a programmer could make. The simulation must catch it. It is made by the wiring where it would be a
 * mistake of wiring, otherwise by a patch of the source.
 */
export interface Bug {
  readonly finality?: FinalityPolicy;
  readonly isChainIdempotent?: boolean;
  /** Statements that run after the commit of their transaction. */
  readonly lateStatements?: readonly string[];
  readonly wiring?: (chains: readonly ChainModel[]) => Partial<Wiring>;
  /** Faults without which it does no harm; every history with this bug has them. */
  readonly faults?: readonly (keyof FaultRates)[];
  /** What it has to do for a history to count as one that caught it; anything that is violated when absent. */
  readonly harm?: RegExp;
  /** Whether nothing else goes wrong in its histories: what it needs takes too many steps in a row. */
  readonly isQuietOtherwise?: boolean;
  /** What its histories are about, where others seldom come to it. */
  readonly story?: (story: Story) => Story;
}
