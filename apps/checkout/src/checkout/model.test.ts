import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { bestOption } from './model.ts';

const option = (
  tokenId: string,
  total: string,
  status: CheckoutOption['status'] = 'available',
): CheckoutOption => ({
  tokenId,
  chainId: '1',
  chainTitle: 'Ethereum',
  symbol: 'USDC',
  decimals: 6,
  amountInToken: total,
  total,
  fee: '0',
  status,
  secondsToFinal: 1,
});

test('the best way to pay works, then is affordable, then fast, then cheapest', () => {
  const away = { ...option('e', '12'), chainId: '9' };
  const [cheap, dear, slow, shut] = [
    option('a', '10'),
    option('b', '12'),
    option('c', '10', 'delayed'),
    option('d', '1', 'unavailable'),
  ];
  const choose = (options: CheckoutOption[], balances: Record<string, string>, walletChain = '') =>
    bestOption(options, balances, walletChain)?.tokenId;
  assert.deepEqual(
    [
      choose([dear, cheap], {}),
      choose([cheap, dear], { b: '12' }),
      choose([cheap, dear], { a: '9', b: '11' }),
      choose([slow, dear], { b: '12', c: '10' }),
      choose([slow, dear], { c: '10' }),
      choose([shut, dear], { d: '5' }),
      // The wallet's own network comes first, but only with the money.
      choose([cheap, away], { a: '10', e: '12' }, '9'),
      choose([cheap, away], { a: '10', e: '11' }, '9'),
      choose([], {}),
    ],
    ['a', 'b', 'a', 'b', 'c', 'b', 'e', 'a', undefined],
  );
});
