import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkCreateBody } from '@florin/protocol/link.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { ItemProduct } from '#catalog/product.ts';
import { systemRandom } from '#outside/random.ts';
import { assertSellable, type LinkItem, linkAmountOf, linkItemsOf } from './link-terms.ts';

type ItemBody = LinkCreateBody['lineItems'][number];

const base = {
  linkName: 'Link',
  accountId: 'acc_1',
  settlementToken: 'base::usdc',
  feeModel: 1,
} as const;
const itemsOf = (linkType: 'fixed' | 'custom', lineItems: ItemBody[]) =>
  linkItemsOf({ ...base, linkType, lineItems }, systemRandom).map(({ lineItemId: _, ...item }) => item);

test('a fixed link has priced products, with quantity 1 unless stated', () => {
  assert.deepEqual(
    itemsOf('fixed', [
      { itemType: 'product', productId: 'prd_1', unitPrice: 5 },
      { itemType: 'product', productId: 'prd_1', quantity: 3, unitPrice: 7 },
    ]),
    [
      { itemType: 'product', productId: 'prd_1', quantity: 1, unitPrice: 5 },
      { itemType: 'product', productId: 'prd_1', quantity: 3, unitPrice: 7 },
    ],
  );
});

// proves S2.8
test('a custom link has one user_priced item, with or without a product', () => {
  assert.deepEqual(itemsOf('custom', [{ itemType: 'user_priced', unitPrice: 0, quantity: 1 }]), [
    { itemType: 'user_priced', productId: '', quantity: 1, unitPrice: 0 },
  ]);
  assert.deepEqual(itemsOf('custom', [{ itemType: 'user_priced', productId: 'prd_1' }]), [
    { itemType: 'user_priced', productId: 'prd_1', quantity: 1, unitPrice: 0 },
  ]);
});

const product: ItemBody = { itemType: 'product', productId: 'prd_1', unitPrice: 5 };
const userPriced: ItemBody = { itemType: 'user_priced' };
const refused: [string, 'fixed' | 'custom', ItemBody[], string, string][] = [
  [
    'a fixed link with a user_priced item',
    'fixed',
    [product, userPriced],
    'link_items_mismatch',
    'lineItems[1].itemType',
  ],
  [
    'a fixed link with a one_time item',
    'fixed',
    [{ itemType: 'one_time', unitPrice: 5 }],
    'link_items_mismatch',
    'lineItems[0].itemType',
  ],
  ['a custom link with a product item', 'custom', [product], 'link_items_mismatch', 'lineItems[0].itemType'],
  ['a custom link with two items', 'custom', [userPriced, userPriced], 'link_items_mismatch', 'lineItems'],
  // proves S2.7
  [
    'a product item without a price',
    'fixed',
    [{ itemType: 'product', productId: 'prd_1' }],
    'field_invalid',
    'lineItems[0].unitPrice',
  ],
  // proves S2.7
  [
    'a product item of price 0',
    'fixed',
    [{ ...product, unitPrice: 0 }],
    'field_invalid',
    'lineItems[0].unitPrice',
  ],
  [
    'a product item without a product',
    'fixed',
    [{ itemType: 'product', unitPrice: 5 }],
    'field_invalid',
    'lineItems[0].productId',
  ],
  [
    'a user_priced item with a price',
    'custom',
    [{ ...userPriced, unitPrice: 5 }],
    'field_invalid',
    'lineItems[0].unitPrice',
  ],
  [
    'two units of a user_priced item',
    'custom',
    [{ ...userPriced, quantity: 2 }],
    'field_invalid',
    'lineItems[0].quantity',
  ],
];
for (const [rule, linkType, items, slug, param] of refused) {
  test(`${rule} is refused`, () => {
    assert.throws(
      () => itemsOf(linkType, items),
      (error: { slug?: string; details?: { param?: string } }) => {
        assert.deepEqual([error.slug, error.details?.param], [slug, param]);
        return true;
      },
    );
  });
}

const linkItem = (quantity: number, unitPrice: number): LinkItem => ({
  lineItemId: 'li_1',
  itemType: 'product',
  productId: 'prd_1',
  quantity,
  unitPrice,
});

// proves W2.12
test('a link totals at most ten million dollars, exactly', () => {
  assert.equal(linkAmountOf([linkItem(10_000, 1_000_000_000)]), microUsd(10_000_000_000_000n));
  assert.throws(() => linkAmountOf([linkItem(10_000, 1_000_000_000), linkItem(1, 1)]), {
    slug: 'amount_out_of_range',
  });
  assert.throws(() => linkAmountOf([linkItem(10_000, 10_000_000_000_000)]), { slug: 'amount_out_of_range' });
});

// proves W7.5
test('a link of which all products fail has one error code, and of which some fail another', () => {
  const entry = (productId: string, status: ItemProduct['status']): [string, ItemProduct] => [
    productId,
    {
      productId,
      status,
      commonPrices: [1],
      productData: { productName: '', productDescription: '', imageUrl: '', attributes: [] },
    },
  ];
  const products = new Map([entry('live', 'active'), entry('old', 'archived')]);
  assert.doesNotThrow(() => assertSellable(['live'], products));
  assert.throws(() => assertSellable(['none'], products), { slug: 'product_not_found' });
  assert.throws(() => assertSellable(['none', 'nil'], products), { slug: 'product_not_found' });
  assert.throws(() => assertSellable(['live', 'none'], products), { slug: 'products_missing' });
  assert.throws(() => assertSellable(['old'], products), { slug: 'product_not_active' });
  assert.throws(() => assertSellable(['old', 'live'], products), { slug: 'products_not_active' });
});
