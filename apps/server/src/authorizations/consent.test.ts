import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredOrder } from '#orders/stored-order.ts';
import { fixtureOrder as order } from '../../test/harness/order-fixture.ts';
import { consentOf, consentsOf, permit2Word } from './consent.ts';

const place = { gateway: order.order.to, domain: undefined };

test('Permit2 nonces of different orders share one word, so that only a payer’s first payment opens a word', () => {
  const others = ['00', '2b', 'ff'].map((last): StoredOrder => {
    return { ...order, orderId: `0x${'c8'.repeat(31)}${last}` };
  });
  const nonces = [order, ...others].map(
    (each) => consentOf('permit2', each, { ...place, usedNonces: 0n })?.nonce,
  );
  assert.deepEqual(
    nonces.map((nonce = 0n) => [nonce >> 8n === permit2Word, nonce & 255n]),
    [
      [true, 42n],
      [true, 0n],
      [true, 43n],
      [true, 255n],
    ],
  );
});

test('a payer is asked for the order’s own nonce only when its shared nonce is used', () => {
  const nonceWith = (usedNonces: bigint) => consentOf('permit2', order, { ...place, usedNonces })?.nonce;
  const everyOther = 2n ** 256n - 1n - (1n << 42n);
  assert.deepEqual(
    [nonceWith(0n), nonceWith(everyOther), nonceWith(1n << 42n), nonceWith(2n ** 256n - 1n)],
    [(permit2Word << 8n) | 42n, (permit2Word << 8n) | 42n, BigInt(order.orderId), BigInt(order.orderId)],
  );
});

test('the order alone decides what a payer signs, and the two nonces differ', () => {
  const consents = consentsOf('permit2', order, place);
  assert.deepEqual(
    consents.map(({ nonce, typedData }) => [nonce, typedData.message['nonce']]),
    [(permit2Word << 8n) | 42n, BigInt(order.orderId)].map((nonce) => [nonce, nonce.toString()]),
  );
  assert.equal(new Set(consents.map(({ digest }) => digest)).size, 2);
});
