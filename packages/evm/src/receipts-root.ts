import { keccakBytes, keccakHex } from '@florin/signing';
import { type Hex, hexToBytes, toHex } from 'viem';
import type { Receipt } from './actions.ts';
import { encodeRlp, encodeRlpHex, integerBytes, type RlpItem } from './rlp.ts';

/** The root that a header commits to its block's receipts with. Receipts stand in the order of their transactions. */
export function receiptsRootOf(receipts: readonly Receipt[]): Hex {
  return listRoot(receipts.map(encodeReceipt));
}

/** Receipts of deposits from the first layer on chains of the OP stack. */
const depositType = 0x7e;

/**
 * A receipt as its block commits to it: status, gas used so far, bloom and logs, after its type unless it is a legacy
 * one (EIP-2718, EIP-658). Types without a rule of their own are encoded like those of Ethereum: where that is wrong,
 * the root comes out as another and proves nothing.
 */
export function encodeReceipt({ type, deposit, ...receipt }: Receipt): Hex {
  const fields: RlpItem[] = [
    receipt.succeeded ? '0x01' : '0x',
    integerBytes(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(({ address, topics, data }) => [address, topics, data]),
  ];
  // Since Canyon the two are part of the receipt. Before it, nodes knew the nonce, and blocks did not commit to it.
  if (type === depositType && deposit?.version !== undefined) {
    fields.push(integerBytes(deposit.nonce), integerBytes(deposit.version));
  }
  const encoded = encodeRlpHex(fields);
  return type === 0 ? encoded : `0x${type.toString(16).padStart(2, '0')}${encoded.slice(2)}`;
}

/**
 * Polygon's nodes add a receipt that no header commits to, for what bridges changed in the block. The hash of its
 * transaction identifies it.
 */
export function isBorReceipt(receipt: Receipt): boolean {
  const number = receipt.blockNumber.toString(16).padStart(16, '0');
  const key = `${toHex('matic-bor-receipt-')}${number}${receipt.blockHash.slice(2)}` as const;
  return keccakHex(hexToBytes(key)) === receipt.transactionHash;
}

/**
 * The root of the Merkle-Patricia trie that a block commits to its transactions or receipts with: keys are the RLP of
 * positions, values the encoded entries (Yellow Paper, section 4.3.2 and appendix D). Written here because it is built
 * once from sorted keys and thrown away, which takes no database and no proofs, as trie libraries bring them.
 */
export function listRoot(values: readonly (Uint8Array | Hex)[]): Hex {
  const entries = values.map((value, index) => ({ key: nibblesOf(encodeRlp(integerBytes(index))), value }));
  entries.sort((first, second) => Buffer.compare(first.key, second.key));
  const root = entries.length === 0 ? new Uint8Array(0) : nodeOf(entries, 0);
  return keccakHex(encodeRlp(root));
}

interface Entry {
  /** One half byte each. */
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

/** The hex-prefix encoding of a part of a key: flags for an odd length and for a leaf, then the half bytes. */
function compactPath(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2 === 1;
  const flags = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  const padded = isOdd ? [flags, ...nibbles] : [flags, 0, ...nibbles];
  return Uint8Array.from({ length: padded.length / 2 }, (_, index) => {
    return (padded[2 * index] ?? 0) * 16 + (padded[2 * index + 1] ?? 0);
  });
}

/** The node of all entries, whose keys agree before `depth`. No key is the beginning of another: RLP is prefix-free. */
function nodeOf(entries: readonly Entry[], depth: number): RlpItem {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return new Uint8Array(0);
  if (entries.length === 1) return [compactPath(first.key.subarray(depth), true), first.value];
  // Sorted, so that what the first and the last have in common, all have.
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

/** A node of 32 bytes or more stands in its parent by its hash, a smaller one itself. */
function referenceTo(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccakBytes(encoded);
}
