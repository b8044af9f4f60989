import type { Model } from './model.ts';

/** The page's interface for its parts. */
export interface Page {
  readonly model: Model;
  change(part: Partial<Model>): void;
  /** Follows the session from now on, with the model's own deposit address. */
  followSession?: () => void;
  /** Reads the session's present state at once. */
  readState?: () => Promise<void>;
}

/** A failure with words for the payer; empty where the session's state is explanation enough. */
export class ExplainedFailure extends Error {}
