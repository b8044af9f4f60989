import type { Product, ProductCreateBody } from '@florin/protocol/product.ts';
import { parseUsd, typedUsd, usdFault } from '../ui/amount.ts';
import type { DraftPart } from '../ui/conflict.tsx';

interface PriceRow {
  readonly key: string;
  readonly typed: string;
}

interface AttributeRow {
  readonly key: string;
  readonly name: string;
  readonly value: string;
}

/** What is typed into the form of a product. */
export interface ProductDraft {
  readonly name: string;
  readonly description: string;
  readonly imageUrl: string;
  readonly prices: readonly PriceRow[];
  readonly attributes: readonly AttributeRow[];
}

export const maxPrices = 5;
export const maxAttributes = 10;

export function newPriceRow(typed = ''): PriceRow {
  return { key: crypto.randomUUID(), typed };
}

export function newAttributeRow(name = '', value = ''): AttributeRow {
  return { key: crypto.randomUUID(), name, value };
}

export function productDraftOf(product: Product | undefined): ProductDraft {
  if (product === undefined)
    return { name: '', description: '', imageUrl: '', prices: [newPriceRow()], attributes: [] };
  return {
    name: product.name,
    description: product.description,
    imageUrl: product.imageUrl,
    prices: product.commonPrices.map((price) => newPriceRow(typedUsd(price))),
    attributes: product.attributes.map(({ name, value }) => newAttributeRow(name, value)),
  };
}

/** What is wrong before anything is sent, by the field's name or the key of its row. */
export function productFaults({ name, prices, attributes }: ProductDraft): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {};
  if (name.trim() === '') faults['name'] = 'Give the product a name.';
  for (const { key, typed } of prices) {
    const fault = usdFault(typed);
    if (fault !== undefined) faults[key] = fault;
  }
  for (const { key, name: attribute } of attributes)
    if (attribute.trim() === '') faults[key] = 'Name the attribute, or remove it.';
  return faults;
}

/** How a draft reads beside another one. */
export const productParts: readonly DraftPart<ProductDraft>[] = [
  { name: 'Name', fields: ['name'], textOf: ({ name }) => name.trim() },
  {
    name: 'Prices',
    fields: ['prices'],
    textOf: ({ prices }) => prices.map(({ typed }) => typed.trim()).join('\n'),
  },
  { name: 'Description', fields: ['description'], textOf: ({ description }) => description.trim() },
  { name: 'Image', fields: ['imageUrl'], textOf: ({ imageUrl }) => imageUrl.trim() },
  {
    name: 'Attributes',
    fields: ['attributes'],
    textOf: ({ attributes }) =>
      attributes.map(({ name, value }) => `${name.trim()}: ${value.trim()}`).join('\n'),
  },
];

/** The request body of a draft without faults. */
export function productBodyOf(draft: ProductDraft): ProductCreateBody {
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    imageUrl: draft.imageUrl.trim(),
    commonPrices: draft.prices.map(({ typed }) => parseUsd(typed) ?? 0),
    attributes: draft.attributes.map(({ name, value }) => ({ name: name.trim(), value: value.trim() })),
  };
}
