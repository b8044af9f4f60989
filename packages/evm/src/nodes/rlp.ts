import type { Hex } from 'viem';

/** Bytes, as such or as hexadecimal text, or a list of items (Yellow Paper, appendix B). */
export type RlpItem = Uint8Array | Hex | readonly RlpItem[];

/** Encodes an item in RLP. Digits are joined and decoded once, because a block has thousands of small items. */
export function encodeRlp(item: RlpItem): Buffer {
  return Buffer.from(digitsOf(item), 'hex');
}

/** Encodes an item in RLP as hexadecimal text, for use inside another item. */
export function encodeRlpHex(item: RlpItem): Hex {
  return `0x${digitsOf(item)}`;
}

/** A number as RLP encodes it: big-endian, without leading zeros. Zero has no bytes. */
export function integerBytes(value: bigint | number): Hex {
  const digits = value.toString(16);
  if (digits === '0') return '0x';
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`;
}

function isList(item: RlpItem): item is readonly RlpItem[] {
  return Array.isArray(item);
}

function digitsOf(item: RlpItem): string {
  if (isList(item)) {
    let payload = '';
    for (const entry of item) payload += digitsOf(entry);
    return headOf(0xc0, payload.length / 2) + payload;
  }
  const digits = typeof item === 'string' ? item.slice(2) : Buffer.from(item).toString('hex');
  // A single byte below 0x80 has no head.
  return digits.length === 2 && digits < '80' ? digits : headOf(0x80, digits.length / 2) + digits;
}

function headOf(base: 0x80 | 0xc0, length: number): string {
  if (length <= 55) return (base + length).toString(16);
  const size = integerBytes(length).slice(2);
  return (base + 55 + size.length / 2).toString(16) + size;
}
