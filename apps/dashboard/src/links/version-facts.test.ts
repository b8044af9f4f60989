import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkTermsView } from '@florin/protocol/link-history.ts';
import { versionChanges } from './version-facts.ts';

const productData = { productName: 'Mug', productDescription: '', imageUrl: '', attributes: [] };
const terms: LinkTermsView = {
  ...{ linkType: 'fixed', linkName: 'Mug', accountName: 'Till', accountAddress: '0x1', feeModel: 1 },
  ...{ settlementToken: 'base::usdc', payerEmailRequired: 0, successUrl: '' },
  ...{ customSuccessText: '', customDisabledText: '' },
  lineItems: {
    items: [
      {
        lineItemId: 'li_1',
        itemType: 'product',
        productId: 'prd_1',
        quantity: 1,
        unitPrice: 25_000_000,
        productData,
      },
    ],
  },
};
const tokenName = (tokenId: string) => `token ${tokenId}`;

test('two versions differ in what a person changed, and in nothing else', () => {
  const items = terms.lineItems.items.map((item) => ({ ...item, lineItemId: 'li_2' }));
  assert.deepEqual(versionChanges(terms, { ...terms, lineItems: { items } }, tokenName), []);
  const [item] = items;
  assert.ok(item !== undefined);
  const changed: LinkTermsView = {
    ...terms,
    ...{ linkName: 'Two mugs', feeModel: 2, maxPayments: 1_000, settlementToken: 'base::usdt' },
    lineItems: {
      items: [
        { ...item, quantity: 2 },
        { ...item, productData: { ...productData, productName: 'Tea' } },
      ],
    },
  };
  assert.deepEqual(versionChanges(terms, changed, tokenName), [
    { name: 'Name', before: 'Mug', after: 'Two mugs' },
    { name: 'Product 1', before: 'Mug, 1 × $25.00', after: 'Mug, 2 × $25.00' },
    { name: 'Product 2', before: undefined, after: 'Tea, 1 × $25.00' },
    { name: 'You receive', before: 'token base::usdc', after: 'token base::usdt' },
    { name: 'Payments in all', before: undefined, after: '1,000' },
    { name: 'The fee', before: 'You pay it', after: 'The payer pays it' },
  ]);
});
