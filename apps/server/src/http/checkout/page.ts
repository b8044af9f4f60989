import { createHash } from 'node:crypto';
import {
  amountView,
  type ClaimData,
  claimView,
  detailsView,
  flatten,
  footView,
  formatMoney,
  h,
  headView,
  iconView,
  initialModel,
  isAtEnd,
  isOpen,
  itemsView,
  type Language,
  languages,
  merchantView,
  noActions,
  type PageData,
  type PageMerchant,
  payView,
  pricedBy,
  scriptData,
  statusView,
  type Tree,
} from '@florin/checkout';
import { cardSize } from '#catalog/images/link-card.ts';
import { Html, html } from '#outside/html.ts';
import type { Script } from './assets.ts';
import { signSprite } from './drawings.ts';
import { type NoScript, noScriptView } from './no-script.ts';
import { titleOf } from './shown-state.ts';
import { noScriptStyle, smallStyle } from './style.ts';

export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64');
/** The hashes by which the policy allows the style sheets that every page shares. */
const styleHashes = [hashOf(smallStyle), hashOf(noScriptStyle)];

/**
 * Allows only the script with the nonce, connections and form posts to this origin, and no HTML from scripts. Wallets
 * announce their icons as data images, so these are allowed. Pages of these origins may frame the page. Where the
 * operator chose WalletConnect, payment pages reach its relay, its nodes and its check of origins, too.
 */
