import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { changeBranding, findBranding, lockedBranding, takeBrandImages } from '#catalog/branding.ts';
import type { ImageIntake } from '#catalog/images/intake.ts';
import { newPages } from '#links/payer-place.ts';
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';
import { assertMayShow, type TellContext, tellOfCaller, tellOfPlaces } from './tell-owners.ts';

const { routes } = merchantApi;

/** The appearance of the hosted pages: read and change. Owners are told of new pages and origins, and of another name. */
export function addBrandingRoutes(add: MerchantRoutes, deps: TellContext, images: ImageIntake): void {
  add.read(routes.getBranding, ({ caller: { merchantId } }, db) => findBranding(db, merchantId));

  add.preparedChange(
    routes.updateBranding,
    ({ body, caller: { merchantId } }, db) => takeBrandImages(images, db, { merchantId, urls: body }),
    async (call, transaction, taken) => {
      const { body, caller } = call;
      const { merchantId } = caller;
      // Only now: of two changes at one time each keeps what the other one sets.
      const stored = await lockedBranding(transaction, merchantId);
      const { ifUpdateAt, ...changes } = body;
      const wanted = { ...stored.branding, ...changes };
      const { places, legalName } = await newPages(transaction, merchantId, stored.branding, wanted);
      assertMayShow(caller, [
        ...places,
        ...(legalName === undefined ? [] : [legalName[1] || 'no legal name']),
      ]);
      await changeBranding(transaction, deps, { merchantId, stored, wanted, taken, ifUpdateAt });
      await tellOfPlaces(transaction, deps, call, { subject: merchantId, places });
      if (legalName !== undefined) {
        const [before, after] = legalName.map((name) => JSON.stringify({ legalName: name }));
        const renaming = { action: 'changeLegalName', subject: merchantId, before, after };
        await tellOfCaller(transaction, deps, call, renaming);
      }
      return success;
    },
  );
}
