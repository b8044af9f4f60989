import type { Drawings } from './data.ts';
import { h, type Tree } from './tree.ts';

/** The key under which the page may have a drawing of a token, a network or a wallet. */
export function drawingKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9].*$/, '');
}

/** One of the page's own drawings, for sighted readers only. */
export function iconView(name: string): Tree {
  return h('svg', { class: 'icon', 'aria-hidden': 'true' }, h('use', { href: `#d-${name}` }));
}

/** A sign that leads to an explorer, beside what it shows there. */
export function explorerLink(href: string, label: string): Tree {
  const attributes = { class: 'tool', rel: 'noreferrer', target: '_blank', 'aria-label': label };
  return h('a', { ...attributes, href }, iconView('out'));
}

/** The logo of a token, a network or a wallet; its first letter where there is no drawing of it. */
export function logoOf({ file, keys }: Drawings, name: string): Tree {
  const key = drawingKey(name);
  if (keys.includes(key)) return h('img', { class: 'coin', src: `${file}#${key}`, alt: '' });
  return h('span', { class: 'coin', 'aria-hidden': 'true' }, [...name][0]);
}

/** A token's logo with its network's as a badge. Their names stand beside it. */
export function markView(
  drawings: Drawings,
  { symbol, chainTitle }: { readonly symbol: string; readonly chainTitle: string },
): Tree {
  return h('span', { class: 'mark' }, logoOf(drawings, symbol), logoOf(drawings, chainTitle));
}
