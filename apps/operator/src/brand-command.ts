import { type Options, optional, UsageError } from '@florin/cli';
import type { Database } from '@florin/pg';
import { brandFonts, cornerRadii, plainLook } from '@florin/protocol/brand-look.ts';
import { type Branding, brandingUpdateBody } from '@florin/protocol/branding.ts';
import {
  bytesOf,
  type Config,
  changeBranding,
  compileCheck,
  findBranding,
  imageOptionsOf,
  lockedBranding,
  noIntake,
  openImages,
  searchSnapshots,
  silentLog,
  takeBrandImages,
} from '@florin/server/operator';
import {
  type CommandContext,
  type Commands,
  merchantOption,
  requiredMerchant,
  withDatabase,
} from './command.ts';
import { recordCommand } from './member-command.ts';

/** The options, and the field of the branding that each one sets. `none` resets a field. */
const fields = {
  '--logo <url>': ['logoUrl', 'an https URL of an image, or none'],
  '--dark-logo <url>': ['darkLogoUrl', 'the logo for dark backgrounds, or none'],
  '--icon <url>': ['iconUrl', 'a square image, or none'],
  '--color <color>': ['color', 'of buttons: # and six hexadecimal digits, or none'],
  '--background <color>': ['background', 'behind the order: # and six hexadecimal digits, or none'],
  '--corner-radius <pixels>': ['cornerRadius', `${cornerRadii.least} to ${cornerRadii.most}, or none`],
  '--font <font>': ['font', `${brandFonts.join(', ')}, or none`],
  '--legal-name <name>': ['legalName', 'on receipts, or none'],
  '--support-url <url>': ['supportUrl', 'where payers get help, or none'],
  '--terms-url <url>': ['termsUrl', "the merchant's terms, or none"],
  '--refund-url <url>': ['refundUrl', 'how the merchant refunds, or none'],
  '--privacy-url <url>': ['privacyUrl', "the merchant's privacy policy, or none"],
} as const;

export const brandCommands: Commands = {
  'merchant brand': {
    does: "sets the look of a merchant's hosted pages, and shows it",
    examples: ["merchant brand --merchant mer_… --logo https://tea.example/logo.png --color '#0b6b4d'"],
    options: [
      merchantOption,
      ...Object.entries(fields).map(([flags, [, description]]) => optional(flags, description)),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const { merchantId } = await requiredMerchant(db, options);
      const changes = changesOf(options);
      if (Object.keys(changes).length > 0) await change(db, config, outside, { merchantId, changes });
      const branding = await findBranding(db, merchantId);
      const lines = Object.entries(fields).map(([flags, [field]]) => {
        const value = branding[field];
        return `${nameOf(flags)}: ${value === plain[field] ? 'none' : value}`;
      });
      return { text: lines.join('\n'), json: { merchantId, ...branding } };
    }),
  },
};

const plain = { ...plainLook, logoUrl: '', darkLogoUrl: '', iconUrl: '' } as const;
const nameOf = (flags: string) => flags.slice(2, flags.indexOf(' '));

const checkUpdate = compileCheck(brandingUpdateBody, 'body');

/** The fields that the command line names, checked as the API checks them. */
function changesOf(options: Options): Partial<Branding> {
  const named = Object.entries(fields).flatMap(([flags, [field, description]]) => {
    const given = options.optional(nameOf(flags));
    if (given === undefined) return [];
    const value = given === 'none' ? plain[field] : field === 'cornerRadius' ? Number(given) : given;
    if (checkUpdate({ [field]: value }) !== undefined)
      throw new UsageError(`--${nameOf(flags)} is ${given}: write ${description}`);
    return [[field, value] as const];
  });
  return Object.fromEntries(named);
}

interface Change {
  readonly merchantId: string;
  /** Fields left out keep their present values. */
  readonly changes: Partial<Branding>;
}

async function change(
  db: Database,
  config: Config,
  outside: CommandContext,
  { merchantId, changes }: Change,
): Promise<void> {
  const images = imagesOf(db, config, outside);
  try {
    const taken = await takeBrandImages(images?.intake ?? noIntake, db, { merchantId, urls: changes });
    await db.transaction(async (transaction) => {
      const stored = await lockedBranding(transaction, merchantId);
      const wanted = { ...stored.branding, ...changes };
      await changeBranding(transaction, outside, { merchantId, stored, wanted, taken });
      const before = JSON.stringify(stored.branding);
      const after = JSON.stringify(await findBranding(transaction, merchantId));
      const act = { action: 'updateBranding', subject: '', before, after };
      await recordCommand(transaction, outside, config, { merchantId, act });
    });
  } finally {
    await images?.close();
  }
}

function imagesOf(db: Database, config: Config, outside: CommandContext) {
  const settings = imageOptionsOf(config);
  if (settings === undefined) return undefined;
  return openImages({
    ...outside,
    settings,
    db,
    log: silentLog,
    origin: config.origin,
    masterKey: bytesOf(config.masterKeys[0]),
    searchSessions: (search) => searchSnapshots(db, search),
  });
}
