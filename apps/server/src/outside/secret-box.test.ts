import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRandom } from './random.ts';
import { secretBox } from './secret-box.ts';

const oldKey = new Uint8Array(32).fill(1);
const newKey = new Uint8Array(32).fill(2);
const secret = Buffer.from('a secret of any length');

test('what one box seals, a box with the same key among others opens', () => {
  const sealed = secretBox([oldKey]).seal(systemRandom, secret, 'row 1');
  assert.deepEqual(secretBox([newKey, oldKey]).open(sealed, 'row 1'), secret);
  assert.equal(Buffer.from(sealed).includes(secret), false);
});

test('the same secret seals differently every time', () => {
  const box = secretBox([newKey]);
  assert.notDeepEqual(box.seal(systemRandom, secret, 'row'), box.seal(systemRandom, secret, 'row'));
});

test('a changed byte, another row, a missing key and a short text do not open', () => {
  const box = secretBox([newKey]);
  const sealed = Buffer.from(box.seal(systemRandom, secret, 'row 1'));
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
    assert.throws(() => box.open(changed, 'row 1'));
  }
  assert.throws(() => box.open(sealed, 'row 2'));
  assert.throws(() => secretBox([oldKey]).open(sealed, 'row 1'), { message: /not configured/ });
  assert.throws(() => box.open(sealed.subarray(0, 30), 'row 1'), RangeError);
});
