import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ar } from '../text/ar.ts';
import { en } from '../text/en.ts';
import {
  fill,
  formatMoney,
  formatRange,
  formatSpan,
  formatToken,
  formatWait,
  nameOfToken,
  toDecimal,
} from './format.ts';

test('amounts are written exactly, however large or small', () => {
  assert.deepEqual(
    [toDecimal(1n, 18), toDecimal(25_050_000n, 6), toDecimal(10_000_000_000_001n, 6), toDecimal(0n, 6)],
    ['0.000000000000000001', '25.05', '10000000.000001', '0.00'],
  );
  const dai = { symbol: 'DAI', decimals: 18 };
  assert.equal(
    formatToken('en', dai, '123456789000000000000000001'),
    '123,456,789.000000000000000001\u00a0DAI',
  );
  assert.equal(formatMoney('ar', '25050000').replace(/\s/g, ' '), '\u206625.05 US$\u2069');
  assert.equal(
    nameOfToken(ar, { symbol: 'USDC', chainTitle: 'Ethereum' }),
    '\u2068USDC\u2069 على \u2068Ethereum\u2069',
  );
  assert.equal(formatMoney('de', '12345678901234'), '12.345.678,901234\u00a0$');
});

test('values replace their names in the text, and time spans count down', () => {
  assert.equal(fill('{a} and {b} and {c}', { a: '{b}', b: 'x' }), '{b} and x and {c}');
  const spans = [0, 59, 61, 1800, 3_661, 360_001];
  assert.deepEqual(spans.map(formatSpan), ['0:00', '0:59', '1:01', '30:00', '1:01:01', '100:00:01']);
});

test('a range names its least only from a cent on, and a time to wait is rounded up', () => {
  const ranges = [2n, 10_000n].map((least) =>
    formatRange({ locale: 'en', texts: en }, { least, most: 10_000_000_000_000n }),
  );
  assert.deepEqual(ranges, ['up to $10,000,000.00', '$0.01 – $10,000,000.00']);
  assert.deepEqual(
    [5, 60, 1_741, 3_601].map((seconds) => formatWait('en', seconds)),
    ['5 seconds', '60 seconds', '30 minutes', '61 minutes'],
  );
});
