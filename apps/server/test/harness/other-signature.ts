import { secp256k1 } from '@noble/curves/secp256k1';
import type { Hex } from 'viem';

/** A valid signature of a digest that differs from the deterministic one of RFC 6979, which wallets usually give. */
export function otherSignature(digest: Hex, privateKey: Hex): Hex {
  const signature = secp256k1.sign(digest.slice(2), privateKey.slice(2), { extraEntropy: true });
  return `0x${signature.toCompactHex()}${signature.recovery === 1 ? '1c' : '1b'}`;
}
