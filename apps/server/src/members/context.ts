import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';

/** This room's dependencies on the process that it runs in. */
export interface MemberContext {
  readonly clock: Clock;
  readonly random: Random;
}
