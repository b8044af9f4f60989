import type { Hex } from '@florin/protocol/order.ts';
import { keccakBytes, keccakHex } from '@florin/signing';
import { encodeRlp, integerBytes, type RlpItem, rlpHead } from './rlp.ts';

/**
 * The root of the Merkle-Patricia trie that a block commits to its transactions or receipts with: keys are the RLP of
 * positions, values the encoded entries (Yellow Paper, section 4.3.2 and appendix D). Written here because it is built
 * once from sorted keys and thrown away, which takes no database and no proofs, as trie libraries bring them.
 */
export function listRoot(values: readonly Uint8Array[]): Hex {
  const entries = values.map((value, index) => ({ key: nibblesOf(encodeRlp(integerBytes(index))), value }));
  entries.sort((first, second) => Buffer.compare(first.key, second.key));
  const root = entries.length === 0 ? new Uint8Array(0) : nodeOf(entries, 0);
  return keccakHex(encodeRlp(root));
}

interface Entry {
  /** One half byte each. */
  readonly key: Uint8Array;
  readonly value: Uint8Array;
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
  if (end > depth) return [compactPath(first.key.subarray(depth, end), false), referenceToAll(entries, end)];
  const branch: RlpItem[] = [];
  let start = 0;
  for (let nibble = 0; nibble < 16; nibble += 1) {
    let stop = start;
    while (entries[stop]?.key[depth] === nibble) stop += 1;
    branch.push(stop === start ? new Uint8Array(0) : referenceToAll(entries.slice(start, stop), depth + 1));
    start = stop;
  }
  return [...branch, new Uint8Array(0)];
}

/** Most nodes are leaves of one long entry each: these are hashed where they stand, without a copy of it. */
function referenceToAll(entries: readonly Entry[], depth: number): RlpItem {
  const [first] = entries;
  if (first === undefined || entries.length > 1 || first.value.length < 56) {
    return referenceTo(nodeOf(entries, depth));
  }
  const path = encodeRlp(compactPath(first.key.subarray(depth), true));
  const valueHead = rlpHead('bytes', first.value.length);
  const size = path.length + valueHead.length + first.value.length;
  return keccakBytes(Buffer.concat([rlpHead('list', size), path, valueHead]), first.value);
}

/** A node of 32 bytes or more stands in its parent by its hash, a smaller one itself. */
function referenceTo(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccakBytes(encoded);
}
