import type { Hex } from 'viem';
import { keccakBytes, keccakHex } from './keccak.ts';

const addressForm = /^0x[0-9a-fA-F]{40}$/;

/**
 * Reads an address that is all lower case or has a correct checksum (ERC-55), and returns it with its checksum.
 * Undefined for anything else.
 */
export function parseAddress(text: string): Hex | undefined {
  if (!addressForm.test(text)) return undefined;
  const lower = text.toLowerCase();
  const checksummed = withChecksum(lower.slice(2));
  return text === lower || text === checksummed ? checksummed : undefined;
}

/** The address of these 40 lower-case digits, with its checksum. */
export function withChecksum(digits: string): Hex {
  const hash = keccakBytes(Buffer.from(digits, 'latin1'));
  let letters = '';
  for (let index = 0; index < digits.length; index += 1) {
    const byte = hash[index >> 1] ?? 0;
    const nibble = index % 2 === 0 ? byte >> 4 : byte & 15;
    const digit = digits.charAt(index);
    letters += nibble >= 8 ? digit.toUpperCase() : digit;
  }
  return `0x${letters}`;
}

/** The address of a public key of 64 bytes, in lower case. */
export function addressOfPublicKey(publicKey: Uint8Array): Hex {
  return `0x${keccakHex(publicKey).slice(-40)}`;
}
