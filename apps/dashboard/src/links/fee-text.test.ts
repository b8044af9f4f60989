import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feeText } from './fee-text.ts';

const rates = { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 };

test('the fee is told from the least to the most that the installation’s tokens can cost', () => {
  const two = [{ chainId: '1' }, { chainId: '1' }];
  assert.equal(
    feeText(rates, [...two, { chainId: '8453' }]),
    '0.2 % to 0.6 %, by the token that the payer uses',
  );
  assert.equal(feeText(rates, two), '0.2 % to 0.3 %, by the token that the payer uses');
  assert.equal(feeText(rates, [{ chainId: '1' }]), '0.2 %');
});

test('no fee is told before it is known', () => {
  assert.equal(feeText(undefined), '');
});
