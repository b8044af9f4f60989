import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { ImageIntake } from '#catalog/images/intake.ts';
import { noImage } from '#catalog/images/product-image.ts';
import { createProduct, listProducts, productsByIds, removeProduct } from '#catalog/product.ts';
import type { LinkContext } from '#links/context.ts';
import { archiveProduct, changeProduct, unarchiveProduct } from '#links/link-status.ts';
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Products: create, change, list and read. */
export function addProductRoutes(add: MerchantRoutes, deps: LinkContext, images: ImageIntake): void {
  add.preparedChange(
    routes.createProduct,
    ({ body, caller: { merchantId } }, db) => images.take(db, { merchantId, url: body.imageUrl ?? '' }),
    ({ body, caller: { merchantId } }, transaction, image) =>
      createProduct(transaction, deps, { merchantId, body, image }),
  );

  add.read(routes.listProducts, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, products } = await listProducts(db, { ...params, ...query, merchantId });
    return { ...place, page: String(params.page), size: String(params.size), products };
  });

  add.query(routes.listProductsByIds, ({ body, caller: { merchantId } }, queryable) =>
    productsByIds(queryable, { merchantId, productIds: body.productIds }),
  );

  add.preparedChange(
    routes.updateProduct,
    async ({ body, caller: { merchantId } }, db) => {
      // Downloads nothing for an unknown product; the update itself refuses it.
      const found = await productsByIds(db, { merchantId, productIds: [body.productId] });
      return found.length === 0 ? noImage : images.take(db, { merchantId, url: body.imageUrl ?? '' });
    },
    async ({ body, caller: { merchantId } }, transaction, image) => {
      const { productId, ifUpdateAt } = body;
      await changeProduct(transaction, deps, { merchantId, productId, body, image, ifUpdateAt });
      return success;
    },
  );

  add.action(routes.removeProduct, ({ body, caller: { merchantId } }, transaction) =>
    removeProduct(transaction, deps, { ...body, merchantId }),
  );

  add.action(routes.archiveProduct, ({ body, caller: { merchantId } }, transaction) =>
    archiveProduct(transaction, deps, { ...body, merchantId }),
  );

  add.action(routes.unarchiveProduct, ({ body, caller: { merchantId } }, transaction) =>
    unarchiveProduct(transaction, deps, { ...body, merchantId }),
  );
}
