import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayBars, dayTimes, tokenSums } from './day-sums.ts';

test('days begin at midnight where the reader is, also when a clock changes', (t) => {
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  process.env['TZ'] = 'Europe/Berlin';
  // The clock went back on 25 October 2026: that day has 25 hours.
  const times = dayTimes(new Date('2026-10-26T10:00:00Z'), 3);
  assert.deepEqual(
    times.map((seconds) => new Date(seconds * 1_000).toISOString()),
    [
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
      '2026-10-26T23:00:00.000Z',
    ],
  );
});

test('a day without payments has zeros, and the token with the most money comes first', () => {
  const rows = [
    { period: 0, tokenId: 'base::usdt', value: '5' },
    { period: 2, tokenId: 'base::usdt', value: '1' },
    { period: 2, tokenId: 'base::usdc', value: '9007199254740993' },
  ];
  assert.deepEqual(dayBars(rows, 3), {
    tokenIds: ['base::usdc', 'base::usdt'],
    days: [
      [0n, 5n],
      [0n, 0n],
      [9007199254740993n, 1n],
    ],
  });
});

test('each token has one sum of each kind', () => {
  const sums = {
    received: [
      { period: 0, tokenId: 'base::usdc', payments: 1, totalValue: '10' },
      { period: 1, tokenId: 'base::usdc', payments: 1, totalValue: '20' },
    ],
    settled: [{ period: 1, tokenId: 'ethereum::usdc', payments: 1, feeValue: '1', netValue: '9' }],
  };
  const moving = [
    { tokenId: 'base::usdc', netValue: '19' },
    { tokenId: 'base::usdc', netValue: '2' },
  ];
  assert.deepEqual(tokenSums(sums, moving), [
    { tokenId: 'base::usdc', received: 30n, settled: 0n, onItsWay: 21n },
    { tokenId: 'ethereum::usdc', received: 0n, settled: 9n, onItsWay: 0n },
  ]);
});
