import Type from 'typebox';
import { product, productCreateBody, productUpdateBody } from './product.ts';
import { route } from './route.ts';
import { idText, listCursor, pageParams, replacement, strictObject, textPage } from './schema.ts';

const productIdBody = strictObject({ productId: idText });

const write = { method: 'POST', tag: 'Products', permissions: ['products:write'], effect: 'update' } as const;

/** Products of the merchant API. */
export const productRoutes = {
  createProduct: route({
    ...write,
    path: '/product/create',
    summary: 'Create a product',
    description:
      'The image is downloaded meanwhile, which takes 10 seconds at most. The product is created even when the download fails: then imageUrl is empty, imageReason says why, and imageStatus whether it is retried.',
    body: productCreateBody,
    reply: product,
    effect: 'create',
    errors: ['field_invalid', 'image_store_unavailable'],
  }),
  listProducts: route({
    method: 'GET',
    path: '/product/list/:page/:size',
    summary: 'List products, newest first',
    description: 'Pages count from 1; `page` and `size` come back as strings.',
    tag: 'Products',
    params: pageParams,
    query: listCursor,
    reply: textPage({ products: Type.Array(product) }),
    permissions: ['products:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  listProductsByIds: route({
    ...write,
    path: '/product/list/by/ids',
    summary: 'Read several products',
    description: 'In the requested order; unknown ids are left out.',
    body: strictObject({ productIds: Type.Array(idText, { maxItems: 100 }) }),
    reply: Type.Array(product),
    permissions: ['products:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  updateProduct: route({
    ...write,
    path: '/product/update',
    summary: 'Replace a product',
    description: `${replacement} A new imageUrl is downloaded and replaces the image; the current hosted URL keeps it. The links that show the product get a new version.`,
    body: productUpdateBody,
    errors: ['product_not_found', 'product_removed', 'product_changed', 'image_store_unavailable'],
  }),
  removeProduct: route({
    ...write,
    path: '/product/remove',
    summary: 'Remove a product that no payment link ever referenced',
    description:
      'Always refused after any link, even a disabled or deleted one, has referenced the product. A product that only sessions used can be removed.',
    body: productIdBody,
    errors: ['product_not_found', 'product_removed', 'product_used'],
  }),
  archiveProduct: route({
    ...write,
    path: '/product/archive',
    summary: 'Archive a product',
    description: 'Every payment link that shows the product is disabled. Open sessions stay payable.',
    body: productIdBody,
    errors: ['product_not_found', 'product_removed'],
  }),
  unarchiveProduct: route({
    ...write,
    path: '/product/unarchive',
    summary: 'Unarchive a product',
    description: 'Links that archiving disabled stay disabled.',
    body: productIdBody,
    errors: ['product_not_found', 'product_removed'],
  }),
} as const;