export function pagePolicy(
  { nonce, brand, remote }: Pick<PageFrame, 'nonce' | 'brand' | 'remote'>,
  ancestors: readonly string[] = [],
): string {
  const hashes = brand === '' ? styleHashes : [...styleHashes, hashOf(brand)];
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src ${hashes.map((hash) => `'sha256-${hash}'`).join(' ')}`,
    "img-src 'self' data:",
    remote === undefined ? "connect-src 'self'" : remoteSources,
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const remoteSources = [
  "connect-src 'self' wss://relay.walletconnect.org wss://relay.walletconnect.com",
  'https://rpc.walletconnect.org https://rpc.walletconnect.com',
  'https://verify.walletconnect.org https://verify.walletconnect.com;',
  'frame-src https://verify.walletconnect.org https://verify.walletconnect.com',
].join(' ');

/** What a page needs to offer WalletConnect. */
export interface RemoteScripts {
  readonly projectId: string;
  /** Announces the wallet. */
  readonly script: Script;
  /** The module that the operator built, loaded when the payer chooses the wallet. */
  readonly module: Script;
}

export interface PageFrame {
  readonly language: Language;
  readonly nonce: string;
  readonly script: Script;
  /** Only in local worlds: a wallet for visitors without one, and the script that announces it. */
  readonly demo?: { readonly address: string; readonly script: Script } | undefined;
  /** Only on payment pages, and where the operator chose it. */
  readonly remote?: RemoteScripts | undefined;
  /** The machine-readable version of this page. */
  readonly agentUrl: string;
  /** The merchant's look, as `brandStyle` formats it; empty for the page's own. */
  readonly brand: string;
  /** Absolute URL of the picture that chats show of the page; absent where none is drawn. */
  readonly pictureUrl?: string;
  /** `?lang=…` where the reader chose a language for this page; else empty. */
  readonly query: string;
  /** The listed origin of the shop's page that opened or frames this one; absent where there is none. */
  readonly shop?: string | undefined;
}

const voidTags = new Set(['img', 'input', 'source']);

/** Renders a tree as HTML with all text escaped. */
function renderTree(tree: Tree): Html {
  const parts = flatten(tree).map((item) => {
    if (typeof item === 'string') return html`${item}`;
    const attributes = Object.entries(item.attributes).map(([name, value]) =>
      value === '' ? html` ${name}` : html` ${name}="${value}"`,
    );
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
export function renderCheckout(data: PageData, frame: PageFrame, now: number, answer: NoScript = {}): string {
  const { state } = data;
  const model = initialModel(data);
  const order = h(
    'div',
    { class: 'order' },
    merchantView(data),
    h('div', { id: 'head' }, headView(data, now, pricedBy(model, now))),
    itemsView(data),
    detailsView(data),
  );
  // As the script renders it first, so that nothing moves when the script starts.
  const pane = [
    h('div', { id: 'state' }, state !== undefined && statusView(data, state, { now, timeZone: 'UTC' })),
    h('div', { id: 'pay' }, payView(model, noActions, now, amountView(model, noActions))),
  ];
  // Never while a reader may be filling in a form, nor in place of a form's result.
  const refreshes = state !== undefined && !isAtEnd(state) && !state.isPayable;
  const isDone = state !== undefined && !isOpen(state, now);
  return renderFrame(frame, {
    title: state === undefined ? `${data.title} · ${data.merchant}` : titleOf(data, state, now),
    card: cardOf(data, frame),
    script: frame.script,
    kind: isDone ? 'page done' : 'page',
    body: html`${renderTree(order)}
<div class="pane">${renderTree(pane)}
<noscript>${refreshes ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : html``}${renderTree(
      noScriptView(data, frame.query, answer),
    )}</noscript>${renderTree(footView(data))}</div>
<script type="application/json" id="data">${new Html(scriptSafe(scriptData(data, now)))}</script>${demoTag(frame)}${remoteTag(frame)}`,
  });
}

function demoTag({ demo, nonce, language }: PageFrame): Html {
  if (demo === undefined) return html``;
  const { address, script } = demo;
  return html`<script type="module" id="demo" src="${script.path}" integrity="${script.integrity}" nonce="${nonce}" data-demo-payer="${address}" data-demo-name="${language.texts.demoPayer}"></script>`;
}

function remoteTag({ remote, nonce, language }: PageFrame): Html {
  if (remote === undefined) return html``;
  const { script, module, projectId } = remote;
  const { scan, openWallet, close, chooseCode } = language.texts;
  return html`<script type="module" id="wallet-connect" src="${script.path}" integrity="${script.integrity}" nonce="${nonce}" data-module="${module.path}" data-project-id="${projectId}" data-scan="${scan}" data-open="${openWallet}" data-close="${close}" data-code="${chooseCode}"></script>`;
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
  { title, texts, front }: { title: string; texts: readonly string[]; front?: PageMerchant | undefined },
): string {
  const body = h(
    'div',
    { class: 'card' },
    front !== undefined && merchantView(front),
    h('h1', {}, title),
    // Aligned as the page is, in the text's own direction.
    texts.map((text) => h('p', {}, h('bdi', {}, text))),
  );
  return renderFrame(frame, { title, body: renderTree(body) });
}

/** Renders the page for its preview: no script, and nothing that leads elsewhere. `css` is its whole style. */
export function renderPreview(
  data: PageData,
  pay: Tree,
  { language, css }: { readonly language: Language; readonly css: string },
): string {
  const body: Tree = [
    h(
      'div',
      { class: 'order' },
      merchantView(data),
      h('div', { id: 'head' }, headView(data, 0, pricedBy(initialModel(data), 0))),
      itemsView(data),
    ),
    h('div', { class: 'pane' }, h('div', { id: 'pay' }, pay), footView(data)),
  ];
  return renderDocument(language, {
    title: data.title,
    styles: html`<style>${new Html(css)}</style>`,
    body: html`${signSprite}<main class="page">${renderTree(body)}</main>`,
  });
}

interface FramedPage {
  readonly title: string;
  readonly body: Html;
  readonly script?: Script;
  /** Class of the whole page. */
  readonly kind?: string;
  /** What chats and browsers show of the page. */
  readonly card?: PageCard | undefined;
}

/** The page in a chat, and its icon in a browser's tab. */
interface PageCard {
  readonly site: string;
  readonly text: string;
  /** Absolute URL of a picture; empty for none. */
  readonly picture: string;
  /** Whether it is drawn for chats, in their size; else it is the merchant's icon or logo. */
  readonly isDrawn: boolean;
  readonly icon: string;
}

function cardOf(
  { merchant, amount, locale, logo, icon }: PageData,
  { pictureUrl = '' }: Pick<PageFrame, 'pictureUrl'>,
): PageCard {
  return {
    site: merchant,
    text: amount === '' ? merchant : `${formatMoney(locale, amount)} · ${merchant}`,
    picture: pictureUrl === '' ? (icon?.dense ?? logo?.dense ?? '') : pictureUrl,
    isDrawn: pictureUrl !== '',
    icon: icon?.url ?? '',
  };
}

/** Open Graph (ogp.me). Nothing in it is secret: whoever has the page's address sees the same on the page. */
function cardTags(title: string, { site, text, picture, isDrawn }: PageCard): Html {
  const tag = (name: string, content: string) => html`<meta property="og:${name}" content="${content}">`;
  const facts = isDrawn
    ? html`${tag('image:type', 'image/png')}${tag('image:width', `${cardSize.width}`)}${tag('image:height', `${cardSize.height}`)}${tag('image:alt', title)}`
    : html``;
  return html`${tag('type', 'website')}${tag('site_name', site)}${tag('title', title)}${tag('description', text)}${picture === '' ? html`` : tag('image', picture)}${facts}<meta name="twitter:card" content="${isDrawn ? 'summary_large_image' : 'summary'}">`;
}

function renderFrame(frame: PageFrame, page: FramedPage): string {
  const { language, agentUrl, brand, nonce } = frame;
  const { script, title, kind = 'narrow', card } = page;
  const alternate =
    agentUrl === ''
      ? html``
      : html`<link rel="alternate" id="agent-link" type="application/json" href="${agentUrl}">`;
  return renderDocument(language, {
    title,
    // The script tag comes first, so that the download starts while the page is parsed; the script runs afterwards.
    script:
      script === undefined
        ? html``
        : html`<script type="module" src="${script.path}" integrity="${script.integrity}" nonce="${nonce}"></script>`,
    alternate: html`${alternate}${card === undefined ? html`` : cardTags(title, card)}`,
    icon: card?.icon ?? '',
    styles: html`<style>${new Html(smallStyle)}</style>${brand === '' ? html`` : html`<style>${new Html(brand)}</style>`}<noscript><style>${new Html(noScriptStyle)}</style></noscript>`,
    body: html`${signSprite}<main class="${kind}">
${renderTree(languageView(language, frame.shop))}
${page.body}
</main>`,
  });
}

/** The choice of the language: links, which need no script. */
function languageView({ tag, name, texts }: Language, shop?: string): Tree {
  const rest = shop === undefined ? '' : `&shop=${encodeURIComponent(shop)}`;
  return h(
    'nav',
    { class: 'lang', 'aria-label': texts.language },
    h(
      'details',
      {},
      h('summary', { 'aria-label': `${texts.language}: ${name}` }, iconView('globe'), h('span', {}, name)),
      h(
        'ul',
        {},
        languages.map((other) =>
          h(
            'li',
            {},
            other.tag === tag
              ? h('span', { 'aria-current': 'true', lang: tag }, name)
              : h(
                  'a',
                  { href: `?lang=${other.tag}${rest}`, lang: other.tag, hreflang: other.tag },
                  other.name,
                ),
          ),
        ),
      ),
    ),
  );
}

function renderDocument(
  { tag, direction }: Language,
  {
    title,
    script = html``,
    alternate = html``,
    icon = '',
    styles,
    body,
  }: { title: string; script?: Html; alternate?: Html; icon?: string; styles: Html; body: Html },
): string {
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
${script}
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="${icon === '' ? 'data:,' : icon}">
<title>${title}</title>
${alternate}
${styles}
</head>
<body>
${body}
</body>
</html>
`.text;
}
