import { createHash } from 'node:crypto';
import { formatMoney } from '@florin/checkout';
import { brandColorsOf, groundColorsOf } from '@florin/protocol/brand-colors.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply } from 'fastify';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant, type ShownMerchant } from '#catalog/branding.ts';
import { DecodeFailure } from '#catalog/images/image-decoder.ts';
import { imageUrlOfSize } from '#catalog/images/image-name.ts';
import { ImageStoreFailure } from '#catalog/images/image-store.ts';
import { cardDrawer, type LinkCard } from '#catalog/images/link-card.ts';
import { findLink } from '#links/link-lookup.ts';
import type { StoredLink } from '#links/stored-link.ts';
import type { CheckoutContext } from './context.ts';

/** The page's own colours, for merchants who choose none. */
const plain = { background: '#ffffff', color: '#0b6b4d' } as const;
/** A chat fetches a picture once and keeps it, so few are wanted at a time: about 2 MB. */
const keptPictures = 64;

/** What the picture shows besides the logo, whose file name stands for it: its content never changes. */
type Facts = Omit<LinkCard, 'logo'> & { readonly logoFile: string };

function factsOf(link: StoredLink, front: ShownMerchant): Facts {
  const ground = front.background === '' ? plain.background : front.background;
  const { ink, soft, scheme } = groundColorsOf(ground);
  const { accent, onAccent } = brandColorsOf(front.color === '' ? plain.color : front.color);
  const isDark = scheme === 'dark';
  const url = (isDark && front.darkLogoUrl) || front.logoUrl || front.iconUrl;
  return {
    ...{ ground, ink, soft, accent, onAccent },
    merchant: merchantText(front.merchantName, merchantTextLimits.linkName),
    title: merchantText(link.linkName, merchantTextLimits.linkName),
    // Chats show one picture to readers of all languages.
    amount: link.linkType === 'custom' ? '' : formatMoney('en', link.amount.toString()),
    logoFile: url === '' ? '' : (imageUrlOfSize(url, 640).split('/').at(-1) ?? ''),
    hasPlate: isDark && front.darkLogoUrl === '',
  };
}

const versionOf = (facts: Facts) =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);

/** The path of a link's picture; another one after every change of what it shows. */
export function picturePath(link: StoredLink, front: ShownMerchant): string {
  return `/link/${link.linkId}/picture.png?v=${versionOf(factsOf(link, front))}`;
}

/**
 * Answers with the picture that chats show of a link. Equal pictures are drawn once and kept. Refuses unknown links with
 * 100101 and deleted ones with 100102; 503 while too many are drawn.
 */
export function linkPictures(
  deps: CheckoutContext,
): (linkId: string, reply: FastifyReply) => Promise<Buffer | undefined> {
  const draw = cardDrawer({ clock: deps.clock });
  const kept = new Map<string, Promise<Buffer>>();
  const drawn = (facts: Facts) => {
    const version = versionOf(facts);
    const { logoFile, ...card } = facts;
    const picture = kept.get(version) ?? logoOf(deps, logoFile).then((logo) => draw({ ...card, logo }));
    // The newest use stands last.
    kept.delete(version);
    kept.set(version, picture);
    picture.catch(() => kept.delete(version));
    for (const oldest of [...kept.keys()].slice(0, -keptPictures)) kept.delete(oldest);
    return picture;
  };
  return async (linkId, reply) => {
    const link = await findLink(deps.db, linkId, deps.clock.now());
    if (link === undefined || link.status === 'deleted') throw new Refusal('route_unknown');
    const front = await findShownMerchant(deps.db, link.merchantId);
    try {
      const bytes = await drawn(factsOf(link, front));
      reply.type('image/png').header('cache-control', 'public, max-age=86400');
      return bytes;
    } catch (error) {
      if (!(error instanceof DecodeFailure || error instanceof ImageStoreFailure)) throw error;
      deps.log.warn('checkout.picture_failed', { message: error.message });
      reply.code(503).header('retry-after', '30');
      return undefined;
    }
  };
}

async function logoOf({ imageStore }: CheckoutContext, file: string): Promise<Uint8Array | undefined> {
  return file === '' ? undefined : imageStore?.read(file);
}
