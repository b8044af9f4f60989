import type { Hex } from '@florin/protocol/order.ts';

/** Bytes, as such or as hexadecimal text, or a list of items (Yellow Paper, appendix B). */
export type RlpItem = Uint8Array | Hex | readonly RlpItem[];

/** Encodes an item in RLP. */
export function encodeRlp(item: RlpItem): Buffer {
  const target = Buffer.allocUnsafe(encodedLength(item));
  write(target, 0, item);
  return target;
}

/** A number as RLP has it: big-endian, without leading zeros, zero as no bytes at all. */
export function integerBytes(value: bigint | number): Hex {
  const digits = value.toString(16);
  if (digits === '0') return '0x';
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`;
}

function isList(item: RlpItem): item is readonly RlpItem[] {
  return Array.isArray(item);
}

/** Bytes of an item without its head. */
function payloadLength(item: RlpItem): number {
  if (typeof item === 'string') return item.length / 2 - 1;
  if (!isList(item)) return item.length;
  let total = 0;
  for (const entry of item) total += encodedLength(entry);
  return total;
}

function encodedLength(item: RlpItem): number {
  const payload = payloadLength(item);
  return payload === 1 && isOwnHead(item) ? 1 : headLength(payload) + payload;
}

/** A single byte below 0x80 stands without a head. */
function isOwnHead(item: RlpItem): boolean {
  if (isList(item)) return false;
  return (typeof item === 'string' ? Number(item) : (item[0] ?? 0)) < 0x80;
}

function headLength(payload: number): number {
  return payload <= 55 ? 1 : 1 + lengthOfLength(payload);
}

function lengthOfLength(length: number): number {
  let bytes = 0;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes += 1;
  return bytes;
}

/** Writes an item and returns the place behind it. */
function write(target: Buffer, at: number, item: RlpItem): number {
  const payload = payloadLength(item);
  let next = at;
  if (payload !== 1 || !isOwnHead(item)) next = writeHead(target, at, isList(item) ? 0xc0 : 0x80, payload);
  if (isList(item)) {
    for (const entry of item) next = write(target, next, entry);
    return next;
  }
  if (typeof item === 'string') target.write(item.slice(2), next, 'hex');
  else target.set(item, next);
  return next + payload;
}

function writeHead(target: Buffer, at: number, base: 0x80 | 0xc0, payload: number): number {
  if (payload <= 55) return target.writeUInt8(base + payload, at);
  const size = lengthOfLength(payload);
  target.writeUInt8(base + 55 + size, at);
  return target.writeUIntBE(payload, at + 1, size);
}
