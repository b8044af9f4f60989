import type { Hex } from '@florin/protocol/order.ts';
import { createKeccak } from 'hash-wasm';

// Proving a block is next to nothing but this hash: in JavaScript it took three quarters of the whole time.
const hasher = await createKeccak(256);

/** Keccak-256 of bytes, as bytes. */
export function keccakBytes(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary');
}

/** Keccak-256 of bytes, as lower-case hexadecimal. */
export function keccakHex(data: Uint8Array): Hex {
  return `0x${hasher.init().update(data).digest('hex')}`;
}
