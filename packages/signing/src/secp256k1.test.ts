import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SigningKey } from 'ethers';
import fc from 'fast-check';
import {
  isCanonicalSignature,
  nativeSecp256k1,
  type RecoverableSignature,
  type Secp256k1,
  secp256k1,
  wasmSecp256k1,
} from './secp256k1.ts';

const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const wasm = await wasmSecp256k1();
/** Where the platform has no prebuild, both names refer to the same implementation. */
const implementations: readonly Secp256k1[] =
  secp256k1.implementation === 'native' ? [nativeSecp256k1(), wasm] : [wasm];

const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const privateKey = fc.bigInt({ min: 1n, max: n - 1n }).map(word);
const joined = ({ r, s, v }: RecoverableSignature) => Buffer.concat([r, s, Uint8Array.of(v)]);
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

for (const { implementation, sign, recover } of implementations) {
  test(`${implementation}: signatures equal those of ethers, and recover to their key`, () => {
    fc.assert(
      fc.property(bytes32, privateKey, (digest, key) => {
        const signature = joined(sign(digest, key));
        const signer = new SigningKey(`0x${hex(key)}`);
        assert.equal(`0x${hex(signature)}`, signer.sign(digest).serialized);
        assert.equal(`0x04${hex(recover(digest, signature))}`, signer.publicKey);
      }),
      { numRuns: 40 },
    );
  });

  test(`${implementation}: a value that is not a private key signs nothing`, () => {
    for (const key of [word(0n), word(n), word(2n ** 256n - 1n), word(1n).subarray(1), Buffer.alloc(33)])
      assert.throws(() => sign(word(1n), key));
  });

  test(`${implementation}: a digest has 32 bytes`, () => {
    for (const length of [0, 31, 33]) {
      assert.throws(() => sign(Buffer.alloc(length), word(1n)), RangeError);
      assert.throws(() => recover(Buffer.alloc(length), Buffer.alloc(65)), RangeError);
    }
  });

  test(`${implementation}: only a canonical signature has a signer`, () => {
    const digest = word(7n);
    const { r, s, v } = sign(digest, word(9n));
    const highS = word(n - BigInt(`0x${hex(s)}`));
    const forms: Record<string, Buffer> = {
      'high s': Buffer.concat([r, highS, Uint8Array.of(v === 27 ? 28 : 27)]),
      'v 0': Buffer.concat([r, s, Uint8Array.of(0)]),
      'v 1': Buffer.concat([r, s, Uint8Array.of(1)]),
      'v 29': Buffer.concat([r, s, Uint8Array.of(29)]),
      'r zero': Buffer.concat([word(0n), s, Uint8Array.of(v)]),
      's zero': Buffer.concat([r, word(0n), Uint8Array.of(v)]),
      'r of the order': Buffer.concat([word(n), s, Uint8Array.of(v)]),
      'r above the order': Buffer.concat([word(n + 1n), s, Uint8Array.of(v)]),
      's above half of the order': Buffer.concat([r, word(n / 2n + 1n), Uint8Array.of(v)]),
      'r off the curve': Buffer.concat([word(5n), s, Uint8Array.of(v)]),
      '64 bytes': Buffer.concat([r, s]),
      '66 bytes': Buffer.concat([r, s, Uint8Array.of(v, 0)]),
      nothing: Buffer.alloc(0),
    };
    const found = Object.entries(forms).filter(([, form]) => recover(digest, form) !== undefined);
    assert.deepEqual(found, []);
    assert.notEqual(recover(digest, joined({ r, s, v })), undefined);
  });

  test(`${implementation}: the point at infinity is not a signer`, () => {
    // R = k * G with k = 1 and z = s * k leave s * R - z * G = 0.
    const { r } = generator;
    const s = 12_345n;
    assert.equal(recover(word(s), Buffer.concat([r, word(s), Uint8Array.of(27)])), undefined);
    assert.notEqual(recover(word(s + 1n), Buffer.concat([r, word(s), Uint8Array.of(27)])), undefined);
  });

  test(`${implementation}: the largest s and a digest above the order of the curve are valid`, () => {
    const { r } = generator;
    const signature = Buffer.concat([r, word(n / 2n), Uint8Array.of(28)]);
    assert.ok(isCanonicalSignature(signature));
    const digest = word(2n ** 256n - 1n);
    const expected = SigningKey.recoverPublicKey(digest, `0x${hex(signature)}`);
    assert.equal(`0x04${hex(recover(digest, signature))}`, expected);
    const signer = new SigningKey(`0x${hex(word(9n))}`);
    assert.equal(`0x${hex(joined(sign(digest, word(9n))))}`, signer.sign(digest).serialized);
  });
}

/** The x coordinate of the curve's generator, whose y is even. */
const generator = {
  r: Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex'),
};

test('both implementations judge any 65 bytes the same', () => {
  const nearCanonical = fc
    .tuple(bytes32, fc.bigInt({ min: 0n, max: n / 2n + 2n }).map(word), fc.integer({ min: 26, max: 29 }))
    .map(([r, s, v]) => Buffer.concat([r, s, Uint8Array.of(v)]));
  fc.assert(
    fc.property(bytes32, nearCanonical, (digest, signature) => {
      const [first, ...others] = implementations.map(({ recover }) => hex(recover(digest, signature)));
      for (const other of others) assert.equal(other, first);
    }),
    { numRuns: 300 },
  );
});
