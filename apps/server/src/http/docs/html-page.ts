import { createHash } from 'node:crypto';
import { escapeHtml } from '../html.ts';
import { type Inline, inlineParts } from './markdown.ts';
import { anchorOf, type Block, type DocsPage } from './page.ts';

/** Needs no script, follows the reader's light or dark scheme, from 320 px upwards. */
const style = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --accent: #0a7d5a; }
@media (prefers-color-scheme: dark) { :root { --accent: #4fd1a5; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; border-bottom: 1px solid var(--line); }
main { padding-bottom: 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1rem 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
pre { background: var(--soft); padding: .75rem; border-radius: .5rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
code { font: .9em ui-monospace, monospace; background: var(--soft); border-radius: .2rem; padding: 0 .2rem; }
pre code { font-size: 1em; background: none; padding: 0; }
a { color: var(--accent); }
`;

/** The hash by which the content security policy allows the style sheet. */
const styleHash = createHash('sha256').update(style).digest('base64');

/** The page loads, runs and embeds only the style above. */
export const docsPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Renders a whole page, with a link to its Markdown version. */
export function renderDocsPage(page: DocsPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(plainText(page.summary))}">
<title>${escapeHtml(page.title)} – Florin</title>
<link rel="alternate" type="text/markdown" href="${escapeHtml(page.path)}.md">
<style>${style}</style>
</head>
<body>
<header><a href="/docs">Florin documentation</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a><a href="${escapeHtml(page.path)}.md">Markdown</a></header>
<main>
<h1>${inlineHtml(page.title)}</h1>
<p>${inlineHtml(page.summary)}</p>
${page.blocks.map(htmlOf).join('\n')}
</main>
</body>
</html>
`;
}

function htmlOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level} id="${escapeHtml(anchorOf(block.text))}">${inlineHtml(block.text)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${inlineHtml(block.text)}</p>`;
    case 'list': {
      const tag = block.isOrdered ? 'ol' : 'ul';
      return `<${tag}>${block.items.map((item) => `<li>${inlineHtml(item)}</li>`).join('')}</${tag}>`;
    }
    case 'code':
      // Focusable by keyboard, because it scrolls.
      return `<pre tabindex="0"><code>${escapeHtml(block.text)}</code></pre>`;
    case 'table': {
      const head = block.head.map((cell) => `<th scope="col">${inlineHtml(cell)}</th>`).join('');
      const rows = block.rows.map(
        (cells) => `<tr>${cells.map((cell) => `<td>${inlineHtml(cell)}</td>`).join('')}</tr>`,
      );
      return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
    }
  }
}

function inlineHtml(text: string): string {
  return inlineParts(text).map(inlinePartHtml).join('');
}

function inlinePartHtml(part: Inline): string {
  const escaped = escapeHtml(part.text);
  switch (part.kind) {
    case 'text':
      return escaped;
    case 'code':
      return `<code>${escaped}</code>`;
    case 'strong':
      return `<strong>${escaped}</strong>`;
    case 'link':
      return `<a href="${escapeHtml(part.href)}">${inlineHtml(part.text)}</a>`;
  }
}

/** A text without its inline marks. */
export function plainText(text: string): string {
  return inlineParts(text)
    .map((part) => part.text)
    .join('')
    .replaceAll('`', '');
}
