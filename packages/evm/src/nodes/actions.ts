import type { Hex } from 'viem';
import { headerHashOf } from './header-hash.ts';
import {
  parseAddress,
  parseArray,
  parseBloom,
  parseData,
  parseHash,
  parseQuantity,
  parseRecord,
  parseSmallQuantity,
} from './parse.ts';
import { type NodeAnswer, type Rpc, RpcAnswerInvalid, type RpcCall, type RpcError } from './rpc.ts';

export type BlockTag = 'latest' | 'safe' | 'finalized' | 'pending';

/** A block's header, with the fields that this package uses. Hashes are lower case. */
export interface BlockHeader {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly time: Date;
  readonly logsBloom: Hex;
  /** Wei per gas; 0 on chains without EIP-1559. */
  readonly baseFeePerGas: bigint;
  readonly transactionHashes: readonly Hex[];
  /** The root of the block's receipts; absent where the node leaves it out. */
  readonly receiptsRoot?: Hex;
  /** Whether the fields hash to the block's own hash, so that a node cannot have invented them. */
  readonly isProven?: boolean;
}

/** One log of a mined transaction. Hex is lower case. */
export interface RpcLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly transactionHash: Hex;
  readonly removed: boolean;
}

/** The fields of a log that say which contract wrote it and what it means. */
export type LogContent = Pick<RpcLog, 'address' | 'topics' | 'data'>;

export interface TransactionReceipt {
  readonly transactionHash: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  readonly logsBloom: Hex;
  readonly logs: readonly RpcLog[];
  /** The transaction's type (EIP-2718); 0 for legacy transactions. */
  readonly type: number;
  /** Gas used by all transactions of the block up to and including this one. */
  readonly cumulativeGasUsed: bigint;
  /** Only for deposits on OP stack chains. Deposits before Canyon have no version. */
  readonly deposit?: { readonly nonce: bigint; readonly version?: bigint };
}

/** Base fee of the next block and the priority fees that recent blocks paid, in wei per gas. */
export interface FeeHistory {
  readonly nextBaseFee: bigint;
  readonly tips: readonly bigint[];
}

export interface CallRequest {
  readonly from?: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
}

export function toQuantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}

function blockId(block: BlockTag | bigint): string {
  return typeof block === 'bigint' ? toQuantity(block) : block;
}

/** Reads a block; undefined when the node does not have it. */
export function parseHeader(value: unknown): BlockHeader | undefined {
  if (value === null) return undefined;
  const block = parseRecord('block', value);
  const time = parseSmallQuantity('block.timestamp', block['timestamp']);
  // A JavaScript date ends at 8.64e15 ms.
  if (time > 8_640_000_000_000) throw new RpcAnswerInvalid(`malformed answer: block.timestamp is ${time}`);
  const hash = parseHash('block.hash', block['hash']);
  const receiptsRoot = block['receiptsRoot'];
  return {
    number: parseQuantity('block.number', block['number']),
    hash,
    parentHash: parseHash('block.parentHash', block['parentHash']),
    time: new Date(time * 1000),
    logsBloom: parseBloom('block.logsBloom', block['logsBloom']),
    baseFeePerGas:
      block['baseFeePerGas'] === undefined || block['baseFeePerGas'] === null
        ? 0n
        : parseQuantity('block.baseFeePerGas', block['baseFeePerGas']),
    transactionHashes: parseArray('block.transactions', block['transactions']).map((transaction) =>
      parseHash('block.transactions[]', transaction),
    ),
    ...(receiptsRoot === undefined || receiptsRoot === null
      ? {}
      : { receiptsRoot: parseHash('block.receiptsRoot', receiptsRoot) }),
    isProven: headerHashOf(block) === hash,
  };
}

/** Where a receipt says that it is. Its logs repeat these texts, so they are parsed once per receipt. */
interface Place extends Pick<RpcLog, 'blockHash' | 'blockNumber' | 'transactionHash'> {
  readonly said: Readonly<Record<string, unknown>>;
}

