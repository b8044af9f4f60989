import { createHash } from 'node:crypto';
import { type Drawings, drawingKey } from '@florin/checkout';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { Html, html } from '#outside/html.ts';
import { codeAsset } from '../compression.ts';

/**
 * The drawings of the hosted page, each 32 units wide. They are drawn for this project, so they need no licence; they
 * are simple enough to be recognised and are no copies of anyone's artwork. The names and marks are their owners'.
 */

const disc = (color: string) => `<circle cx="16" cy="16" r="16" fill="${color}"/>`;
const tile = (color: string) => `<rect width="32" height="32" rx="8" fill="${color}"/>`;
const white = (path: string) => `<path d="${path}" fill="#fff"/>`;
const line = (path: string, width = 2, color = '#fff') =>
  `<path d="${path}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round"/>`;

/** Dollar tokens, by the key of their symbols. */
const tokens: Readonly<Record<string, string>> = {
  usdc:
    disc('#2775ca') +
    line(
      'M12.6 25.5a10 10 0 0 1 0-19M19.4 6.5a10 10 0 0 1 0 19M19.7 12.9c-.5-1.5-1.8-2.3-3.7-2.3-2.2 0-3.6 1.1-3.6 2.7 0 3.9 7.3 1.6 7.3 5.4 0 1.7-1.5 2.8-3.7 2.8-2 0-3.4-.9-3.9-2.5M16 8.6v2M16 21.5v2',
    ),
  usdt:
    disc('#26a17b') +
    white('M8.5 8h15v3.8h-5.4V25h-4.2V11.8H8.5z') +
    line('M7.5 15.4c0 3 17 3 17 0s-17-3-17 0z', 1.4),
  dai:
    disc('#f5ac37') +
    line('M10.5 8.5h5c4.7 0 7.8 3 7.8 7.5s-3.1 7.5-7.8 7.5h-5z', 2.4) +
    line('M7.5 14.3h17.5M7.5 17.7h17.5', 1.6),
  usds:
    disc('#f47c55') + line('M20.3 11.3c-2.4-2.4-8.4-2-8.4 1.4 0 4 8.6 2.4 8.6 6.4 0 3.6-6.4 4-9 1.2', 2.6),
  pyusd: disc('#0070e0') + line('M12 25V8h5.6a4.9 4.9 0 0 1 0 9.8H12M9 12.2h10M9 15.4h10', 2.2),
};

/** Networks, by the key of their titles. */
const networks: Readonly<Record<string, string>> = {
  ethereum:
    disc('#627eea') +
    white('M16 4.5l7 11.7-7 4-7-4z') +
    '<path d="M16 22l7-4.2-7 9.7-7-9.7z" fill="#fff" opacity=".7"/>',
  base: disc('#0052ff') + white('M16 25a9 9 0 1 0-9-10.2h12v2.4H7A9 9 0 0 0 16 25z'),
  arbitrum:
    disc('#213147') +
    white('M8.6 23l6.3-15h2.2l1.7 4-4.8 11z') +
    '<path d="M16.9 17.6l1.9-4.4L23.4 23h-4z" fill="#28a0f0"/>',
  op:
    disc('#ff0420') + line('M11.2 12c4.6 0 4.6 8 0 8s-4.6-8 0-8zM18.4 20.5V12h3a2.6 2.6 0 0 1 0 5.2h-3', 2.6),
  polygon:
    disc('#8247e5') +
    line('M19.5 14.5V11l-4.2-2.4L11 11v5l4.3 2.4 2-1.2M12.5 17.5V21l4.2 2.4L21 21v-5l-4.3-2.4-2 1.2', 2.2),
  avalanche:
    disc('#e84142') +
    white(
      'M15 8.2q1-1.7 2 0l2 3.6q.6 1-.1 2.2l-5 8.6q-.6 1-1.9 1H8.2q-1.8 0-.9-1.6zM19 19.3q1-1.6 2 0l1.8 3q.8 1.3-.8 1.3h-4q-1.6 0-.8-1.3z',
    ),
  bnb:
    disc('#f0b90b') +
    white(
      'M16 12.6l3.4 3.4-3.4 3.4-3.4-3.4zM16 6l6.5 6.5-2.4 2.4-4.1-4.1-4.1 4.1-2.4-2.4zM16 26l-6.5-6.5 2.4-2.4 4.1 4.1 4.1-4.1 2.4 2.4zM24 13.6l2.4 2.4-2.4 2.4-2.4-2.4zM8 13.6l2.4 2.4L8 18.4 5.6 16z',
    ),
  unichain: disc('#f50db4') + white('M16 5q1.5 9.5 11 11-9.5 1.5-11 11-1.5-9.5-11-11 9.5-1.5 11-11z'),
  linea: disc('#121212') + line('M10.5 10.5v11h9.5', 3) + line('M20.5 11z', 4.6, '#61dfff'),
};

