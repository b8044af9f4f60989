/** The page colours that derive from a merchant's one colour, as `#rrggbb`, for light and dark mode. */
export interface BrandColors {
  readonly light: AccentPair;
  readonly dark: AccentPair;
}

export interface AccentPair {
  /** Background of buttons, and the colour of links on every background of the page. */
  readonly accent: string;
  /** Text on the accent colour. */
  readonly onAccent: string;
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
 * Makes a merchant's colour readable. Darkens it for light mode and lightens it for dark mode, as little as possible,
 * until its contrast to every background is 4.5. Text on it is white or black, by the higher contrast. Works for every
 * `#` with six hexadecimal digits, because black and white always fit; any other input is a bug of the caller.
 */
export function brandColorsOf(color: string): BrandColors {
  const channels = parse(color);
  return {
    light: pairOf(readable(channels, black, backgrounds.light)),
    dark: pairOf(readable(channels, white, backgrounds.dark)),
  };
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

function pairOf(accent: Channels): AccentPair {
  const luminance = luminanceOf(accent);
  const isWhiteFarther = ratioOf(luminance, luminanceOf(white)) >= ratioOf(luminance, luminanceOf(black));
  return { accent: format(accent), onAccent: isWhiteFarther ? '#ffffff' : '#000000' };
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