function parseLog(value: unknown, place?: Place): RpcLog {
  const log = parseRecord('log', value);
  const removed = log['removed'];
  // Some nodes leave `removed` out of receipts. Any other value than a boolean is the node's fault.
  if (removed !== undefined && typeof removed !== 'boolean')
    throw new RpcAnswerInvalid('malformed answer: log.removed');
  const topics = parseArray('log.topics', log['topics']).map((topic) => parseHash('log.topics[]', topic));
  if (topics.length > 4) throw new RpcAnswerInvalid('malformed answer: a log with more than 4 topics');
  return {
    address: parseAddress('log.address', log['address']),
    topics,
    data: parseData('log.data', log['data']),
    blockHash:
      log['blockHash'] === place?.said['blockHash'] && place !== undefined
        ? place.blockHash
        : parseHash('log.blockHash', log['blockHash']),
    blockNumber:
      log['blockNumber'] === place?.said['blockNumber'] && place !== undefined
        ? place.blockNumber
        : parseQuantity('log.blockNumber', log['blockNumber']),
    logIndex: parseSmallQuantity('log.logIndex', log['logIndex']),
    transactionHash:
      log['transactionHash'] === place?.said['transactionHash'] && place !== undefined
        ? place.transactionHash
        : parseHash('log.transactionHash', log['transactionHash']),
    removed: removed ?? false,
  };
}

/** Reads a list of logs. */
export function parseLogs(value: unknown): readonly RpcLog[] {
  return parseArray('logs', value).map((log) => parseLog(log));
}

/** Reads a receipt; undefined when the node has none, because it knows no block with the transaction. */
export function parseTransactionReceipt(value: unknown): TransactionReceipt | undefined {
  if (value === null) return undefined;
  const receipt = parseRecord('receipt', value);
  const status = parseQuantity('receipt.status', receipt['status']);
  if (status > 1n) throw new RpcAnswerInvalid(`malformed answer: receipt.status is ${status}`);
  // Nodes older than EIP-2718 leave the type out.
  const type = receipt['type'] === undefined ? 0 : parseSmallQuantity('receipt.type', receipt['type']);
  if (type > 0x7f) throw new RpcAnswerInvalid(`malformed answer: receipt.type is ${type}`);
  const place = {
    transactionHash: parseHash('receipt.transactionHash', receipt['transactionHash']),
    blockHash: parseHash('receipt.blockHash', receipt['blockHash']),
    blockNumber: parseQuantity('receipt.blockNumber', receipt['blockNumber']),
  };
  const said = { ...place, said: receipt };
  return {
    ...place,
    succeeded: status === 1n,
    logsBloom: parseBloom('receipt.logsBloom', receipt['logsBloom']),
    logs: parseArray('receipt.logs', receipt['logs']).map((log) => parseLog(log, said)),
    type,
    // Only proofs need these fields; without them a proof fails.
    cumulativeGasUsed:
      receipt['cumulativeGasUsed'] === undefined
        ? 0n
        : parseQuantity('receipt.cumulativeGasUsed', receipt['cumulativeGasUsed']),
    ...depositOf(receipt),
  };
}

function depositOf(receipt: Readonly<Record<string, unknown>>): Pick<TransactionReceipt, 'deposit'> {
  const { depositNonce, depositReceiptVersion } = receipt;
  if (depositNonce === undefined || depositNonce === null) return {};
  const nonce = parseQuantity('receipt.depositNonce', depositNonce);
  if (depositReceiptVersion === undefined || depositReceiptVersion === null) return { deposit: { nonce } };
  return {
    deposit: { nonce, version: parseQuantity('receipt.depositReceiptVersion', depositReceiptVersion) },
  };
}

export const calls = {
  block: (block: BlockTag | bigint): RpcCall => ({
    method: 'eth_getBlockByNumber',
    params: [blockId(block), false],
  }),
  logs: (blockHash: Hex, addresses: readonly Hex[]): RpcCall => ({
    method: 'eth_getLogs',
    params: [{ blockHash, address: addresses }],
  }),
  receipt: (txHash: Hex): RpcCall => ({ method: 'eth_getTransactionReceipt', params: [txHash] }),
  blockReceipts: (blockHash: Hex): RpcCall => ({ method: 'eth_getBlockReceipts', params: [blockHash] }),
  transactionCount: (address: Hex, block: BlockTag | bigint): RpcCall => ({
    method: 'eth_getTransactionCount',
    params: [address, blockId(block)],
  }),
  feeHistory: (blockCount: number, percentile: number): RpcCall => ({
    method: 'eth_feeHistory',
    params: [toQuantity(BigInt(blockCount)), 'latest', [percentile]],
  }),
  estimateGas: (request: CallRequest): RpcCall => ({
    method: 'eth_estimateGas',
    params: [encodeCall(request)],
  }),
  sendRaw: (raw: Hex): RpcCall => ({ method: 'eth_sendRawTransaction', params: [raw] }),
};

