import assert from 'node:assert/strict';
import { test } from 'node:test';
import { returnUrlOf, shopReturnOf, withoutDefaults } from './shop-return.ts';

test('a way to the shop has the session and its status, and everything else as the merchant wrote it', () => {
  const cases = [
    ['https://shop.example', 'https://shop.example?florin_status=open'],
    ['https://shop.example/?a=%20b+c', 'https://shop.example/?a=%20b+c&florin_status=open'],
    ['https://shop.example/{SESSION_ID}#a#b', 'https://shop.example/sess_1?florin_status=open#a#b'],
    [
      'https://shop.example/?s={SESSION_ID}&t={SESSION_ID}',
      'https://shop.example/?s=sess_1&t=sess_1&florin_status=open',
    ],
  ] as const;
  for (const [url, expected] of cases) assert.equal(returnUrlOf(url, 'sess_1', 'open'), expected);
});

test('ways to the shop without a URL, and with an automatic return, are left out of what is shown', () => {
  assert.deepEqual(withoutDefaults(shopReturnOf({})), {});
  const full = { cancelUrl: 'https://shop.example', autoReturn: 'never' } as const;
  assert.deepEqual(withoutDefaults(shopReturnOf(full)), full);
});
