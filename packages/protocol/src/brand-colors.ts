/** The page's colours that derive from a merchant's one colour, as `#rrggbb`. */
export interface BrandColors {
  /** Background of buttons: the merchant's colour itself. */
  readonly accent: string;
  /** Text on it: black or white. */
  readonly onAccent: string;
  /** Colour of links on every background of the page, in light and dark mode. */
  readonly links: { readonly light: string; readonly dark: string };
}

/** Colours that derive from the background behind the order, as `#rrggbb`. */
export interface GroundColors {
  readonly ground: string;
  /** Text on it, and less important text. */
  readonly ink: string;
  readonly soft: string;
  /** Lines, which need no contrast. */
  readonly line: string;
  readonly scheme: 'light' | 'dark';
}

/** The backgrounds of text: the page, its cards and its notes (style.ts). */
export const backgrounds = {
  light: ['#ffffff', '#f4f5f3', '#eef0ef'],
  dark: ['#101512', '#19201c', '#262d2a'],
} as const;

/** The minimum contrast for text in WCAG 2.2 (1.4.3, level AA). */
export const leastContrast = 4.5;

type Channels = readonly [red: number, green: number, blue: number];

const black: Channels = [0, 0, 0];
const white: Channels = [255, 255, 255];

/**
 * Buttons have the merchant's colour as it is: black or white is always readable on it (at least 4.58). Links are text, so
 * the colour is darkened for light mode and lightened for dark mode, as little as possible, until its contrast to every
 * background is 4.5. Works for every `#` with six hexadecimal digits; any other input is a bug of the caller.
 */
export function brandColorsOf(color: string): BrandColors {
  const channels = parse(color);
  return {
    accent: format(channels),
    onAccent: textOn(channels) === white ? '#ffffff' : '#000000',
    links: {
      light: format(readable(channels, black, backgrounds.light)),
      dark: format(readable(channels, white, backgrounds.dark)),
    },
  };
}

/** Text and lines on a merchant's background, whose contrast to it is 4.5 or more. */
export function groundColorsOf(background: string): GroundColors {
  const ground = parse(background);
  const end = textOn(ground);
  return {
    ground: format(ground),
    ink: format(readable(mix(ground, end, 0.9), end, [background])),
    soft: format(readable(mix(ground, end, 0.6), end, [background])),
    line: format(mix(ground, end, 0.18)),
    scheme: end === white ? 'dark' : 'light',
  };
}

/** Black or white, whichever has the higher contrast. */
function textOn(color: Channels): Channels {
  const luminance = luminanceOf(color);
  return ratioOf(luminance, luminanceOf(white)) >= ratioOf(luminance, luminanceOf(black)) ? white : black;
}

/** The number of steps from a colour to black or white. */
const steps = 100;

function readable(color: Channels, end: Channels, on: readonly string[]): Channels {
  const others = on.map((ground) => luminanceOf(parse(ground)));
  for (let step = 0; step < steps; step += 1) {
    const mixed = mix(color, end, step / steps);
    const luminance = luminanceOf(mixed);
    if (others.every((other) => ratioOf(luminance, other) >= leastContrast)) return mixed;
  }
  return end;
}

/** The contrast of two colours, 1 to 21, as WCAG 2.2 defines it. */
export function contrastOf(left: string, right: string): number {
  return ratioOf(luminanceOf(parse(left)), luminanceOf(parse(right)));
}

function ratioOf(left: number, right: number): number {
  return (Math.max(left, right) + 0.05) / (Math.min(left, right) + 0.05);
}

function parse(color: string): Channels {
  if (!/^#[0-9a-f]{6}$/i.test(color)) throw new Error(`${color} is not a colour`);
  const number = Number.parseInt(color.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function format(channels: Channels): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function mix(from: Channels, to: Channels, part: number): Channels {
  const at = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * part);
  return [at(0), at(1), at(2)];
}

/** Relative luminance of sRGB, 0 to 1. */
function luminanceOf([red, green, blue]: Channels): number {
  const linear = (channel: number) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
