import assert from 'node:assert/strict';
import test from 'node:test';
import {
  newAttributeRow,
  newPriceRow,
  productBodyOf,
  productDraftOf,
  productFaults,
} from './product-draft.ts';

const cap = {
  productId: 'prd_1',
  name: 'Cap',
  description: 'Blue',
  imageUrl: 'https://shop.example.com/cap.png',
  imageStatus: 'hosted',
  imageReason: '',
  status: 'active',
  commonPrices: [12_500_000, 1],
  attributes: [{ name: 'Size', value: 'M' }],
  createAt: '2026-01-01 00:00:00',
  updateAt: '2026-01-01 00:00:00',
} as const;

test('a product that is read and saved without a change stays as it is', () => {
  const body = productBodyOf(
    productDraftOf({ ...cap, commonPrices: [...cap.commonPrices], attributes: [...cap.attributes] }),
  );
  const { name, description, imageUrl, commonPrices, attributes } = cap;
  assert.deepEqual(body, { name, description, imageUrl, commonPrices, attributes });
});

test('a new product needs a name and a price, and each attribute a name', () => {
  const [price, attribute] = [newPriceRow('0'), newAttributeRow('', 'M')];
  const draft = { ...productDraftOf(undefined), prices: [price], attributes: [attribute] };
  assert.deepEqual(Object.keys(productFaults(draft)), ['name', price.key, attribute.key]);
  const whole = { ...draft, name: 'Cap', prices: [newPriceRow('1,250.5')], attributes: [] };
  assert.deepEqual(productFaults(whole), {});
  assert.deepEqual(productBodyOf(whole).commonPrices, [1_250_500_000]);
});
