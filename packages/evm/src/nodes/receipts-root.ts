import { keccakBytes, keccakHex } from '@florin/signing';
import { type Hex, hexToBytes, toHex } from 'viem';
import type { TransactionReceipt } from './actions.ts';
import { encodeRlp, encodeRlpHex, integerBytes, type RlpItem } from './rlp.ts';

/** The receipts root of a header. Receipts are in the order of their transactions. */
export function receiptsRootOf(receipts: readonly TransactionReceipt[]): Hex {
  return listRoot(receipts.map(encodeReceipt));
}

/** The type of deposits from the first layer on OP stack chains. */
const depositType = 0x7e;

/**
 * Encodes a receipt for the receipts root: status, cumulative gas, bloom and logs, after the type unless it is legacy
 * (EIP-2718, EIP-658). Unknown types are encoded like those of Ethereum. Where that is wrong, the root differs and
 * proves nothing.
 */
export function encodeReceipt({ type, deposit, ...receipt }: TransactionReceipt): Hex {
  const fields: RlpItem[] = [
    receipt.succeeded ? '0x01' : '0x',
    integerBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(({ address, topics, data }) => [address, topics, data]),
  ];
  // Since Canyon receipts contain both. Before Canyon nodes knew the nonce, but the root did not contain it.
  if (type === depositType && deposit?.version !== undefined) {
    fields.push(integerBytes(deposit.nonce), integerBytes(deposit.version));
  }
  const encoded = encodeRlpHex(fields);
  return type === 0 ? encoded : `0x${type.toString(16).padStart(2, '0')}${encoded.slice(2)}`;
}

/**
 * Polygon's nodes add a receipt for changes by bridges, which is outside the receipts root. The hash of its
 * transaction identifies it.
 */
export function isBorReceipt(receipt: TransactionReceipt): boolean {
  const number = receipt.blockNumber.toString(16).padStart(16, '0');
  const key = `${toHex('matic-bor-receipt-')}${number}${receipt.blockHash.slice(2)}` as const;
  return keccakHex(hexToBytes(key)) === receipt.transactionHash;
}

/**
 * The Merkle-Patricia root of a block's transactions or receipts. Keys are the RLP of positions; values are the
 * encoded entries (Yellow Paper, section 4.3.2 and appendix D). Trie libraries bring a database and proofs; this one
 * builds the trie once from sorted keys and drops it.
 */
export function listRoot(values: readonly (Uint8Array | Hex)[]): Hex {
  const entries = values.map((value, index) => ({ key: nibblesOf(encodeRlp(integerBytes(index))), value }));
  entries.sort((first, second) => Buffer.compare(first.key, second.key));
  const root = entries.length === 0 ? new Uint8Array(0) : nodeOf(entries, 0);
  return keccakHex(encodeRlp(root));
}

interface Entry {
  /** One half byte per element. */
  readonly key: Uint8Array;
  readonly value: Uint8Array | Hex;
}

function nibblesOf(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(bytes.length * 2);
  bytes.forEach((byte, index) => {
    nibbles[2 * index] = byte >> 4;
    nibbles[2 * index + 1] = byte & 15;
  });
  return nibbles;
}

/** The hex-prefix encoding of a part of a key: flags for odd length and leaf, then the half bytes. */
function compactPath(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2 === 1;
  const flags = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  const padded = isOdd ? [flags, ...nibbles] : [flags, 0, ...nibbles];
  return Uint8Array.from({ length: padded.length / 2 }, (_, index) => {
    return (padded[2 * index] ?? 0) * 16 + (padded[2 * index + 1] ?? 0);
  });
}

/**
 * The node of all entries, whose keys agree before `depth`. No key is a prefix of another, because RLP is
 * prefix-free.
 */
function nodeOf(entries: readonly Entry[], depth: number): RlpItem {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return new Uint8Array(0);
  if (entries.length === 1) return [compactPath(first.key.subarray(depth), true), first.value];
  // The keys are sorted: all share the prefix that the first and the last share.
  let end = depth;
  while (first.key[end] === last.key[end]) end += 1;
  if (end > depth)
    return [compactPath(first.key.subarray(depth, end), false), referenceTo(nodeOf(entries, end))];
  const branch: RlpItem[] = [];
  let start = 0;
  for (let nibble = 0; nibble < 16; nibble += 1) {
    let stop = start;
    while (entries[stop]?.key[depth] === nibble) stop += 1;
    branch.push(
      stop === start ? new Uint8Array(0) : referenceTo(nodeOf(entries.slice(start, stop), depth + 1)),
    );
    start = stop;
  }
  return [...branch, new Uint8Array(0)];
}

/** A parent contains the hash of a node of 32 bytes or more, and a smaller node itself. */
function referenceTo(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccakBytes(encoded);
}
