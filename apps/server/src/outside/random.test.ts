import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRandom } from './random.ts';

test('no byte is used twice, for pieces of every size', () => {
  const seen = new Set<string>();
  for (let index = 0; index < 5_000; index += 1) {
    const bytes = systemRandom.bytes(16 + (index % 17));
    assert.equal(bytes.length, 16 + (index % 17));
    seen.add(Buffer.from(bytes.subarray(0, 16)).toString('hex'));
  }
  assert.equal(seen.size, 5_000);
});

test('pieces are copies: changing one changes no other', () => {
  const first = systemRandom.bytes(32);
  const before = Uint8Array.from(first);
  systemRandom.bytes(32).fill(7);
  assert.deepEqual(first, before);
});

test('large pieces are whole', () => {
  assert.equal(systemRandom.bytes(100_000).length, 100_000);
});

test('a fraction is in [0, 1)', () => {
  for (let index = 0; index < 1_000; index += 1) {
    const fraction = systemRandom.fraction();
    assert.ok(fraction >= 0 && fraction < 1);
  }
});
