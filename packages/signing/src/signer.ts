import type { Hex } from 'viem';
import { concat, keccak256, numberToHex, recoverAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { secp256k1 } from './secp256k1.ts';

/**
 * Signs with one secp256k1 key, in memory or remote. The argument is the preimage, not its hash, because some signers
 * insist on hashing.
 */
export interface Signer {
  readonly address: Hex;
  /** The signature of the preimage's Keccak-256: 65 bytes, low s, v 27 or 28. Throws `SignerFailure`. */
  sign(preimage: Hex): Promise<Hex>;
}

/** The source of a signature: a private key, or a service that holds one. */
export type SigningKey = Hex | Signer;

/**
 * A signer gave no usable signature: it is unavailable, refuses, or has another key. No signature was used, so a
 * retry is safe.
 */
export class SignerFailure extends Error {
  override readonly name = 'SignerFailure';
}

/** A signer whose private key is in this process's memory. Refuses an invalid key. */
export function localSigner(privateKey: Hex): Signer {
  const { address } = privateKeyToAccount(privateKey);
  const key = Buffer.from(privateKey.slice(2), 'hex');
  return {
    address,
    async sign(preimage) {
      const { r, s, v } = secp256k1.sign(keccak256(preimage, 'bytes'), key);
      return `0x${Buffer.concat([r, s]).toString('hex')}${v.toString(16)}`;
    },
  };
}

export function signerOf(key: SigningKey): Signer {
  return typeof key === 'string' ? localSigner(key) : key;
}

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Converts r and s of a signature into the only form that contracts accept, for the key of `address`. Throws
 * `SignerFailure` when they are no signature of the hash by that key: every answer of a remote signer is checked here
 * first.
 */
export async function canonicalSignature(
  hash: Hex,
  { r, s }: { readonly r: bigint; readonly s: bigint },
  address: Hex,
): Promise<Hex> {
  if (r <= 0n || r >= order || s <= 0n || s >= order) throw new SignerFailure('malformed signature');
  const lowS = s > halfOrder ? order - s : s;
  for (const v of [27, 28]) {
    const signature = concat([
      numberToHex(r, { size: 32 }),
      numberToHex(lowS, { size: 32 }),
      numberToHex(v, { size: 1 }),
    ]);
    if ((await recoveredFrom(hash, signature)) === address) return signature;
  }
  throw new SignerFailure(`the signature is not of ${address}: the signer has another key`);
}

async function recoveredFrom(hash: Hex, signature: Hex): Promise<Hex | undefined> {
  try {
    return await recoverAddress({ hash, signature });
  } catch {
    // Not every r is a point on the curve. Without a point this is no signature.
    return undefined;
  }
}
