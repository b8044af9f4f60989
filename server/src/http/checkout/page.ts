import { createHash } from 'node:crypto';
import { type Html, Html as HtmlText, html } from '../html.ts';

/** Works without any script, in the reader's light or dark scheme, from 320 px upwards. */
const style = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --accent: #0a7d5a; }
@media (prefers-color-scheme: dark) { :root { --accent: #4fd1a5; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 2.25rem; line-height: 1.15; margin: 0 0 .25rem; font-variant-numeric: tabular-nums; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0; }
dt { opacity: .7; }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
ul { list-style: none; margin: 0; padding: 0; }
li { display: flex; justify-content: space-between; gap: 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
pre { background: var(--soft); padding: .75rem; border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
.status { display: inline-block; padding: .125rem .625rem; border-radius: 1rem; background: var(--soft); font-weight: 600; }
a { color: var(--accent); }
`;

/** The hash by which the content security policy allows the one style sheet. */
const styleHash = createHash('sha256').update(style).digest('base64');

/** Nothing is loaded, run or embedded but the style above. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Reloads the page after so many seconds, while it shows something that moves. */
  readonly refreshSeconds?: number;
  /** The same thing for machines. */
  readonly alternateUrl?: string;
}

/** Renders a whole page. */
export function renderPage(page: Page): string {
  const refresh =
    page.refreshSeconds === undefined
      ? html``
      : html`<meta http-equiv="refresh" content="${page.refreshSeconds}">`;
  const alternate =
    page.alternateUrl === undefined
      ? html``
      : html`<link rel="alternate" type="application/json" href="${page.alternateUrl}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title}</title>
${refresh}${alternate}
<style>${new HtmlText(style)}</style>
</head>
<body><main>
${page.body}
</main></body>
</html>
`.text;
}
