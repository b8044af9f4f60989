import { brandColorsOf } from '@florin/protocol/brand-colors.ts';

/** A typed colour as `#rrggbb` in lower case, empty for none; undefined when it is no colour. `#` may be missing. */
export function colorOf(typed: string): string | undefined {
  const text = typed.trim().toLowerCase().replace(/^#/, '');
  if (text === '') return '';
  return /^[0-9a-f]{6}$/.test(text) ? `#${text}` : undefined;
}

/** How the page changes a colour in which text would be hard to read; empty where it does not. */
export function warningsOf(color: string): { readonly scheme: 'light' | 'dark'; readonly shown: string }[] {
  const shown = brandColorsOf(color);
  return (['light', 'dark'] as const).flatMap((scheme) => {
    const { accent } = shown[scheme];
    return accent === color ? [] : [{ scheme, shown: accent }];
  });
}
