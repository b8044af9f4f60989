import type { Hex } from 'viem';

/**
 * Parsers for the two DER structures (X.690) in answers of key services. They accept exactly one encoding, without
 * extra bytes.
 */

const sequence = 0x30;
const integer = 0x02;
/** SubjectPublicKeyInfo of an uncompressed key on secp256k1 (RFC 5480), up to the key's own 65 bytes. */
const publicKeyHead = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex');

/** Reads r and s of an ECDSA signature (RFC 3279, section 2.2.3); undefined for other bytes. */
export function parseEcdsaSignature(der: Uint8Array): { r: bigint; s: bigint } | undefined {
  if (der[0] !== sequence || der[1] !== der.length - 2 || der.length > 72) return undefined;
  const r = readInteger(der, 2);
  const s = r === undefined ? undefined : readInteger(der, r.end);
  return r === undefined || s === undefined || s.end !== der.length ? undefined : { r: r.value, s: s.value };
}

function readInteger(der: Uint8Array, start: number): { value: bigint; end: number } | undefined {
  const length = der[start + 1] ?? 0;
  const end = start + 2 + length;
  const [first = 0x80, second = 0] = der.subarray(start + 2, end);
  if (der[start] !== integer || length === 0 || length > 33 || end > der.length) return undefined;
  // Positive, and without a zero byte that the sign does not need.
  if (first >= 0x80 || (first === 0 && length > 1 && second < 0x80)) return undefined;
  return { value: BigInt(`0x${Buffer.from(der.subarray(start + 2, end)).toString('hex')}`), end };
}

/** Reads a public key on secp256k1: 0x04 and both coordinates; undefined for every other key. */
export function parsePublicKey(der: Uint8Array): Hex | undefined {
  const head = der.subarray(0, publicKeyHead.length);
  const key = der.subarray(publicKeyHead.length);
  if (!publicKeyHead.equals(head) || key.length !== 65 || key[0] !== 0x04) return undefined;
  return `0x${Buffer.from(key).toString('hex')}`;
}
