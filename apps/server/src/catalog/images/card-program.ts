/*
 * The program of one drawing process: reads a card as JSON from standard input, writes a PNG of 1200 x 630 pixels to
 * standard output, ends. It is started as decoder-program.ts is, so it imports nothing of ours.
 */
import { readFileSync, writeSync } from 'node:fs';
import sharp from 'sharp';

sharp.cache(false);
sharp.concurrency(1);

interface Style {
  readonly font: string;
  readonly color: string;
}

interface Layer {
  readonly input: Buffer;
  readonly left: number;
  readonly top: number;
}

const [width, height, margin] = [1200, 630, 80];
const escapeMarkup = (text: string) => text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A text in one colour, in lines of the given width; smaller where it would be higher than `most`. */
async function write(
  text: string,
  { font, color, most, wide }: Style & { readonly most: number; readonly wide: number },
) {
  const markup = `<span foreground="${color}">${escapeMarkup(text)}</span>`;
  const drawn = (fit: { dpi: number } | { height: number }) =>
    sharp({ text: { text: markup, font, rgba: true, width: wide, wrap: 'word-char', ...fit } })
      .png()
      .toBuffer({ resolveWithObject: true });
  // 72 dots in an inch: a point is a pixel.
  const plain = await drawn({ dpi: 72 });
  const fits = plain.info.height <= most && plain.info.width <= wide;
  const { data, info } = fits ? plain : await drawn({ height: most });
  return { data, width: info.width, height: info.height };
}

async function logoOf(bytes: string, hasPlate: boolean) {
  const logo = sharp(Buffer.from(bytes, 'base64')).resize({
    ...{ width: 420, height: hasPlate ? 64 : 96 },
    fit: 'inside',
  });
  const framed = hasPlate
    ? logo
        .flatten({ background: '#fff' })
        .extend({ top: 16, bottom: 16, left: 20, right: 20, background: '#fff' })
    : logo;
  const { data, info } = await framed.png().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

async function letterOf(letter: string, color: string, ground: string) {
  const tile = sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><rect width="96" height="96" rx="22" fill="${ground}"/></svg>`,
    ),
  );
  // A name of emoji alone has none.
  if (letter !== '') {
    const sign = await write(letter, { font: 'sans bold 56', color, most: 64, wide: 90 });
    const middle = (size: number) => Math.max(0, Math.round((96 - size) / 2));
    tile.composite([{ input: sign.data, left: middle(sign.width), top: middle(sign.height) }]);
  }
  return { data: await tile.png().toBuffer(), width: 96, height: 96 };
}

interface Card {
  readonly ground: string;
  readonly ink: string;
  readonly soft: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly merchant: string;
  readonly title: string;
  readonly amount: string;
  /** An image in base64; empty: none. */
  readonly logo: string;
  /** Whether the logo is made for another ground. */
  readonly hasPlate: boolean;
}

async function draw({ ground, ink, soft, accent, onAccent, ...card }: Card): Promise<Buffer> {
  const sign =
    card.logo === ''
      ? await letterOf([...card.merchant][0] ?? '', onAccent, accent)
      : await logoOf(card.logo, card.hasPlate);
  const layers: Layer[] = [{ input: sign.data, left: margin, top: margin }];
  const add = async (text: string, place: { left: number; top: number; most: number }, style: Style) => {
    if (text === '') return;
    const { left, most } = place;
    const drawn = await write(text, { ...style, most, wide: width - margin - left });
    layers.push({ input: drawn.data, left, top: place.top });
  };
  const beside = margin + sign.width + 28;
  const name = { left: beside, top: margin + Math.max(0, Math.round(sign.height / 2) - 24), most: 96 };
  await add(card.merchant, name, { font: 'sans bold 40', color: soft });
  await add(card.title, { left: margin, top: 232, most: 170 }, { font: 'sans bold 64', color: ink });
  await add(card.amount, { left: margin, top: 440, most: 90 }, { font: 'sans bold 84', color: ink });
  const strip = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="24"><rect width="${width}" height="24" fill="${accent}"/></svg>`;
  layers.push({ input: Buffer.from(strip), left: 0, top: height - 24 });
  return sharp({ create: { width, height, channels: 3, background: ground } })
    .composite(layers)
    .png({ palette: true, colours: 128, compressionLevel: 9 })
    .toBuffer();
}

const picture = await draw(JSON.parse(readFileSync(0, 'utf8')) as Card);
// A pipe may accept only a part at a time.
for (let offset = 0; offset < picture.length; ) offset += writeSync(1, picture, offset);
