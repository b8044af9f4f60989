import type { Block, DocsPage } from './page.ts';

/** Maps a page's link target for its Markdown version. */
export type LinkTarget = (target: string) => string;

/** Renders a page as Markdown. */
export function renderMarkdown(page: DocsPage, target: LinkTarget): string {
  const blocks = page.blocks.map((block) => markdownOf(block, target));
  return `${[`# ${page.title}`, withTargets(page.summary, target), ...blocks].join('\n\n')}\n`;
}

function markdownOf(block: Block, target: LinkTarget): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${block.text}`;
    case 'paragraph':
      return withTargets(block.text, target);
    case 'list':
      return block.items
        .map((item, index) => `${block.isOrdered ? `${index + 1}.` : '-'} ${withTargets(item, target)}`)
        .join('\n');
    case 'code':
      return `\`\`\`${block.language}\n${block.text}\n\`\`\``;
    case 'table':
      return [block.head, block.head.map(() => '---'), ...block.rows]
        .map((cells) => `| ${cells.map((cell) => cellText(cell, target)).join(' | ')} |`)
        .join('\n');
  }
}

function cellText(cell: string, target: LinkTarget): string {
  return withTargets(cell, target).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const link = /\[([^\]]+)\]\(([^)\s]+)\)/g;

function withTargets(text: string, target: LinkTarget): string {
  return text.replace(link, (_whole, label: string, href: string) => `[${label}](${target(href)})`);
}

/** The inline parts of a text, in order. */
export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const inline = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Splits inline Markdown into its parts. */
export function inlineParts(text: string): Inline[] {
  const parts: Inline[] = [];
  let from = 0;
  const addText = (end: number) => {
    if (end > from) parts.push({ kind: 'text', text: text.slice(from, end) });
  };
  for (const match of text.matchAll(inline)) {
    addText(match.index);
    const [whole, codeText, strongText, label, href] = match;
    if (codeText !== undefined) parts.push({ kind: 'code', text: codeText });
    else if (strongText !== undefined) parts.push({ kind: 'strong', text: strongText });
    else parts.push({ kind: 'link', text: label ?? '', href: href ?? '' });
    from = match.index + whole.length;
  }
  addText(text.length);
  return parts;
}

/** A Markdown file of the documentation: a title, a summary, then blocks. */
export interface ParsedMarkdown {
  readonly title: string;
  readonly summary: string;
  readonly blocks: readonly Block[];
}

/**
 * Parses the Markdown of hand-written pages: headings, paragraphs, flat lists, fenced code and tables. The first line
 * must be the title, and the first paragraph is the summary. Refuses a file without them.
 */
export function parseMarkdown(text: string): ParsedMarkdown {
  const [titleLine = '', ...lines] = text.split('\n');
  if (!titleLine.startsWith('# ')) throw new Error('a page begins with its title');
  const [first, ...blocks] = blocksOf(lines);
  if (first?.kind !== 'paragraph') throw new Error('a summary follows the title of a page');
  return { title: titleLine.slice(2), summary: first.text, blocks };
}

function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  /** Takes the following lines for as long as they belong together. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    for (let line = lines[at]; line !== undefined && belongs(line); line = lines[at]) {
      taken.push(line);
      at += 1;
    }
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.startsWith('```')) {
      at += 1;
      const body = take((each) => !each.startsWith('```'));
      at += 1;
      blocks.push({ kind: 'code', language: line.slice(3).trim(), text: body.join('\n') });
    } else if (/^#{2,3} /.test(line)) {
      at += 1;
      const level = line.startsWith('### ') ? 3 : 2;
      blocks.push({ kind: 'heading', level, text: line.slice(level + 1) });
    } else if (line.startsWith('|')) {
      blocks.push(tableOf(take((each) => each.startsWith('|'))));
    } else if (listItem.test(line)) {
      const isOrdered = /^\d/.test(line);
      blocks.push({
        kind: 'list',
        isOrdered,
        items: itemsOf(take((each) => listItem.test(each) || /^ +\S/.test(each))),
      });
    } else if (line.trim() === '') {
      at += 1;
    } else {
      const text = take((each) => each.trim() !== '' && !each.startsWith('```')).join(' ');
      blocks.push({ kind: 'paragraph', text });
    }
  }
  return blocks;
}

const listItem = /^(-|\d+\.) /;

function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (listItem.test(line)) items.push(line.replace(listItem, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return items;
}

function tableOf(lines: readonly string[]): Block {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\||\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
  return { kind: 'table', head, rows };
}
