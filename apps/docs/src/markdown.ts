/** Maps the target of a link; without a target the link becomes plain text. */
export type LinkTarget = (target: string) => string | undefined;

const fence = /^(```[\s\S]*?^```)$/m;
const link = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The text with other link targets. Code blocks stay as they are. */
export function mapLinks(markdown: string, target: LinkTarget): string {
  return markdown
    .split(fence)
    .map((part) => (part.startsWith('```') ? part : part.replace(link, replaced)))
    .join('');

  function replaced(_whole: string, label: string, href: string): string {
    const to = target(href);
    return to === undefined ? label : `[${label}](${to})`;
  }
}

/** The title of a page, and its first paragraph in one line. Refuses a page without them. */
export function headOf(markdown: string): { title: string; summary: string } {
  const [, title, summary] = /^# (.+)\n\n((?:[^\n#`|-].*\n)+)/.exec(markdown) ?? [];
  if (title === undefined || summary === undefined) {
    throw new Error(`a page begins with its title and a summary, not with: ${markdown.slice(0, 80)}`);
  }
  return { title, summary: summary.trim().replaceAll('\n', ' ') };
}

/** The headings below the title, outside of code. */
export function headingsOf(markdown: string): string[] {
  return markdown
    .split(fence)
    .filter((part) => !part.startsWith('```'))
    .flatMap((part) => [...part.matchAll(/^#{2,3} (.+)$/gm)].map(([, text = '']) => text));
}

/** A text without links, strong text and code marks. */
export function plainText(text: string): string {
  return text
    .replace(/\[([^\]]+)\]\([^)\s]+\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('`', '');
}

/** The anchor of a heading by GitHub's rules, so that one link works everywhere. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
