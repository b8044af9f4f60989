import { backgrounds, brandColorsOf, groundColorsOf } from '@florin/protocol/brand-colors.ts';
import { type BrandFont, plainLook } from '@florin/protocol/brand-look.ts';
import type { BrandLook } from '@florin/protocol/branding.ts';

/**
 * Font stacks of each family (modernfontstacks.com, CC0): at least one font of each is on every usual system. The last
 * entry catches the rest.
 */
export const stacks: Readonly<Record<BrandFont, string>> = {
  system: 'system-ui, sans-serif',
  humanist: "Seravek, 'Gill Sans Nova', Ubuntu, Calibri, 'DejaVu Sans', source-sans-pro, sans-serif",
  geometric: "Avenir, Montserrat, Corbel, 'URW Gothic', source-sans-pro, sans-serif",
  rounded:
    "ui-rounded, 'Hiragino Maru Gothic ProN', Quicksand, Comfortaa, Manjari, 'Arial Rounded MT Bold', Calibri, sans-serif",
  serif: "Charter, 'Bitstream Charter', 'Sitka Text', Cambria, serif",
};

/** Style rules for a merchant's look; empty for the page's own. They contain no text from the merchant. */
export function brandStyle(look: BrandLook): string {
  const { color, background, cornerRadius, font } = look;
  return [
    color === '' ? '' : colorRules(color),
    background === '' ? '' : groundRules(background),
    cornerRadius === plainLook.cornerRadius ? '' : `:root { --round: ${cornerRadius / 16}rem; }`,
    font === plainLook.font ? '' : `:root { --font: ${stacks[font]}; }`,
  ]
    .filter((rule) => rule !== '')
    .join(' ');
}

function colorRules(color: string): string {
  const { accent, onAccent, links } = brandColorsOf(color);
  const [, , tint] = backgrounds.light;
  const [, , darkTint] = backgrounds.dark;
  return (
    `:root { --accent: ${accent}; --on-accent: ${onAccent}; --link: ${links.light}; --tint: ${tint}; } ` +
    `@media screen and (prefers-color-scheme: dark) { :root { --accent: ${accent}; --on-accent: ${onAccent}; --link: ${links.dark}; --tint: ${darkTint}; } }`
  );
}

/** The ground is the same in light and dark mode, so everything on it has colours of its own. Paper stays white. */
function groundRules(background: string): string {
  const { ground, ink, soft, line } = groundColorsOf(background);
  return (
    `@media screen { .page { background: ${ground}; } .order { --card: ${ground}; --tint: ${ground}; --ink: ${ink}; --soft: ${soft}; --line: ${line}; --link: ${ink}; color: ${ink}; } } ` +
    `@media not all and (min-width: 56rem) { .page:not(.done) .lang > details > summary { color: ${soft}; } }`
  );
}
