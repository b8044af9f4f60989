import { headerHashOf, parseTransactionReceipt, receiptsRootOf } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { MinedTransaction, ModelBlock } from './model-block.ts';
import { modelHash } from './seeded-random.ts';

/** A block's contents before its hash exists. */
export type DraftBlock = Omit<ModelBlock, 'hash' | 'header'>;

const zeroes = (bytes: number): Hex => `0x${'0'.repeat(2 * bytes)}`;
const gasPerTransaction = 21_000;

export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** The fields of a block's header as nodes report them, with the root of its receipts. */
function headerFields(draft: DraftBlock, salt: string): Readonly<Record<string, Hex>> {
  const receipts = draft.transactions.map((mined, index) =>
    receiptAnswer({ ...draft, hash: zeroes(32) }, mined, index),
  );
  const parsed = receipts.flatMap((receipt) => parseTransactionReceipt(receipt) ?? []);
  return {
    parentHash: draft.parent?.hash ?? zeroes(32),
    sha3Uncles: zeroes(32),
    miner: zeroes(20),
    // Distinguishes two empty blocks of one height.
    stateRoot: modelHash(salt),
    transactionsRoot: zeroes(32),
    receiptsRoot: receiptsRootOf(parsed),
    logsBloom: draft.bloom,
    difficulty: '0x0',
    number: quantity(draft.number),
    gasLimit: '0x1c9c380',
    gasUsed: quantity(gasPerTransaction * receipts.length),
    timestamp: quantity(draft.timeSeconds),
    extraData: '0x',
    mixHash: zeroes(32),
    nonce: zeroes(8),
    baseFeePerGas: quantity(draft.baseFee),
  };
}

/** A block whose header hashes to its hash, for chains whose blocks are verified. */
export function provenBlock(draft: DraftBlock, salt: string): ModelBlock {
  const header = headerFields(draft, salt);
  const hash = headerHashOf(header);
  if (hash === undefined) throw new Error('a header without a field');
  return { ...draft, hash, header };
}

/** A block of a chain whose headers have an encoding of their own: nothing in it can be verified. */
export function plainBlock(draft: DraftBlock, salt: string): ModelBlock {
  const header = {
    parentHash: draft.parent?.hash ?? zeroes(32),
    number: quantity(draft.number),
    timestamp: quantity(draft.timeSeconds),
    logsBloom: draft.bloom,
    baseFeePerGas: quantity(draft.baseFee),
  };
  return { ...draft, hash: modelHash(salt), header };
}

type BlockPosition = Pick<ModelBlock, 'hash' | 'number'>;

export function logAnswers(block: BlockPosition, mined: MinedTransaction) {
  return mined.logs.map((log, index) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    logIndex: quantity(mined.firstLogIndex + index),
    transactionHash: mined.transaction.hash,
    removed: false,
  }));
}

/** A receipt as nodes report it; `index` is the transaction's position in its block. */
export function receiptAnswer(block: BlockPosition, mined: MinedTransaction, index: number) {
  return {
    transactionHash: mined.transaction.hash,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    status: mined.succeeded ? '0x1' : '0x0',
    type: '0x2',
    cumulativeGasUsed: quantity(gasPerTransaction * (index + 1)),
    logsBloom: mined.bloom,
    logs: logAnswers(block, mined),
  };
}
