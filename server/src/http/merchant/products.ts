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
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Products: create, change, list and read. */
export function addProductRoutes(add: MerchantRoutes, db: Database, deps: LinkDeps): void {
  add.change(routes.createProduct, ({ body, caller: { merchantId } }, transaction) =>
    createProduct(transaction, deps, { merchantId, body }),
  );

  add.read(routes.listProducts, async ({ params, caller: { merchantId } }) => {
    const { total, products } = await listProducts(db, { ...params, merchantId });
    return {
      total,
      page: String(params.page),
      size: String(params.size),
      hasMore: hasMore(total, params),
      products,
    };
  });

  add.query(routes.listProductsByIds, ({ body, caller: { merchantId } }, queryable) =>
    productsByIds(queryable, { merchantId, productIds: body.productIds }),
  );

  add.change(routes.updateProduct, async ({ body, caller: { merchantId } }, transaction) => {
    const request = { merchantId, productId: body.productId, body };
    await updateProduct(transaction, deps, request);
    return success;
  });

  add.change(routes.removeProduct, async ({ body, caller: { merchantId } }, transaction) => {
    await removeProduct(transaction, deps, { ...body, merchantId });
    return success;
  });

  add.change(routes.archiveProduct, async ({ body, caller: { merchantId } }, transaction) => {
    await archiveProduct(transaction, deps, { ...body, merchantId });
    return success;
  });

  add.change(routes.unarchiveProduct, async ({ body, caller: { merchantId } }, transaction) => {
    await unarchiveProduct(transaction, deps, { ...body, merchantId });
    return success;
  });
}
