import type { BrandingMethods } from '@florin/sdk';
import { bodyOption, changesOf } from './body.ts';
import { type Options, optional, repeatable } from './command.ts';
import { apiCommand, type MerchantCommands, shown } from './resource.ts';

type BrandingChanges = Parameters<BrandingMethods['update']>[0];

const fonts = ['system', 'humanist', 'geometric', 'rounded', 'serif'] as const;
/** Texts of the branding, by the option of each. */
const texts = {
  logo: ['logoUrl', 'an https URL of an image'],
  'dark-logo': ['darkLogoUrl', 'the logo for dark backgrounds'],
  icon: ['iconUrl', 'a square image'],
  color: ['color', 'of buttons: # and six hexadecimal digits'],
  background: ['background', 'behind the order: # and six hexadecimal digits'],
  'legal-name': ['legalName', 'on receipts'],
  'support-url': ['supportUrl', 'where payers get help'],
  'terms-url': ['termsUrl', 'your terms'],
  'refund-url': ['refundUrl', 'how you refund'],
  'privacy-url': ['privacyUrl', 'your privacy policy'],
} as const;

/** `florin branding …` */
export const brandingCommands: MerchantCommands = {
  'branding show': apiCommand({
    does: 'shows the look of your hosted pages, and the shops that may embed them',
    examples: ['branding show'],
    run: async (florin) => shown(await florin.branding.retrieve()),
  }),
  'branding update': apiCommand({
    does: 'changes the look of your hosted pages; what no option names stays',
    examples: ["branding update --color '#0b6b4d' --embed-origin https://shop.example"],
    options: [
      ...Object.entries(texts).map(([name, [, about]]) =>
        optional(`--${name} <text>`, `${about}; '' for none`),
      ),
      optional('--corner-radius <pixels>', 'of buttons and fields, 0 to 24'),
      optional('--font <font>', 'a family of fonts that devices have').choices(fonts),
      repeatable(
        '--embed-origin <origin>',
        "a shop whose pages may embed the checkout; replaces the list, '' empties it",
      ),
      bodyOption,
    ],
    async run(florin, options, outside) {
      const changes = await changesOf<BrandingChanges>(options, outside, flagsOf(options));
      return shown(await florin.branding.update(changes));
    },
  }),
};

function flagsOf(options: Options): BrandingChanges {
  const named = Object.entries(texts).map(([name, [field]]) => [field, options.optional(name)] as const);
  const radius = options.optional('corner-radius');
  const origins = options.all('embed-origin');
  return {
    ...Object.fromEntries(named),
    font: options.choice('font', fonts),
    // The service checks it.
    cornerRadius: radius === undefined ? undefined : Number(radius),
    embedOrigins: origins.length === 0 ? undefined : origins.filter((origin) => origin !== ''),
  };
}
