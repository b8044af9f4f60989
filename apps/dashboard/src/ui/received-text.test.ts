import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cameText, receivedText, refundedText } from './received-text.ts';

const deposit = (amountInToken: string, missingInToken: string) => ({
  ...{ tokenId: 'base::usdc', chainId: '8453', symbol: 'USDC', decimals: 6, addressEnd: '53b8' },
  ...{ amountInToken, missingInToken, finalInToken: '0', payUntil: 0 },
});

test('a payment in parts tells how much of it has arrived, and all of it where nothing is missing', () => {
  assert.equal(receivedText(deposit('12000000', '13000000')), '12.00 of 25.00 USDC received');
  assert.equal(receivedText(deposit('30000000', '0')), '30.00 USDC received');
});

test('a payment is refunded once all that its payer paid went back, without what the operator added', () => {
  const text = (refundedAmount: number) =>
    refundedText({ amount: 1_000_000, refundedAmount }, { totalValue: 1_002_000, addedValue: 5_000 });
  assert.deepEqual([text(996_999), text(997_000)], ['Partly refunded', 'Refunded']);
});

test('money beside a payment says why it is none', () => {
  const usdc = { symbol: 'USDC', decimals: 6 };
  const came = (
    kind: 'duplicate' | 'overpaid' | 'wrong_token' | 'late',
    resolvedTx = '0x1',
    isGone = false,
  ) =>
    cameText(
      {
        ...{ exceptionId: 'exc_1', kind, orderId: '0x1', payer: '', tokenId: 'base::usdc', txHash: '' },
        ...{ amountInToken: '25000000', decision: '', decideBy: '', sessionId: 'sess_1', resolvedTx },
        ...{ status: resolvedTx === '' ? 'open' : 'resolved', isGone, createAt: '', updateAt: '' },
      },
      usdc,
    );
  assert.equal(came('duplicate'), 'A second 25.00 USDC came and went back');
  assert.equal(came('duplicate', ''), 'A second 25.00 USDC came');
  assert.equal(came('overpaid'), '25.00 USDC too much came and went back');
  assert.equal(came('late'), '25.00 USDC came and went back');
  assert.equal(came('late', '', true), '25.00 USDC came, and the chain took it back');
});
