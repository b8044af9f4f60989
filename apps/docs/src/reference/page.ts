import { anchorOf } from '../markdown.ts';

/** One generated page. Its texts are Markdown; links to other pages are site paths such as `/docs/errors`. */
export interface DocsPage {
  /** Its URL path, such as `/docs/errors/100101`. */
  readonly path: string;
  readonly title: string;
  /** One sentence about the page's content. */
  readonly summary: string;
  readonly blocks: readonly string[];
}

/** The whole page as Markdown. */
export function pageMarkdown({ title, summary, blocks }: DocsPage): string {
  return `${[`# ${title}`, summary, ...blocks].join('\n\n')}\n`;
}

export const heading = (text: string, level: 2 | 3 = 2): string => `${'#'.repeat(level)} ${text}`;
export const list = (...items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
export const orderedList = (...items: readonly string[]): string =>
  items.map((item, index) => `${index + 1}. ${item}`).join('\n');
export const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** JSON as a block of code. */
export const json = (value: unknown): string => code('json', JSON.stringify(value, undefined, 2));

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellText).join(' | ')} |`)
    .join('\n');
}

function cellText(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A link to a heading of a page of this site. */
export function linkTo(text: string, path: string, headingText?: string): string {
  return `[${text}](${path}${headingText === undefined ? '' : `#${anchorOf(headingText)}`})`;
}
