import { type ImageProcessOptions, imageProcesses } from './image-process.ts';

/** What the picture of a link shows. Colours are `#rrggbb`. */
export interface LinkCard {
  readonly ground: string;
  readonly ink: string;
  readonly soft: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly merchant: string;
  readonly title: string;
  /** Empty where the payer chooses it. */
  readonly amount: string;
  /** The merchant's logo as a hosted file; undefined: the first letter of the name. */
  readonly logo: Uint8Array | undefined;
  /** Whether the logo is made for another ground, and so needs a white plate. */
  readonly hasPlate: boolean;
}

/** Width and height of the picture, which chats show whole. */
export const cardSize = { width: 1200, height: 630 } as const;

/**
 * Draws pictures of links with the fonts of this machine, each in a process of its own, because merchants' texts and a library
 * of native code meet in it. Emoji are left out: few machines have a font with them.
 */
export function cardDrawer(options: ImageProcessOptions): (card: LinkCard) => Promise<Buffer> {
  const processes = imageProcesses(new URL('./card-program.ts', import.meta.url), options);
  return ({ logo, ...card }) => {
    const shown = {
      ...card,
      merchant: drawableText(card.merchant),
      // A name of emoji alone has no words.
      title: drawableText(card.title) || 'Payment link',
      logo: logo === undefined ? '' : Buffer.from(logo).toString('base64'),
    };
    return processes.run(Buffer.from(JSON.stringify(shown)));
  };
}

/** More would be too small to read in a chat. */
const mostCharacters = 100;

function drawableText(text: string): string {
  const characters = [...plainText(text)];
  return characters.length <= mostCharacters
    ? characters.join('')
    : `${characters.slice(0, mostCharacters).join('')}…`;
}

function plainText(text: string): string {
  return text
    .replace(/\p{Extended_Pictographic}|\p{Emoji_Modifier}|[\u200d\ufe0f\u{1f1e6}-\u{1f1ff}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}
