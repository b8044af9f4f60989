import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHex, keccak256 as viemKeccak256 } from 'viem';
import { keccak256 } from './keccak.ts';

test('bytes of every length around the ends of blocks hash as elsewhere', () => {
  for (const length of [0, 1, 2, 31, 32, 134, 135, 136, 137, 271, 272, 273, 1_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) % 256);
    assert.equal(toHex(keccak256(bytes)), viemKeccak256(bytes));
  }
});
