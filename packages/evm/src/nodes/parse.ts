import type { Hex } from 'viem';
import { RpcAnswerInvalid } from './rpc.ts';

/**
 * Parsers for answers of nodes. A field that is missing, of another type or not canonical is the node's fault. It
 * throws `RpcAnswerInvalid`: the service must not act on half an answer.
 */

const quantityPattern = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/i;
/** 1 for the character codes of lower-case hexadecimal digits. */
const digitCodes = Uint8Array.from({ length: 128 }, (_, code) =>
  /[0-9a-f]/.test(String.fromCharCode(code)) ? 1 : 0,
);

function refuse(what: string, value: unknown): never {
  const shown =
    typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : value === null ? 'null' : typeof value;
  throw new RpcAnswerInvalid(`malformed answer: ${what} is ${shown}`);
}

/** A JSON object with string keys. */
export function parseRecord(what: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(what, value);
  return value as Record<string, unknown>;
}

export function parseArray(what: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(what, value);
}

/** A quantity: `0x` and hexadecimal digits without leading zeros, below 2^256. Upper-case digits are accepted. */
export function parseQuantity(what: string, value: unknown): bigint {
  if (typeof value !== 'string') return refuse(what, value);
  return quantityPattern.test(value) ? BigInt(value) : refuse(what, value);
}

/** A quantity that a double holds exactly. */
export function parseSmallQuantity(what: string, value: unknown): number {
  const quantity = typeof value === 'string' && quantityPattern.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(quantity) ? quantity : refuse(what, value);
}

/** Bytes as lower-case hexadecimal; of exactly `size` bytes when given. */
export function parseData(what: string, value: unknown, size?: number): Hex {
  if (typeof value !== 'string') return refuse(what, value);
  const isWhole = size === undefined ? value.length % 2 === 0 : value.length === 2 + 2 * size;
  if (!isWhole) return refuse(what, value);
  if (isLowerHex(value)) return value;
  const data = value.toLowerCase();
  return isLowerHex(data) ? data : refuse(what, value);
}

/**
 * A table takes a third of the time of a regular expression, which was a fifth of the time for reading and proving a
 * log.
 */
function isLowerHex(text: string): text is Hex {
  let isHex = text.startsWith('0x') ? 1 : 0;
  for (let index = 2; index < text.length; index += 1) isHex &= digitCodes[text.charCodeAt(index)] ?? 0;
  return isHex === 1;
}

/** A hash: 32 bytes, lower case. */
export function parseHash(what: string, value: unknown): Hex {
  return parseData(what, value, 32);
}

/** An address: 20 bytes, lower case. */
export function parseAddress(what: string, value: unknown): Hex {
  return parseData(what, value, 20);
}

/** A bloom filter: 256 bytes, lower case. */
export function parseBloom(what: string, value: unknown): Hex {
  return parseData(what, value, 256);
}
