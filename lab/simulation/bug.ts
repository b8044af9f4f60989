import type { FinalityPolicy } from '@florin/server/parts';
import type { ChainModel } from './chain-model.ts';
import type { FaultRates } from './faults.ts';
import type { Scenario } from './scenario.ts';
import type { Wiring } from './service-model.ts';

/**
 * A plausible programming mistake that the simulation must catch. The wiring makes mistakes of wiring; patches of the
 * source make the others.
 */
export interface Bug {
  readonly finality?: FinalityPolicy;
  readonly isChainIdempotent?: boolean;
  /** Statements that run after the commit of their transaction. */
  readonly lateStatements?: readonly string[];
  readonly wiring?: (chains: readonly ChainModel[]) => Partial<Wiring>;
  /** Faults without which the bug does no harm. Every history with this bug has them. */
  readonly faults?: readonly (keyof FaultRates)[];
  /** The violation that counts as catching the bug. Absent: any violation counts. */
  readonly expectedViolation?: RegExp;
  /** Whether its histories have no other faults, because the bug needs many steps in a row. */
  readonly hasNoOtherFaults?: boolean;
  /** Adjusts the scenario where other scenarios seldom reach the bug. */
  readonly scenario?: (scenario: Scenario) => Scenario;
}
