import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { findBranding, takeBrandImages, updateBranding } from '#catalog/branding.ts';
import type { ImageIntake } from '#catalog/images/intake.ts';
import type { Clock } from '#outside/clock.ts';
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** The appearance of the hosted pages: read and replace. */
export function addBrandingRoutes(
  add: MerchantRoutes,
  deps: { readonly clock: Clock },
  images: ImageIntake,
): void {
  add.read(routes.getBranding, ({ caller: { merchantId } }, db) => findBranding(db, merchantId));

  add.preparedChange(
    routes.updateBranding,
    ({ body, caller: { merchantId } }, db) => takeBrandImages(images, db, { merchantId, urls: body }),
    async ({ body, caller: { merchantId } }, transaction, taken) => {
      const { logoUrl: _logo, darkLogoUrl: _dark, iconUrl: _icon, updateAt: _at, ...wanted } = body;
      const { embedOrigins, ifUpdateAt, ...look } = wanted;
      await updateBranding(transaction, deps, { merchantId, images: taken, look, embedOrigins, ifUpdateAt });
      return success;
    },
  );
}