function encodeCall(request: CallRequest): Record<string, string> {
  return {
    to: request.to,
    data: request.data,
    ...(request.from === undefined ? {} : { from: request.from }),
    ...(request.value === undefined ? {} : { value: toQuantity(request.value) }),
  };
}

/** A block in a node's answer; undefined when the node has none, answers with an error, or sends a malformed block. */
export function headerIn({ outcomes }: NodeAnswer, index: number): BlockHeader | undefined {
  const outcome = outcomes[index];
  if (outcome === undefined || 'error' in outcome) return undefined;
  try {
    return parseHeader(outcome.result);
  } catch (error) {
    if (error instanceof RpcAnswerInvalid) return undefined;
    throw error;
  }
}

async function send(rpc: Rpc, call: RpcCall): Promise<unknown> {
  return rpc.request(call.method, call.params);
}

/** The block that a tag names, or the canonical block of a height; undefined when the node does not have it. */
export async function getBlock(rpc: Rpc, block: BlockTag | bigint): Promise<BlockHeader | undefined> {
  const header = parseHeader(await send(rpc, calls.block(block)));
  if (typeof block === 'bigint' && header !== undefined && header.number !== block) {
    throw new RpcAnswerInvalid(`asked for block ${block}, got ${header.number}`);
  }
  return header;
}

export async function getTransactionReceipt(rpc: Rpc, txHash: Hex): Promise<TransactionReceipt | undefined> {
  return checkTransactionReceipt(txHash, parseTransactionReceipt(await send(rpc, calls.receipt(txHash))));
}

/** Refuses a receipt of another transaction than the requested one. */
export function checkTransactionReceipt(
  txHash: Hex,
  receipt: TransactionReceipt | undefined,
): TransactionReceipt | undefined {
  if (receipt !== undefined && receipt.transactionHash !== txHash) {
    throw new RpcAnswerInvalid('asked for a receipt, got another');
  }
  return receipt;
}

/** How many transactions of this wallet the chain has up to the block: the wallet's next nonce there. */
export async function getTransactionCount(rpc: Rpc, address: Hex, block: BlockTag | bigint): Promise<bigint> {
  return parseQuantity('transaction count', await send(rpc, calls.transactionCount(address, block)));
}

/** Reads a fee history of one percentile. */
export function parseFeeHistory(value: unknown): FeeHistory {
  const history = parseRecord('fee history', value);
  const baseFees = parseArray('fee history.baseFeePerGas', history['baseFeePerGas']);
  const rewards = history['reward'];
  return {
    nextBaseFee: parseQuantity('fee history.baseFeePerGas[]', baseFees.at(-1)),
    // Nodes leave the rewards out for an empty range.
    tips:
      rewards === undefined || rewards === null
        ? []
        : parseArray('fee history.reward', rewards).map((entry) =>
            parseQuantity('fee history.reward[][]', parseArray('fee history.reward[]', entry)[0]),
          ),
  };
}

export async function getGasPrice(rpc: Rpc): Promise<bigint> {
  return parseQuantity('gas price', await rpc.request('eth_gasPrice', []));
}

/** Return data of a call that sends no transaction. Throws `RpcError` when it reverts. */
export async function call(
  rpc: Rpc,
  request: CallRequest,
  block: BlockTag | bigint = 'latest',
): Promise<Hex> {
  return parseData('call result', await rpc.request('eth_call', [encodeCall(request), blockId(block)]));
}

export async function getCode(rpc: Rpc, address: Hex, block: BlockTag | bigint = 'latest'): Promise<Hex> {
  return parseData('code', await rpc.request('eth_getCode', [address, blockId(block)]));
}

/** The balance of an address in wei. */
export async function getBalance(
  rpc: Rpc,
  address: Hex,
  block: BlockTag | bigint = 'latest',
): Promise<bigint> {
  return parseQuantity('balance', await rpc.request('eth_getBalance', [address, blockId(block)]));
}

/**
 * The data with which a call reverted, `0x` when it gave none; undefined when the error is not a revert. There is no
 * standard: most nodes send code 3, others only the word in the message.
 */
export function revertDataOf(error: RpcError): Hex | undefined {
  if (error.code !== 3 && !/revert/i.test(error.message)) return undefined;
  const candidates = [error.data, isRecord(error.data) ? error.data['data'] : undefined];
  const data = candidates.find((value) => typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value));
  return typeof data === 'string' ? parseData('revert data', data) : '0x';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
