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
import { type AccentPair, type BrandColors, backgrounds } from '@florin/protocol/brand-colors.ts';
import { Html, html } from '#outside/html.ts';
import type { Script } from './assets.ts';
import { type NoScript, noScriptView } from './no-script.ts';
import { style } from './style.ts';

export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64');
/** The hash by which the policy allows the style sheet that every page shares. */
const styleHash = hashOf(style);

/** Style rules for a merchant's colours, made readable. They contain no text from the merchant. */
export function brandStyle({ light, dark }: BrandColors): string {
  const rule = ({ accent, onAccent }: AccentPair, tint: string) =>
    `:root { --accent: ${accent}; --on-accent: ${onAccent}; --tint: ${tint}; }`;
  return `${rule(light, backgrounds.light[2])} @media (prefers-color-scheme: dark) { ${rule(dark, backgrounds.dark[2])} }`;
}

/**
 * Allows only the script with the nonce, connections and form posts to this origin, and no HTML from scripts. Wallets
 * announce their icons as data images, so these are allowed.
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
  /** The machine-readable version of this page. */
  readonly agentUrl: string;
  /** The merchant's colours, as `brandStyle` formats them. */
  readonly brand?: string | undefined;
  /** `?lang=…` where the reader chose a language for this page; else empty. */
  readonly query: string;
}

const voidTags = new Set(['img', 'input']);

/** Renders a tree as HTML with all text escaped. */
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

/** Seconds between two reloads for readers without scripts, while the session may change. */
const refreshSeconds = 10;

/**
 * Renders the page of a link or of a session. It works without its script. `answer` is the result of a form that a
 * reader without scripts sent.
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
  // Never while a reader may be filling in a form, nor in place of a form's result.
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

/** Renders the page about money to return. */
export function renderClaim(data: ClaimData, frame: PageFrame): string {
  return renderFrame(frame, {
    title: data.words.title,
    script: frame.script,
    body: html`<div id="claim">${renderTree(claimView(data, 'UTC'))}</div>
<noscript><p class="card">${data.words.noScript}</p></noscript>
<script type="application/json" id="data">${new Html(scriptSafe(data))}</script>`,
  });
}

/** JSON that cannot close its script element. */
function scriptSafe(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Renders a page with one message and no script: not found, or no longer for sale. */
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

/** Renders the page for its preview: no script, and nothing that leads elsewhere. `css` is its whole style. */
export function renderPreview(
  data: CheckoutData,
  pay: Tree,
  { language, css }: { readonly language: Language; readonly css: string },
): string {
  const body: Tree = [
    h('div', { class: 'card' }, h('div', { id: 'head' }, headView(data)), itemsView(data)),
    h('div', { class: 'card', id: 'pay' }, pay),
  ];
  return renderDocument(language, {
    title: data.title,
    styles: html`<style>${new Html(css)}</style>`,
    body: renderTree(body),
  });
}

function renderFrame(frame: PageFrame, page: { title: string; body: Html; script?: Script }): string {
  const { language, agentUrl, brand, nonce } = frame;
  const { script, title } = page;
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
  return renderDocument(language, {
    title,
    // The script tag comes first, so that the download starts while the page is parsed; the script runs afterwards.
    script:
      script === undefined
        ? html``
        : html`<script type="module" src="${script.path}" integrity="${script.integrity}" nonce="${nonce}"></script>`,
    alternate,
    styles: html`<style>${new Html(style)}</style>${brand === undefined ? html`` : html`<style>${new Html(brand)}</style>`}`,
    body: html`${page.body}
${renderTree(footer)}`,
  });
}

function renderDocument(
  { tag, direction }: Language,
  {
    title,
    script = html``,
    alternate = html``,
    styles,
    body,
  }: { title: string; script?: Html; alternate?: Html; styles: Html; body: Html },
): string {
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${script}
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
${alternate}
${styles}
</head>
<body><main>
${body}
</main></body>
</html>
`.text;
}
