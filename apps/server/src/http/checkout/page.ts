import { createHash } from 'node:crypto';
import {
  type CheckoutData,
  type ClaimData,
  claimView,
  detailsView,
  flatten,
  h,
  headView,
  isAtEnd,
  itemsView,
  type Language,
  languages,
  logoView,
  statusView,
  type Tree,
} from '@florin/checkout';
import { Html, html } from '../html.ts';
import type { Script } from './assets.ts';
import { type AccentPair, type BrandColors, grounds } from './brand-colors.ts';
import { type NoScript, noScriptView } from './no-script.ts';
import { style } from './style.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64');
/** The hash by which the policy allows the one style sheet that every page has. */
const styleHash = hashOf(style);

/** What is painted over the style sheet: a merchant's colours, made readable. Nothing of it is the merchant's text. */
export function brandStyle({ light, dark }: BrandColors): string {
  const rule = ({ accent, onAccent }: AccentPair, tint: string) =>
    `:root { --accent: ${accent}; --on-accent: ${onAccent}; --tint: ${tint}; }`;
  return `${rule(light, grounds.light[2])} @media (prefers-color-scheme: dark) { ${rule(dark, grounds.dark[2])} }`;
}

/**
 * Runs the one script that carries the nonce, and what it loads by itself, which is nothing; talks to this origin alone;
 * writes HTML nowhere; forms, for readers without scripts, go to this origin. Wallets' icons are images within their
 * announcements.
 */
export function pagePolicy({ nonce, brand }: Pick<PageFrame, 'nonce' | 'brand'>): string {
  const hashes = brand === undefined ? [styleHash] : [styleHash, hashOf(brand)];
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src ${hashes.map((hash) => `'sha256-${hash}'`).join(' ')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
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
  /** The merchant's colours, as `brandStyle` writes them. */
  readonly brand?: string | undefined;
  /** `?lang=…` where the reader has chosen a language for this page; else empty. */
  readonly query: string;
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

/**
 * Renders the page of a link or of a session: useful as it is, and the start of its script. `answer` is what became of a
 * form that a reader without scripts has sent.
 */
export function renderCheckout(
  data: CheckoutData,
  frame: PageFrame,
  now: number,
  answer: NoScript = {},
): string {
  const { state } = data;
  const isMoving = state !== undefined && !isAtEnd(state);
  const body: Tree = [
    h('div', { class: 'card' }, h('div', { id: 'head' }, headView(data)), itemsView(data), detailsView(data)),
    h(
      'div',
      { class: 'card', id: 'state' },
      state !== undefined && statusView(data, state, { now, timeZone: 'UTC' }),
    ),
    h('div', { class: 'card', id: 'pay' }),
  ];
  // Never under the hands of somebody who fills in a form, nor in place of the answer to one.
  const refreshes = isMoving && !state.isPayable;
  return renderFrame(frame, {
    title: data.title,
    script: frame.script,
    body: html`${renderTree(body)}
<noscript>${refreshes ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : html``}${renderTree(
      noScriptView(data, frame.query, answer),
    )}</noscript>
<script type="application/json" id="data">${new Html(scriptSafe(data))}</script>`,
  });
}

/** Renders the page about money that has to go back. */
export function renderClaim(data: ClaimData, frame: PageFrame): string {
  return renderFrame(frame, {
    title: data.words.title,
    script: frame.script,
    body: html`<div id="claim">${renderTree(claimView(data, 'UTC'))}</div>
<noscript><p class="card">${data.words.noScript}</p></noscript>
<script type="application/json" id="data">${new Html(scriptSafe(data))}</script>`,
  });
}

/** JSON that cannot end the element that it stands in. */
function scriptSafe(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Renders a page that says one thing and has no script: nothing is here, or nothing is for sale any more. */
export function renderNotice(
  frame: PageFrame,
  { title, texts, logo }: { title: string; texts: readonly string[]; logo?: CheckoutData['logo'] },
): string {
  const body = h(
    'div',
    { class: 'card' },
    logoView(logo),
    h('h1', {}, title),
    texts.map((text) => h('p', { dir: 'auto' }, text)),
  );
  return renderFrame(frame, { title, body: renderTree(body) });
}

function renderFrame(frame: PageFrame, page: { title: string; body: Html; script?: Script }): string {
  const { language, agentUrl, brand, nonce } = frame;
  const { script } = page;
  const { texts } = language;
  const alternate =
    agentUrl === ''
      ? html``
      : html`<link rel="alternate" id="agent-link" type="application/json" href="${agentUrl}">`;
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
    agentUrl !== '' && [
      h('p', {}, texts.agents),
      h('pre', { id: 'agent-url', dir: 'ltr', tabindex: '0' }, agentUrl),
    ],
  );
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${
  // First of all that is loaded, so that it travels while the page is still being read; it runs after that.
  script === undefined
    ? html``
    : html`<script type="module" src="${script.path}" integrity="${script.integrity}" nonce="${nonce}"></script>`
}
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${page.title}</title>
${alternate}
<style>${new Html(style)}</style>${brand === undefined ? html`` : html`<style>${new Html(brand)}</style>`}
</head>
<body><main>
${page.body}
${renderTree(footer)}
</main></body>
</html>
`.text;
}
