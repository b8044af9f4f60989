import type { LinkDraft } from './link-draft.ts';

/** What each part of the form of a link gets. */
export interface LinkPartProps {
  readonly draft: LinkDraft;
  readonly change: (changed: Partial<LinkDraft>) => void;
  /** By the row's key and the field. */
  readonly faults: Readonly<Record<string, string>>;
  readonly error: unknown;
}
