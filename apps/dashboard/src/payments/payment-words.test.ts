import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderKinds } from '@florin/protocol/order.ts';
import { wayText } from './payment-words.ts';

test('the way of the money is said in words for every kind of order, and a new kind says nothing', () => {
  const networks = { paidOn: 'Ethereum', settledOn: 'Base' };
  const texts = Object.fromEntries(
    Object.entries(orderKinds).map(([kind, orderType]) => [kind, wayText(orderType, networks)]),
  );
  assert.deepEqual(texts, {
    escrow:
      'The payment contract keeps the money until the payment is final, and then passes it on to your wallet.',
    direct: 'The money went from the payer straight to your wallet, in one transaction.',
    vaultPayout:
      'By the operator’s vault from Ethereum to Base: the money goes into the vault, and the vault pays your wallet.',
    cctp: 'By CCTP from Ethereum to Base: Circle burns the payer’s USDC and mints USDC to your wallet. The operator never holds it.',
  });
  assert.match(
    wayText(orderKinds.vaultPayout, { paidOn: 'Base', settledOn: 'Base' }) ?? '',
    /vault on Base:/,
  );
  assert.equal(wayText(4, networks), undefined);
});
