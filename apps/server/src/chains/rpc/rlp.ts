/** A byte string, or a list of items (Yellow Paper, appendix B). */
export type RlpItem = Uint8Array | readonly RlpItem[];

function lengthOfLength(length: number): number {
  let bytes = 0;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes += 1;
  return bytes;
}

/** How many bytes stand before a payload of this many, which are no single byte below 0x80. */
export function rlpHeadLength(payload: number): number {
  return payload <= 55 ? 1 : 1 + lengthOfLength(payload);
}

function isBytes(item: RlpItem): item is Uint8Array {
  return item instanceof Uint8Array;
}

function payloadLength(item: RlpItem): number {
  if (isBytes(item)) return item.length;
  let total = 0;
  for (const entry of item) total += encodedLength(entry);
  return total;
}

function encodedLength(item: RlpItem): number {
  if (isBytes(item) && item.length === 1 && (item[0] ?? 0) < 0x80) return 1;
  const payload = payloadLength(item);
  return rlpHeadLength(payload) + payload;
}

/** Writes what stands before a payload: base 0x80 for bytes, 0xc0 for a list. Gives the place behind it. */
export function writeRlpHead(target: Uint8Array, at: number, base: 0x80 | 0xc0, payload: number): number {
  if (payload <= 55) {
    target[at] = base + payload;
    return at + 1;
  }
  const size = lengthOfLength(payload);
  target[at] = base + 55 + size;
  for (let index = size, rest = payload; index > 0; index -= 1, rest = Math.floor(rest / 256)) {
    target[at + index] = rest % 256;
  }
  return at + 1 + size;
}

function write(target: Uint8Array, at: number, item: RlpItem): number {
  if (isBytes(item)) {
    if (item.length === 1 && (item[0] ?? 0) < 0x80) {
      target.set(item, at);
      return at + 1;
    }
    const start = writeRlpHead(target, at, 0x80, item.length);
    target.set(item, start);
    return start + item.length;
  }
  let next = writeRlpHead(target, at, 0xc0, payloadLength(item));
  for (const entry of item) next = write(target, next, entry);
  return next;
}

/** What stands before a payload of this many bytes; of a single byte below 0x80 nothing does. */
export function rlpHead(kind: 'bytes' | 'list', payload: number): Uint8Array {
  const target = new Uint8Array(rlpHeadLength(payload));
  writeRlpHead(target, 0, kind === 'bytes' ? 0x80 : 0xc0, payload);
  return target;
}

/** Encodes an item in RLP. */
export function encodeRlp(item: RlpItem): Uint8Array {
  const target = new Uint8Array(encodedLength(item));
  write(target, 0, item);
  return target;
}

/** A number as RLP has it: big-endian, without leading zeros, zero as no bytes at all. */
export function integerBytes(value: bigint | number): Uint8Array {
  return Buffer.from(integerDigits(value), 'hex');
}

function hexHeader(base: number, size: number): string {
  if (size <= 55) return (base + size).toString(16).padStart(2, '0');
  const digits = size.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return `${(base + 55 + even.length / 2).toString(16)}${even}`;
}

/** Sizes of nearly all topics, data, logs and lists: to look a header up takes a tenth of writing it. */
const usualSizes = 2_048;
const bytesHeaders = Array.from({ length: usualSizes }, (_, size) => hexHeader(0x80, size));
const listHeaders = Array.from({ length: usualSizes }, (_, size) => hexHeader(0xc0, size));

/**
 * RLP of bytes, both as hexadecimal digits. Receipts come as text: joined as such and turned into bytes once, a block of
 * logs is encoded in a third of the time that an array for each field takes.
 */
export function hexBytes(digits: string): string {
  if (digits.length === 2 && digits < '80') return digits;
  const size = digits.length / 2;
  return (bytesHeaders[size] ?? hexHeader(0x80, size)) + digits;
}

/** RLP of a list whose entries are encoded already, one behind the other, as hexadecimal digits. */
export function hexList(entries: string): string {
  return hexListHead(entries.length / 2) + entries;
}

/** What stands before the entries of a list that take so many bytes, as hexadecimal digits. */
export function hexListHead(size: number): string {
  return listHeaders[size] ?? hexHeader(0xc0, size);
}

/** The digits of a number's bytes, without leading zeros; none for zero. */
export function integerDigits(value: bigint | number): string {
  const digits = value.toString(16);
  if (digits === '0') return '';
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}
