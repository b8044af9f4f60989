import { keccakHex } from '@florin/signing';
import type { Hex } from 'viem';
import { parseData, parseQuantity } from './parse.ts';
import { encodeRlp, integerBytes, type RlpItem } from './rlp.ts';

interface HeaderField {
  /** The field's name in JSON-RPC. */
  readonly name: string;
  /** The number of bytes, undefined for any number of them; `quantity` for numbers. */
  readonly size: number | 'quantity' | undefined;
}

/** The fields that every header has, in their order (Yellow Paper, section 4.3). */
const always: readonly HeaderField[] = [
  { name: 'parentHash', size: 32 },
  { name: 'sha3Uncles', size: 32 },
  { name: 'miner', size: 20 },
  { name: 'stateRoot', size: 32 },
  { name: 'transactionsRoot', size: 32 },
  { name: 'receiptsRoot', size: 32 },
  { name: 'logsBloom', size: 256 },
  { name: 'difficulty', size: 'quantity' },
  { name: 'number', size: 'quantity' },
  { name: 'gasLimit', size: 'quantity' },
  { name: 'gasUsed', size: 'quantity' },
  { name: 'timestamp', size: 'quantity' },
  { name: 'extraData', size: undefined },
  { name: 'mixHash', size: 32 },
  { name: 'nonce', size: 8 },
];

/** Fields added by EIP-1559, 4895, 4844 (two), 4788, 7685, 7928 and 7843. Each is present only after all earlier ones. */
const later: readonly HeaderField[] = [
  { name: 'baseFeePerGas', size: 'quantity' },
  { name: 'withdrawalsRoot', size: 32 },
  { name: 'blobGasUsed', size: 'quantity' },
  { name: 'excessBlobGas', size: 'quantity' },
  { name: 'parentBeaconBlockRoot', size: 32 },
  { name: 'requestsHash', size: 32 },
  { name: 'blockAccessListHash', size: 32 },
  { name: 'slotNumber', size: 'quantity' },
];

function itemOf(block: Readonly<Record<string, unknown>>, { name, size }: HeaderField): RlpItem {
  const what = `block.${name}`;
  return size === 'quantity'
    ? integerBytes(parseQuantity(what, block[name]))
    : parseData(what, block[name], size);
}

function isGiven(block: Readonly<Record<string, unknown>>, name: string): boolean {
  return block[name] !== undefined && block[name] !== null;
}

/**
 * The hash of a block's header, computed from its fields. Undefined when the node leaves out a field that every
 * Ethereum header has. On a chain whose headers have other fields the hash differs from the block's own, which proves
 * nothing. Throws `RpcAnswerInvalid` for a malformed field.
 */
export function headerHashOf(block: Readonly<Record<string, unknown>>): Hex | undefined {
  if (!always.every(({ name }) => isGiven(block, name))) return undefined;
  const end = later.findIndex(({ name }) => !isGiven(block, name));
  const fields = [...always, ...(end === -1 ? later : later.slice(0, end))];
  return keccakHex(encodeRlp(fields.map((field) => itemOf(block, field))));
}
