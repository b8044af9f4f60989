import { merchantApi } from '@florin/protocol/merchant-api.ts';
import {
  createProduct,
  listProducts,
  productsByIds,
  removeProduct,
  updateProduct,
} from '#catalog/product.ts';
import type { Database } from '#db/database.ts';
import type { LinkDeps } from '#links/link.ts';
import { archiveProduct, unarchiveProduct } from '#links/link-status.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import { type AddRoute, success } from '../route-handler.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Products: create, change, list and read. */
export function addProductRoutes(addRoute: AddRoute<ApiKeyIdentity>, db: Database, deps: LinkDeps): void {
  addRoute(routes.createProduct, ({ body, caller: { merchantId } }) =>
    db.transaction((transaction) => createProduct(transaction, deps, { merchantId, body })),
  );

  addRoute(routes.listProducts, async ({ params, caller: { merchantId } }) => {
    const { total, products } = await listProducts(db, { ...params, merchantId });
    return {
      total,
      page: String(params.page),
      size: String(params.size),
      hasMore: hasMore(total, params),
      products,
    };
  });

  addRoute(routes.listProductsByIds, ({ body, caller: { merchantId } }) =>
    productsByIds(db, { merchantId, productIds: body.productIds }),
  );

  addRoute(routes.updateProduct, async ({ body, caller: { merchantId } }) => {
    const request = { merchantId, productId: body.productId, body };
    await db.transaction((transaction) => updateProduct(transaction, deps, request));
    return success;
  });

  addRoute(routes.removeProduct, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => removeProduct(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.archiveProduct, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => archiveProduct(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.unarchiveProduct, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => unarchiveProduct(transaction, deps, { ...body, merchantId }));
    return success;
  });
}
