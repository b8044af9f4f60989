import { createRequire } from 'node:module';

/** ECDSA over secp256k1 (SEC 2), as EVM chains use it: digests of 32 bytes, recoverable signatures, low s (EIP-2). */
export interface Secp256k1 {
  readonly implementation: 'native' | 'wasm';
  /**
   * The public key that made a 65-byte signature r ‖ s ‖ v over a digest, as its 64 bytes x ‖ y. Undefined when the
   * signature is not canonical (`isCanonicalSignature`) or no key can have made it.
   */
  recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined;
  /** Signs a digest with a private key of 32 bytes, deterministically (RFC 6979). Throws for an invalid private key. */
  sign(digest: Uint8Array, privateKey: Uint8Array): RecoverableSignature;
}

/** A canonical signature: r and s big-endian in 32 bytes each, s in the lower half, v as Ethereum writes it. */
export interface RecoverableSignature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly v: 27 | 28;
}

/** The functions of an implementation; their arguments have been checked. */
interface Curve {
  /** 65 bytes, 4 ‖ x ‖ y; undefined when r is no point, or the result is the point at infinity. */
  recover(digest: Uint8Array, compact: Uint8Array, recoveryId: 0 | 1): Uint8Array | undefined;
  sign(digest: Uint8Array, privateKey: Uint8Array): { compact: Uint8Array; recoveryId: number };
}

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
const halfOrder = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

/**
 * Whether a signature has the only form accepted from plain accounts: 65 bytes, 0 < r < n, 0 < s <= n / 2, v 27 or
 * 28. Other encodings of the same signature are malleable copies.
 */
export function isCanonicalSignature(signature: Uint8Array): boolean {
  if (signature.length !== 65) return false;
  const v = signature[64];
  return (
    (v === 27 || v === 28) &&
    isWithin(signature, 0, order) &&
    isWithin(signature, 32, halfOrder) &&
    // r must be below n. s may equal half of n, rounded down.
    !isWord(signature, 0, order)
  );
}

/** Whether the big-endian word at an offset is above zero and not above a limit. */
function isWithin(bytes: Uint8Array, offset: number, limit: Uint8Array): boolean {
  return compareWord(bytes, offset, limit) <= 0 && !isWord(bytes, offset, zero);
}

function isWord(bytes: Uint8Array, offset: number, word: Uint8Array): boolean {
  return compareWord(bytes, offset, word) === 0;
}

const zero = new Uint8Array(32);

