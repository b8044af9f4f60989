import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microUsd, parseUsd, formatUsd as protocolFormat } from '@florin/protocol/money.ts';
import fc from 'fast-check';
import { formatUsd, usd } from './money.ts';

test('usd() reads dollars exactly, as the protocol does', () => {
  assert.deepEqual(
    ['4.50', '0', '0.000001', '10000000', '1.1'].map(usd),
    [4_500_000, 0, 1, 10_000_000_000_000, 1_100_000],
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10_000_000_000_000n }), (amount) => {
      const text = formatUsd(Number(amount));
      assert.equal(text, protocolFormat(microUsd(amount)));
      assert.equal(BigInt(usd(text)), amount);
      assert.equal(parseUsd(text), amount);
    }),
  );
});

test('usd() refuses numbers, signs, exponents, spaces, a seventh digit, and more than ten million', () => {
  for (const wrong of [
    '',
    '-1',
    '+1',
    '1e3',
    ' 1',
    '1.',
    '.5',
    '01',
    '1,50',
    '1.1234567',
    '10000000.000001',
    '99999999',
    '$1',
  ])
    assert.throws(() => usd(wrong), { slug: 'argument_invalid' }, wrong);
  for (const wrong of [4.5, 4, undefined, null])
    assert.throws(() => usd(wrong as unknown as string), { slug: 'argument_invalid' });
});

test('formatUsd() refuses what is no amount', () => {
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 60])
    assert.throws(() => formatUsd(wrong), { slug: 'argument_invalid' });
});
