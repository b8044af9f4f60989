import type { Transaction } from '@florin/pg';
import { plainLook } from '@florin/protocol/brand-look.ts';
import type { BrandLook } from '@florin/protocol/branding.ts';
import { type BrandImages, changeBranding, lockedBranding } from '#catalog/branding.ts';
import type { Clock } from '#outside/clock.ts';

const noBrandImage = { name: '', url: '' };
export const noBrandImages: BrandImages = { logo: noBrandImage, darkLogo: noBrandImage, icon: noBrandImage };

/** Replaces a merchant's branding as a whole, with images that are hosted already. */
export async function updateBranding(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  brand: {
    readonly merchantId: string;
    readonly images: BrandImages;
    readonly look: Partial<BrandLook>;
    readonly embedOrigins?: readonly string[];
    readonly ifUpdateAt?: string | undefined;
  },
): Promise<void> {
  const { merchantId, images: taken, look, embedOrigins = [], ifUpdateAt } = brand;
  const stored = await lockedBranding(transaction, merchantId);
  const wanted = { ...stored.branding, ...plainLook, ...look, embedOrigins: [...embedOrigins] };
  await changeBranding(transaction, deps, { merchantId, stored, wanted, taken, ifUpdateAt });
}
