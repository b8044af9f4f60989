import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisTop } from './chart-scale.ts';

for (const [value, top] of [
  [0n, 1n],
  [1n, 1n],
  [10n, 10n],
  [11n, 20n],
  [29_999n, 30_000n],
  [50_001n, 60_000n],
  [60_001n, 80_000n],
  [80_001n, 100_000n],
  [9_007_199_254_740_993n, 10_000_000_000_000_000n],
] as const)
  test(`an axis for ${value} ends at ${top}`, () => assert.equal(axisTop(value), top));
