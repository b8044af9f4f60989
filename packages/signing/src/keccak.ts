import { createKeccak } from 'hash-wasm';
import type { Hex } from 'viem';

// Proving a block spends almost all its time in this hash: in JavaScript it took three quarters of the total.
const hasher = await createKeccak(256);

/** Keccak-256 of the concatenated pieces, as bytes. */
export function keccakBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  hasher.init();
  for (const piece of pieces) hasher.update(piece);
  return hasher.digest('binary');
}

/** Keccak-256 of bytes, as lower-case hexadecimal. */
export function keccakHex(data: Uint8Array): Hex {
  return `0x${hasher.init().update(data).digest('hex')}`;
}
