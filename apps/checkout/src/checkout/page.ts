import type { Model } from './model.ts';

/** The page as its parts see it. */
export interface Page {
  readonly model: Model;
  change(part: Partial<Model>): void;
  followSession?: () => void;
}

/** A failure that the page has words for; empty where the state of the session says it all. */
export class Told extends Error {}
