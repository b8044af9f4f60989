import Type, { type Static } from 'typebox';
import {
  attribute,
  idText,
  ignored,
  imageUrl,
  nameText,
  price,
  strictObject,
  text,
  timestampText,
  unchangedSince,
} from './schema.ts';

export const productStatus = Type.Union([Type.Literal('active'), Type.Literal('archived')]);

/** The result of downloading a product's image. */
export const imageStatus = Type.Union(
  [Type.Literal('none'), Type.Literal('hosted'), Type.Literal('pending'), Type.Literal('failed')],
  {
    description:
      'none: no image was named. hosted: imageUrl shows it. pending: the download failed and is retried. failed: it is not retried any more',
  },
);

export const product = Type.Object({
  productId: Type.String({ description: 'Prefix `prd_`' }),
  name: Type.String({ description: 'At most 100 characters' }),
  description: Type.String({ description: 'At most 1000 characters' }),
  imageUrl: Type.String({ description: 'The hosted copy; empty when there is none' }),
  imageStatus,
  imageReason: Type.String({ description: 'Why there is no image while pending or failed; else empty' }),
  status: productStatus,
  commonPrices: Type.Array(Type.Integer({ description: 'Micro-USD' })),
  attributes: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  createAt: timestampText,
  updateAt: timestampText,
});
export type Product = Static<typeof product>;

/** The fields of POST /product/create, and of /product/update besides productId. */
export const productFields = {
  name: nameText({ max: 100 }),
  commonPrices: Type.Array(price, { minItems: 1, maxItems: 5 }),
  description: Type.Optional(text({ max: 1000 })),
  imageUrl: Type.Optional(Type.Union([Type.Literal(''), imageUrl])),
  attributes: Type.Optional(Type.Array(attribute, { maxItems: 10 })),
} as const;

export const productCreateBody = strictObject(productFields);
export type ProductCreateBody = Static<typeof productCreateBody>;

/** POST /product/update: full replacement. */
export const productUpdateBody = strictObject({
  productId: idText,
  ...productFields,
  ifUpdateAt: unchangedSince('product', 100307),
  ...ignored('status', 'imageStatus', 'imageReason', 'createAt', 'updateAt'),
});
