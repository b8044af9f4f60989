import type { Hex } from '@florin/protocol/order.ts';
import { keccakHex } from './rpc/keccak.ts';

const addressForm = /^0x[0-9a-fA-F]{40}$/;

/**
 * Reads an address that is all lower case, or has every letter in the case that its checksum gives it (ERC-55), and
 * gives it with its checksum; undefined for anything else.
 */
export function parseAddress(text: string): Hex | undefined {
  if (!addressForm.test(text)) return undefined;
  const lower = text.toLowerCase();
  const checksummed = checksummedOf(lower);
  return text === lower || text === checksummed ? checksummed : undefined;
}

function checksummedOf(lower: string): Hex {
  const hash = keccakHex(Buffer.from(lower.slice(2), 'latin1'));
  let letters = '';
  for (let index = 2; index < 42; index++) {
    const letter = lower.charAt(index);
    letters += hash.charAt(index) >= '8' ? letter.toUpperCase() : letter;
  }
  return `0x${letters}`;
}

/** The address of a public key of 64 bytes, in lower case. */
export function addressOfKey(publicKey: Uint8Array): Hex {
  return `0x${keccakHex(publicKey).slice(-40)}`;
}
