import { h, type Tree } from './tree.ts';

/** The key under which the page may have a drawing of a token, a network or a wallet (logos.ts of the server). */
export function drawingKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9].*$/, '');
}

/** One of the page's own drawings, for sighted readers only. */
export function iconView(name: string): Tree {
  return h('svg', { class: 'icon', 'aria-hidden': 'true' }, h('use', { href: `#d-${name}` }));
}

/** The logo of a token, a network or a wallet; its first letter where the page has no drawing of it. */
export function logoOf(drawings: readonly string[], name: string): Tree {
  const key = drawingKey(name);
  if (drawings.includes(key))
    return h('svg', { class: 'coin', 'aria-hidden': 'true' }, h('use', { href: `#d-${key}` }));
  return h('span', { class: 'coin', 'aria-hidden': 'true' }, [...name][0]);
}

/** A token's logo with its network's as a badge. Their names stand beside it. */
export function markView(
  drawings: readonly string[],
  { symbol, chainTitle }: { readonly symbol: string; readonly chainTitle: string },
): Tree {
  return h(
    'span',
    { class: 'mark', 'aria-hidden': 'true' },
    logoOf(drawings, symbol),
    logoOf(drawings, chainTitle),
  );
}
