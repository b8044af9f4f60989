/**
 * One page of the documentation, independent of its output format. Texts are inline Markdown: `code`, **strong** and
 * [links](/docs) whose targets are site paths or absolute URLs.
 */
export interface DocsPage {
  /** Its URL path, such as `/docs/errors/100101`. */
  readonly path: string;
  readonly title: string;
  /** One sentence about the page's content. */
  readonly summary: string;
  /** The index heading that lists it. */
  readonly section: DocsSection;
  readonly blocks: readonly Block[];
}

export type DocsSection = 'Guides' | 'API' | 'Concepts' | 'Contracts' | 'Errors';

export type Block =
  | { readonly kind: 'heading'; readonly level: 2 | 3; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[]; readonly isOrdered: boolean }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export const heading = (text: string, level: 2 | 3 = 2): Block => ({ kind: 'heading', level, text });
export const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
export const list = (...items: readonly string[]): Block => ({ kind: 'list', items, isOrdered: false });
export const code = (language: string, text: string): Block => ({ kind: 'code', language, text });
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): Block => ({
  kind: 'table',
  head,
  rows,
});

/** The anchor of a heading by GitHub's rules, so that one link works everywhere. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** A link to a heading of a page of this site. */
export function linkTo(text: string, path: string, headingText?: string): string {
  return `[${text}](${path}${headingText === undefined ? '' : `#${anchorOf(headingText)}`})`;
}
