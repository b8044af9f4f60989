import Type, { type Static } from 'typebox';
import { attribute, imageUrl, nameText, strictObject, text } from './schema.ts';

export const itemType = Type.Union([
  Type.Literal('product'),
  Type.Literal('one_time'),
  Type.Literal('user_priced'),
]);
export type ItemType = Static<typeof itemType>;

export const productData = Type.Object({
  productName: Type.String({ description: 'What the payer reads' }),
  productDescription: Type.String({ description: 'Empty when there is none' }),
  imageUrl: Type.String({ description: 'Hosted image; empty when there is none' }),
  attributes: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  status: Type.Optional(Type.String()),
});
export type ProductData = Static<typeof productData>;

/** A line item as reads return it. `productData` is absent from payment link lists. */
export const lineItem = Type.Object({
  lineItemId: Type.String({ description: 'Prefix `li_`' }),
  itemType,
  productId: Type.String({ description: 'Empty for items without a product' }),
  quantity: Type.Integer(),
  unitPrice: Type.Integer({ description: 'Micro-USD of one unit' }),
  productData: Type.Optional(productData),
});
export type LineItem = Static<typeof lineItem>;

/** A line item as link lists and shortened events show it. */
export function withoutProductData({ productData: _, ...item }: LineItem): Omit<LineItem, 'productData'> {
  return item;
}

export const lineItems = Type.Object({ items: Type.Array(lineItem) });

/** How many units of one item may be sold at once. */
export const maxQuantity = 10_000;
export const quantity = Type.Integer({ minimum: 1, maximum: maxQuantity });

/**
 * Bytes of all line items of one link or session, as JSON in UTF-8, with their products' data. Escapes count as
 * written: a control character takes six bytes.
 */
export const maxLineItemsBytes = 64 * 1024;

/** The product data of a `one_time` item in a checkout session. */
export const productDataBody = strictObject({
  productName: nameText({ max: 100 }),
  productDescription: Type.Optional(text({ max: 1000 })),
  imageUrl: Type.Optional(Type.Union([Type.Literal(''), imageUrl])),
  attributes: Type.Optional(Type.Array(attribute, { maxItems: 10 })),
});
