import type { Database } from '@florin/pg';
import {
  bytesOf,
  type Config,
  findBranding,
  findShownMerchant,
  imageOptionsOf,
  noIntake,
  openImages,
  searchSnapshots,
  silentLog,
  takeLogo,
  updateBranding,
} from '@florin/server/operator';
import {
  type Command,
  type CommandContext,
  merchantOption,
  optional,
  requiredMerchant,
  withDatabase,
} from './command.ts';
import { UsageError } from './command-error.ts';

export const brandMerchantCommand: Command = {
  does: "sets the logo or colour of a merchant's hosted pages, and shows both",
  options: [
    merchantOption,
    optional('--logo <url>', 'an https URL of an image, or none'),
    optional('--color <color>', '# and six hexadecimal digits, or none'),
  ],
  run: (options, outside) =>
    withDatabase(outside, async (db, config) => {
      const { merchantId } = await requiredMerchant(db, options);
      const [logo, color] = [options.optional('logo'), colorOf(options.optional('color'))];
      if (logo !== undefined || color !== undefined)
        await change(db, config, outside, { merchantId, logo, color });
      const branding = await findBranding(db, merchantId);
      const text = `logo: ${branding.logoUrl || 'none'}\ncolor: ${branding.color || "the page's own"}`;
      return { text, json: { merchantId, ...branding } };
    }),
};

/** The colour as stored; empty for none. */
function colorOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (given === 'none') return '';
  if (!/^#[0-9a-fA-F]{6}$/.test(given))
    throw new UsageError(`--color is ${given}: write # and six hexadecimal digits, or none`);
  return given;
}

interface Change {
  readonly merchantId: string;
  /** Undefined keeps the present logo. */
  readonly logo: string | undefined;
  readonly color: string | undefined;
}

async function change(db: Database, config: Config, outside: CommandContext, wanted: Change): Promise<void> {
  const { merchantId } = wanted;
  const before = await findShownMerchant(db, merchantId);
  const url = wanted.logo === 'none' ? '' : (wanted.logo ?? before.logoUrl);
  const images = imagesOf(db, config, outside);
  try {
    // Sending a hosted URL back keeps the image.
    const logo = await takeLogo(images?.intake ?? noIntake, db, { merchantId, url });
    const color = wanted.color ?? before.color;
    await db.transaction((transaction) => updateBranding(transaction, outside, { merchantId, logo, color }));
  } finally {
    await images?.close();
  }
}

function imagesOf(db: Database, config: Config, outside: CommandContext) {
  const { images: settings } = imageOptionsOf(config.images);
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
