import { createHash } from 'node:crypto';
import type { CheckoutData } from '@florin/web/checkout/data.ts';
import { statusView } from '@florin/web/checkout/status.ts';
import { detailsView, headView, itemsView } from '@florin/web/checkout/summary.ts';
import { flatten, h, type Tree } from '@florin/web/checkout/tree.ts';
import { type Language, languages } from '@florin/web/text/languages.ts';
import { Html, html } from '../html.ts';
import type { Script } from './assets.ts';
import { style } from './style.ts';

/** The hash by which the policy allows the one style sheet. */
const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Runs the one script that carries the nonce, and what it loads by itself, which is nothing; talks to this origin alone;
 * writes HTML nowhere. Wallets' icons are images within their announcements.
 */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'sha256-${styleHash}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

export interface PageFrame {
  readonly language: Language;
  readonly nonce: string;
  readonly script: Script;
  /** The same thing for machines. */
  readonly agentUrl: string;
}

const voidTags = new Set(['img', 'input']);

/** Writes a tree as HTML, all of its text escaped. */
function renderTree(tree: Tree): Html {
  const parts = flatten(tree).map((item) => {
    if (typeof item === 'string') return html`${item}`;
    const attributes = Object.entries(item.attributes).map(([name, value]) => {
      if (value === undefined || value === false) return html``;
      return value === true ? html` ${name}` : html` ${name}="${value}"`;
    });
    const tag = new Html(item.tag);
    if (voidTags.has(item.tag)) return html`<${tag}${attributes}>`;
    return html`<${tag}${attributes}>${renderTree(item.children)}</${tag}>`;
  });
  return html`${parts}`;
}

/** Seconds between two looks of readers without scripts, while something moves. */
const refreshSeconds = 10;

/** Renders the page of a link or of a session: useful as it is, and the start of its script. */
export function renderCheckout(data: CheckoutData, frame: PageFrame, now: number): string {
  const { texts, state } = data;
  const isMoving = state !== undefined && !['completed', 'expired', 'cancelled'].includes(state.status);
  const body: Tree = [
    h('div', { class: 'card' }, h('div', { id: 'head' }, headView(data)), itemsView(data), detailsView(data)),
    h(
      'div',
      { class: 'card', id: 'state' },
      state !== undefined && statusView(data, state, { now, timeZone: 'UTC' }),
    ),
    h('div', { class: 'card', id: 'pay' }),
  ];
  const isPayable = data.link !== undefined || state?.isPayable === true;
  return renderFrame(frame, {
    title: data.title,
    body: html`${renderTree(body)}
<noscript>${isMoving ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : html``}${
      isPayable
        ? renderTree([h('div', { class: 'card' }, h('p', {}, texts.noScript), optionsView(data))])
        : html``
    }</noscript>
<script type="application/json" id="data">${new Html(scriptSafe(data))}</script>
<script type="module" src="${frame.script.path}" integrity="${frame.script.integrity}" nonce="${frame.nonce}"></script>`,
  });
}

/** What the payer can pay with, for readers without scripts. */
function optionsView({ options, texts }: CheckoutData): Tree {
  return h(
    'ul',
    {},
    options.map(({ symbol, chainTitle }) =>
      h('li', {}, texts.tokenOnNetwork.replace('{token}', symbol).replace('{network}', chainTitle)),
    ),
  );
}

/** JSON that cannot end the element that it stands in. */
function scriptSafe(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Renders a page that says one thing and has no script: nothing is here, or nothing is for sale any more. */
export function renderNotice(
  frame: Omit<PageFrame, 'script'>,
  title: string,
  texts: readonly string[],
): string {
  const body = h(
    'div',
    { class: 'card' },
    h('h1', {}, title),
    texts.map((text) => h('p', { dir: 'auto' }, text)),
  );
  return renderFrame(frame, { title, body: renderTree(body) });
}

function renderFrame(frame: Omit<PageFrame, 'script'>, page: { title: string; body: Html }): string {
  const { language, agentUrl } = frame;
  const { texts } = language;
  const alternate =
    agentUrl === '' ? html`` : html`<link rel="alternate" type="application/json" href="${agentUrl}">`;
  const others = languages.map(({ tag, name }) =>
    h(
      'li',
      {},
      tag === language.tag
        ? h('span', { 'aria-current': 'true', lang: tag }, name)
        : h('a', { href: `?lang=${tag}`, lang: tag, hreflang: tag }, name),
    ),
  );
  const footer: Tree = h(
    'footer',
    {},
    h('nav', { 'aria-label': texts.language }, h('ul', {}, others)),
    agentUrl !== '' && [h('p', {}, texts.agents), h('pre', { dir: 'ltr', tabindex: '0' }, agentUrl)],
  );
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${page.title}</title>
${alternate}
<style>${new Html(style)}</style>
</head>
<body><main>
${page.body}
${renderTree(footer)}
</main></body>
</html>
`.text;
}
