import { keccakHex } from '@florin/signing';
import type { Hex } from 'viem';
import { parseData, parseQuantity } from './parse.ts';
import { encodeRlp, integerBytes, type RlpItem } from './rlp.ts';

interface HeaderField {
  /** Its name in JSON-RPC. */
  readonly name: string;
  /** Of bytes: how many; undefined for any number of them. `quantity` for numbers. */
  readonly size: number | 'quantity' | undefined;
}

/** In the order of the header (Yellow Paper, section 4.3). */
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

/** Added by EIP-1559, 4895, 4844 (two), 4788, 7685, 7928 and 7843: each stands only where those before it do. */
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
 * The hash of a block's header rebuilt from its fields; undefined when the node leaves fields out that every Ethereum
 * header has. A chain whose headers have other fields gets another hash than it has: nothing is proven then. Throws
 * `RpcAnswerInvalid` for a malformed field.
 */
export function headerHashOf(block: Readonly<Record<string, unknown>>): Hex | undefined {
  if (!always.every(({ name }) => isGiven(block, name))) return undefined;
  const end = later.findIndex(({ name }) => !isGiven(block, name));
  const fields = [...always, ...(end === -1 ? later : later.slice(0, end))];
  return keccakHex(encodeRlp(fields.map((field) => itemOf(block, field))));
}
