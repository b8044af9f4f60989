import type { Chains } from '#chains/chain.ts';
import type { FeeRates } from '#orders/quote.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { Notify } from '#webhooks/outbox.ts';
import type { StoredSession } from './stored-session.ts';
import type { TermsReader } from './terms-reader.ts';

/** What this room needs of the process that it runs in. */
export interface SessionContext {
  readonly clock: Clock;
  readonly random: Random;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  readonly chains: Chains;
  readonly rates: FeeRates;
  /** Looks up accounts and products for many requests together; alone when absent. */
  readonly termsReader?: TermsReader | undefined;
  readonly notify?: Notify | undefined;
  /** Called after each move, for measurements; its transaction may still roll back. */
  readonly onMove?: ((moved: StoredSession) => void) | undefined;
}

/** What a move of a session needs. Other rooms move sessions, too. */
export type SessionMoveContext = Pick<SessionContext, 'clock' | 'random' | 'origin' | 'notify' | 'onMove'>;
