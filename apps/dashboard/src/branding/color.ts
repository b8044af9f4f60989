import { brandColorsOf } from '@florin/protocol/brand-colors.ts';

/** A typed colour as `#rrggbb` in lower case, empty for none; undefined when it is no colour. `#` may be missing. */
export function colorOf(typed: string): string | undefined {
  const text = typed.trim().toLowerCase().replace(/^#/, '');
  if (text === '') return '';
  return /^[0-9a-f]{6}$/.test(text) ? `#${text}` : undefined;
}

/** The colour of links where they would be hard to read in the merchant's colour; empty where they are not. */
export function warningsOf(color: string): { readonly scheme: 'light' | 'dark'; readonly shown: string }[] {
  const { links } = brandColorsOf(color);
  return (['light', 'dark'] as const).flatMap((scheme) => {
    const shown = links[scheme];
    return shown === color ? [] : [{ scheme, shown }];
  });
}
