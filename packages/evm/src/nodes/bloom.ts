import { keccakBytes } from '@florin/signing';
import type { Hex } from 'viem';

/**
 * The nibbles and bits of a bloom's hexadecimal text that one value sets. A value sets three (Yellow Paper, section
 * 4.3.1).
 */
export type BloomBits = readonly { readonly index: number; readonly mask: number }[];

/** The bits that an address or a topic sets in the logs bloom of its block. */
export function bloomBitsOf(value: Hex): BloomBits {
  const hash = Buffer.from(keccakBytes(Buffer.from(value.slice(2), 'hex')));
  return [0, 2, 4].map((offset) => {
    const bit = hash.readUInt16BE(offset) & 0x7ff;
    // Bit 0 is the lowest of the last byte: the filter is one big-endian number of 2048 bits, 512 nibbles.
    return { index: 2 + 511 - (bit >> 2), mask: 1 << (bit & 3) };
  });
}

function nibbleAt(bloom: string, index: number): number {
  const code = bloom.charCodeAt(index);
  return code <= 57 ? code - 48 : code - 87;
}

/** False: no log of the block has this value. True: a log may have it. `bloom` is lower-case hexadecimal. */
export function mayContain(bloom: Hex, bits: BloomBits): boolean {
  return bits.every(({ index, mask }) => (nibbleAt(bloom, index) & mask) !== 0);
}

/** Whether every bit of `part` is set in `whole`. */
export function isSubset(part: Hex, whole: Hex): boolean {
  for (let index = 2; index < part.length; index += 1) {
    const nibble = nibbleAt(part, index);
    if ((nibble & nibbleAt(whole, index)) !== nibble) return false;
  }
  return true;
}

/** The bloom that has the bits of all the given blooms. */
export function unionOf(blooms: readonly Hex[]): Hex {
  const nibbles = new Uint8Array(512);
  for (const bloom of blooms) {
    for (let index = 0; index < 512; index += 1) {
      nibbles[index] = (nibbles[index] ?? 0) | nibbleAt(bloom, index + 2);
    }
  }
  return `0x${Array.from(nibbles, (nibble) => nibble.toString(16)).join('')}`;
}

/** The bloom of logs with these addresses and topics. */
export function bloomOf(values: readonly Hex[]): Hex {
  const nibbles = new Uint8Array(512);
  for (const { index, mask } of values.flatMap((value) => bloomBitsOf(value))) {
    nibbles[index - 2] = (nibbles[index - 2] ?? 0) | mask;
  }
  return `0x${Array.from(nibbles, (nibble) => nibble.toString(16)).join('')}`;
}
