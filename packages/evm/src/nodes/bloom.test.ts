import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { bloomBitsOf, bloomOf, isSubset, mayContain, unionOf } from './bloom.ts';

const emptyBloom: Hex = `0x${'0'.repeat(512)}`;
const values = fc.array(
  fc
    .uint8Array({ minLength: 20, maxLength: 32 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
  { maxLength: 8 },
);

test('a bloom contains every value that it was made of', () => {
  fc.assert(
    fc.property(values, (list) => {
      const bloom = bloomOf(list);
      assert.ok(list.every((value) => mayContain(bloom, bloomBitsOf(value))));
    }),
  );
});

test('the union of blooms is the bloom of all their values', () => {
  fc.assert(
    fc.property(values, values, (first, second) => {
      const union = unionOf([bloomOf(first), bloomOf(second)]);
      assert.equal(union, bloomOf([...first, ...second]));
      assert.ok(isSubset(bloomOf(first), union));
    }),
  );
});

test('a bloom without a value excludes it', () => {
  assert.equal(mayContain(emptyBloom, bloomBitsOf('0x01')), false);
  assert.equal(isSubset(bloomOf(['0x01']), emptyBloom), false);
});