function compareWord(bytes: Uint8Array, offset: number, word: Uint8Array): number {
  for (let index = 0; index < 32; index++) {
    const difference = (bytes[offset + index] ?? 0) - (word[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function secp256k1Of(implementation: 'native' | 'wasm', curve: Curve): Secp256k1 {
  const checked: Secp256k1 = {
    implementation,
    recover(digest, signature) {
      assertLength('digest', digest);
      if (!isCanonicalSignature(signature)) return undefined;
      const key = curve.recover(digest, signature.subarray(0, 64), signature[64] === 28 ? 1 : 0);
      return key?.subarray(1);
    },
    sign(digest, privateKey) {
      assertLength('digest', digest);
      assertLength('private key', privateKey);
      const { compact, recoveryId } = curve.sign(reduced(digest), privateKey);
      // A recovery id of 2 or 3 needs an r above n - p, which does not occur in practice.
      if (recoveryId !== 0 && recoveryId !== 1) throw new RangeError('a signature without v');
      return { r: compact.subarray(0, 32), s: compact.subarray(32), v: recoveryId === 0 ? 27 : 28 };
    },
  };
  assertKnownAnswer(checked);
  return checked;
}

function assertLength(name: string, bytes: Uint8Array): void {
  if (bytes.length !== 32) throw new RangeError(`a ${name} has 32 bytes, not ${bytes.length}`);
}

/** A digest modulo n. RFC 6979 hashes it in this form, and libsecp256k1 leaves the reduction to its caller. */
function reduced(digest: Uint8Array): Uint8Array {
  if (compareWord(digest, 0, order) < 0) return digest;
  const rest = BigInt(`0x${Buffer.from(digest).toString('hex')}`) - BigInt(`0x${order.toString('hex')}`);
  return Buffer.from(rest.toString(16).padStart(64, '0'), 'hex');
}

/** A test vector that Bitcoin's and Ethereum's libraries share: key 1, SHA-256 of "Satoshi Nakamoto". */
const knownAnswer = {
  digest: Buffer.from('a0dc65ffca799873cbea0ac274015b9526505daaaed385155425f7337704883e', 'hex'),
  privateKey: Buffer.from(`${'00'.repeat(31)}01`, 'hex'),
  signature:
    '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8' +
    '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  publicKeyX: '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
};

/** A binary that loads but computes wrong results must not verify signatures. */
function assertKnownAnswer(curve: Secp256k1): void {
  const { digest, privateKey, signature, publicKeyX } = knownAnswer;
  const { r, s, v } = curve.sign(digest, privateKey);
  const compact = Buffer.concat([r, s]);
  const key = curve.recover(digest, Buffer.concat([compact, Uint8Array.of(v)]));
  const isRight =
    compact.toString('hex') === signature &&
    Buffer.from(key?.subarray(0, 32) ?? []).toString('hex') === publicKeyX;
  if (!isRight) throw new Error(`secp256k1 (${curve.implementation}) computes wrong results on this machine`);
}

/** libsecp256k1 behind N-API, without the package's entry file, which would silently fall back to slow JavaScript. */
interface Addon {
  ecdsaRecover(compact: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: false): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
}

/** The libraries' errors when r is no point of the curve, or the sum is the point at infinity. */
const unrecoverable = { native: 'Public key could not be recover', wasm: 'Expected Signature' } as const;

/** The key, or undefined where the library reports that there is none. Every other exception is a bug. */
function keyUnless(message: string, recover: () => Uint8Array | null): Uint8Array | undefined {
  try {
    return recover() ?? undefined;
  } catch (error) {
    if (error instanceof Error && error.message === message) return undefined;
    throw error;
  }
}

/** The prebuilt libsecp256k1; throws where the package has none for this machine. */
export function nativeSecp256k1(): Secp256k1 {
  const require = createRequire(import.meta.url);
  const addon: Addon = require('secp256k1/bindings.js');
  return secp256k1Of('native', {
    recover: (digest, compact, recoveryId) =>
      keyUnless(unrecoverable.native, () => addon.ecdsaRecover(compact, recoveryId, digest, false)),
    sign(digest, privateKey) {
      const { signature, recid } = addon.ecdsaSign(digest, privateKey);
      return { compact: signature, recoveryId: recid };
    },
  });
}

/** libsecp256k1 as WebAssembly: runs anywhere, at a quarter of the speed. */
export async function wasmSecp256k1(): Promise<Secp256k1> {
  const { recover, signRecoverable } = await import('tiny-secp256k1');
  return secp256k1Of('wasm', {
    recover: (digest, compact, recoveryId) =>
      keyUnless(unrecoverable.wasm, () => recover(digest, compact, recoveryId, false)),
    sign(digest, privateKey) {
      const { signature, recoveryId } = signRecoverable(digest, privateKey);
      return { compact: signature, recoveryId };
    },
  });
}

async function fastestSecp256k1(): Promise<{ secp256k1: Secp256k1; nativeFailure: unknown }> {
  try {
    return { secp256k1: nativeSecp256k1(), nativeFailure: undefined };
  } catch (error) {
    // There is no prebuild for this platform; the process logs that when it starts.
    return { secp256k1: await wasmSecp256k1(), nativeFailure: error };
  }
}

/** The machine's fastest implementation, and the reason when that is not the native one. */
export const { secp256k1, nativeFailure } = await fastestSecp256k1();
