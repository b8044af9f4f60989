import type { Hex, Order } from '@florin/protocol/order.ts';
import { keccak_256 } from '@noble/hashes/sha3.js';

/** An order in the gateway's form: thirteen words (contracts/src/interfaces/IPaymentGateway.sol). */
export interface GatewayOrder extends Omit<Order, 'orderType'> {
  /** Unlimited, because this kit need not know every kind. */
  readonly orderType: bigint;
}

/** Names and types of the members, in the order of the words. */
export const orderMembers = [
  ['channelId', 'bytes32'],
  ['metaData', 'bytes32'],
  ['payer', 'address'],
  ['token', 'address'],
  ['to', 'address'],
  ['total', 'uint256'],
  ['payment', 'uint256'],
  ['fee', 'uint256'],
  ['payBy', 'uint64'],
  ['reclaimAt', 'uint64'],
  ['orderType', 'uint8'],
  ['targetChain', 'uint64'],
  ['via', 'address'],
] as const;

/** Hexadecimal digits of a word. */
export const wordDigits = 64;
/** Hexadecimal digits of an order. */
export const orderDigits = orderMembers.length * wordDigits;
const orderTuple = `(${orderMembers.map(([, type]) => type).join(',')})`;

/** Hash of text or of bytes in hexadecimal, with 0x. */
export function hashText(text: string): Hex {
  return toHex(keccak_256(new TextEncoder().encode(text)));
}

export function hashHex(hex: string): Hex {
  return toHex(keccak_256(toBytes(hex)));
}

/** The first four bytes of a signature's hash, with 0x. */
export function selectorOf(signature: string): string {
  return hashText(signature).slice(0, 10);
}

export function toBytes(hex: string): Uint8Array {
  const digits = hex.replace(/^0x/, '');
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new Error('not whole bytes in hexadecimal');
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16),
  );
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A value as the 64 digits of its word, without 0x. Throws for values that do not fit. */
export function toWord(value: bigint | string): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.toLowerCase().replace(/^0x/, '');
  if (!/^[0-9a-f]{1,64}$/.test(digits)) throw new Error(`no word: ${value}`);
  return digits.padStart(wordDigits, '0');
}

/** The words of an order, without 0x. */
export function encodeOrder(order: GatewayOrder): string {
  return orderMembers.map(([name]) => toWord(order[name])).join('');
}

/** An order from its words; undefined when a word is too large for its member. */
export function decodeOrder(digits: string): GatewayOrder | undefined {
  const text = digits.toLowerCase();
  if (text.length !== orderDigits) return undefined;
  const values: Record<string, Hex | bigint> = {};
  for (const [index, [name, type]] of orderMembers.entries()) {
    const word = text.slice(index * wordDigits, (index + 1) * wordDigits);
    if (type === 'bytes32') {
      values[name] = `0x${word}`;
    } else if (type === 'address') {
      if (!word.startsWith('0'.repeat(24))) return undefined;
      values[name] = `0x${word.slice(24)}`;
    } else {
      const value = BigInt(`0x${word}`);
      if (value >> BigInt(type.slice(4)) !== 0n) return undefined;
      values[name] = value;
    }
  }
  return values as unknown as GatewayOrder;
}

/** The order's EIP-712 digest on a chain and gateway, which is its id. */
export function orderIdOf(order: GatewayOrder, chainId: bigint, gateway: string): Hex {
  const members = orderMembers.map(([name, type]) => `${type} ${name}`).join(',');
  const struct = hashHex(`${hashText(`Order(${members})`)}${encodeOrder(order)}`);
  return hashHex(`1901${domainSeparatorOf(chainId, gateway).slice(2)}${struct.slice(2)}`);
}

/** The gateway's EIP-712 domain on a chain. */
export function domainSeparatorOf(chainId: bigint, gateway: string): Hex {
  return hashHex(
    [
      hashText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
      hashText('Florin PaymentGateway').slice(2),
      hashText('1').slice(2),
      toWord(chainId),
      toWord(gateway),
    ].join(''),
  );
}

/** Calldata of `reclaim`. */
export function encodeReclaim(order: GatewayOrder): Hex {
  return `0x${selectorOf(`reclaim(${orderTuple})`).slice(2)}${encodeOrder(order)}`;
}

/** Calldata of `settle` for several orders. */
export function encodeSettle(orders: readonly GatewayOrder[]): Hex {
  const head = `${toWord(32n)}${toWord(BigInt(orders.length))}`;
  return `0x${selectorOf(`settle(${orderTuple}[])`).slice(2)}${head}${orders.map(encodeOrder).join('')}`;
}

/** No token: means the chain's own coin. */
export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;

/** Calldata of `rescue`; of `rescueFromChain` when the chain of another chain's order is given. */
export function encodeRescue(order: GatewayOrder, token: string, chainId?: bigint): Hex {
  const words = `${encodeOrder(order)}${toWord(token)}`;
  return chainId === undefined
    ? `0x${selectorOf(`rescue(${orderTuple},address)`).slice(2)}${words}`
    : `0x${selectorOf(`rescueFromChain(${orderTuple},address,uint256)`).slice(2)}${words}${toWord(chainId)}`;
}

/** The ways to pay, by selector. */
export const waysToPay: ReadonlyMap<string, string> = new Map(
  [
    ['pay', `${orderTuple},bytes`],
    ['payWithPermit', `${orderTuple},bytes,uint8,bytes32,bytes32`],
    ['payWithAuthorization', `${orderTuple},bytes,bytes`],
    ['payWithPermit2', `${orderTuple},bytes,uint256,bytes`],
    ['collect', `${orderTuple},bytes`],
  ].map(([name = '', types = '']) => [selectorOf(`${name}(${types})`), name]),
);

/** First topics of the gateway's events. */
export const topics = {
  paid: hashText('Paid(bytes32,bytes32,address,address,address,uint256,uint256,uint256,uint8,bytes32)'),
  settled: hashText('Settled(bytes32,bytes32,address,address,uint256,uint256,bytes32)'),
  refunded: hashText('Refunded(bytes32,address,address,uint256,bytes32)'),
  reclaimed: hashText('Reclaimed(bytes32,address,address,uint256,bytes32)'),
} as const;
