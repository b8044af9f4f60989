import { posix } from 'node:path';
import { parseMarkdown } from './markdown.ts';
import type { DocsPage } from './page.ts';

/** Links between the generated files: relative, with `.md`. */
const fileLink = /\[([^\]]+)\]\(([\w./-]+\.md)\)/g;

/**
 * A page about the contracts from its generated Markdown. Links to pages that are not served become plain text.
 * @param file Below docs/reference/contracts, such as `payment-gateway/pay.md`.
 */
export function contractPage(file: string, markdown: string): DocsPage {
  const text = markdown.replace(fileLink, (_whole, label: string, target: string) => {
    const to = posix.join(posix.dirname(file), target);
    return to.startsWith('..') ? label : `[${label}](${pathOf(to)})`;
  });
  return { ...parseMarkdown(text), path: pathOf(file), section: 'Contracts' };
}

/** A README is the page of its folder. */
function pathOf(file: string): string {
  return posix.join('/docs/contracts', file.replace(/(^|\/)README\.md$/, '').replace(/\.md$/, ''));
}