/** Wallet apps, by the key of their names. */
const wallets: Readonly<Record<string, string>> = {
  metamask:
    tile('#fff0e2') +
    '<path d="M5.5 7l8 4.8h5l8-4.8-2 9.6 1.4 5.4-5.6 1.8-2 2h-4.6l-2-2-5.6-1.8 1.4-5.4z" fill="#f6851b"/><path d="M10.6 16.6l3.6 1.4-.5 1.6zM21.4 16.6L17.8 18l.5 1.6zM14 23.6h4l-1 1.4h-2z" fill="#222d3d"/>',
  coinbase:
    tile('#0052ff') +
    '<circle cx="16" cy="16" r="10" fill="#fff"/><rect x="12.5" y="12.5" width="7" height="7" rx="1.4" fill="#0052ff"/>',
  trust:
    tile('#0500ff') +
    white('M16 6c3 2.2 6 3 9 3 0 8-2.5 13.5-9 17z') +
    '<path d="M16 6c-3 2.2-6 3-9 3 0 8 2.5 13.5 9 17z" fill="#48ff91"/>',
  rainbow:
    tile('#174299') +
    line('M8 10a14 14 0 0 1 14 14', 3.2, '#ff4000') +
    line('M8 14.4A9.6 9.6 0 0 1 17.6 24', 3.2, '#ffd400') +
    line('M8 19a5 5 0 0 1 5 5', 3.2, '#01daff'),
  okx:
    tile('#000') +
    white(
      'M8 8h5.3v5.3H8zM18.7 8H24v5.3h-5.3zM13.3 13.3h5.4v5.4h-5.4zM8 18.7h5.3V24H8zM18.7 18.7H24V24h-5.3z',
    ),
  phantom:
    tile('#ab9ff2') +
    white(
      'M25.3 16.5c0-5.4-3.7-9-8.8-9C11 7.5 7 12 7 18.2c0 4 2 6.3 4.3 6.3 2 0 3.2-1.4 4-2.7.6 1.3 1.6 1.8 2.7 1.8 1.4 0 2.4-1 3-2.2 1 .5 4.3-.4 4.3-4.9z',
    ) +
    '<ellipse cx="16.8" cy="14.8" rx="1.3" ry="1.9" fill="#ab9ff2"/><ellipse cx="21.2" cy="14.8" rx="1.3" ry="1.9" fill="#ab9ff2"/>',
};

/** Signs of the page itself, drawn in the colour of the text around them. */
const signs: Readonly<Record<string, string>> = {
  clock: '<circle cx="16" cy="16" r="12"/><path d="M16 9v7l5 3"/>',
  globe: '<circle cx="16" cy="16" r="12"/><path d="M4 16h24M16 4c8 7 8 17 0 24-8-7-8-17 0-24z"/>',
  copy: '<rect x="11" y="11" width="16" height="16" rx="3"/><path d="M21 6H8a3 3 0 0 0-3 3v12"/>',
  check: '<path d="M6 17l7 7L26 9"/>',
  close: '<path d="M8 8l16 16M24 8L8 24"/>',
  out: '<path d="M12 6H7a2 2 0 0 0-2 2v17a2 2 0 0 0 2 2h17a2 2 0 0 0 2-2v-5M18 5h9v9M27 5L14 18"/>',
};

/** Drawings of tokens, networks and wallet apps. */
const logos: Readonly<Record<string, string>> = { ...tokens, ...networks, ...wallets };

/** The signs as symbols that every page refers to by `#d-<key>`. */
export const signSprite = html`<svg class="hide" aria-hidden="true">${Object.entries(signs).map(
  ([key, content]) => html`<symbol id="d-${key}" viewBox="0 0 32 32">${new Html(content)}</symbol>`,
)}</svg>`;

/** All logos in one picture, of which `#<key>` shows one: so a page's size does not depend on its tokens' number. */
const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>svg svg{display:none}svg svg:target{display:inline}</style>${Object.entries(
  logos,
)
  .map(([key, content]) => `<svg id="${key}" viewBox="0 0 32 32">${content}</svg>`)
  .join('')}</svg>`;

/** The picture's file. Its name has the content's hash, so the file behind it never changes. */
export const logoFile = {
  path: `/checkout/assets/logos-${createHash('sha256').update(picture).digest('hex').slice(0, 16)}.svg`,
  bytes: await codeAsset(picture),
} as const;

/** The logos of a page with these options. */
export function drawingsFor(options: readonly CheckoutOption[]): Drawings {
  const shown = options.flatMap(({ symbol, chainTitle }) => [drawingKey(symbol), drawingKey(chainTitle)]);
  return { file: logoFile.path, keys: [...new Set(shown)].filter((key) => logos[key] !== undefined) };
}
