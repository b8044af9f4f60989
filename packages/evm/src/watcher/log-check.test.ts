import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, keccak256, toHex } from 'viem';
import { emitter, emitterSource, idOf } from '../../test/emitter.ts';
import type { BlockHeader, RpcLog, TransactionReceipt } from '../nodes/actions.ts';
import { bloomOf } from '../nodes/bloom.ts';
import { RpcAnswerInvalid } from '../nodes/rpc.ts';
import { checkLogs, logsOfReceipts } from './log-check.ts';

const source = emitterSource({
  chainId: 1,
  startBlock: 0n,
  finality: { tag: 'finalized', depth: 0, quorum: 1 },
  pollIntervalMs: 1_000,
});
const blockHash = keccak256('0x01');
const txHash = keccak256('0x02');

function logOf(number: number, logIndex: number): RpcLog {
  return {
    ...{ address: emitter, topics: [keccak256('0x03'), idOf(number)], data: '0x', logIndex },
    ...{ blockHash, blockNumber: 16n, transactionHash: txHash, removed: false },
  };
}

function headerOf(logs: readonly RpcLog[]): BlockHeader {
  return {
    number: 16n,
    hash: blockHash,
    parentHash: keccak256('0x00'),
    time: new Date(1_700_000_000_000),
    logsBloom: bloomOf(logs.flatMap((log) => [log.address, ...log.topics])),
    baseFeePerGas: 0n,
    transactionHashes: [txHash],
  };
}

const first = logOf(1, 0);
const second = logOf(2, 3);

test('a log that cannot belong to the block makes the whole answer invalid', () => {
  const header = headerOf([first, second]);
  const refused: Record<string, RpcLog[]> = {
    removed: [{ ...first, removed: true }],
    'another block hash': [{ ...first, blockHash: keccak256('0x09') }],
    'another number': [{ ...first, blockNumber: 17n }],
    'an unknown transaction': [{ ...first, transactionHash: keccak256('0x09') }],
    twice: [first, first],
    'out of order': [second, first],
    'a topic outside of the bloom': [{ ...first, topics: [keccak256('0x03'), keccak256(toHex('forged'))] }],
  };
  checkLogs(header, [first, second]);
  for (const [name, logs] of Object.entries(refused)) {
    assert.throws(() => checkLogs(header, logs), RpcAnswerInvalid, name);
  }
});

const receiptOf = (logs: readonly RpcLog[]): TransactionReceipt => ({
  transactionHash: txHash,
  blockHash,
  blockNumber: 16n,
  succeeded: true,
  logsBloom: bloomOf(logs.flatMap((log) => [log.address, ...log.topics])),
  logs,
  type: 2,
  cumulativeGasUsed: 21_000n,
});

test('receipts without the logs that the bloom promises are refused', () => {
  const foreign = { ...first, address: `0x${'cc'.repeat(20)}` as Hex, logIndex: 1 };
  const header = headerOf([first, foreign, second]);
  const whole = [receiptOf([first, foreign]), receiptOf([second])];
  assert.deepEqual(logsOfReceipts(source, header, whole), [first, second]);
  assert.throws(() => logsOfReceipts(source, header, []), RpcAnswerInvalid);
  assert.throws(() => logsOfReceipts(source, header, whole.slice(0, 1)), RpcAnswerInvalid);
  const thinned = [{ ...receiptOf([first, foreign]), logs: [foreign] }, receiptOf([second])];
  assert.throws(() => logsOfReceipts(source, header, thinned), RpcAnswerInvalid);
  const moved = [{ ...receiptOf([first, foreign]), blockHash: keccak256('0x09') }, receiptOf([second])];
  assert.throws(() => logsOfReceipts(source, header, moved), RpcAnswerInvalid);
});

test('a log that is missing between others of its transaction is detected by its index', () => {
  // The first and the last log set every bit of the middle one.
  const three = [first, { ...first, logIndex: 1 }, { ...first, logIndex: 2 }];
  const header = headerOf(three);
  assert.equal(logsOfReceipts(source, header, [receiptOf(three)]).length, 3);
  assert.equal(logsOfReceipts(source, header, [receiptOf(three.toReversed())]).length, 3);
  const thinned = three.filter(({ logIndex }) => logIndex !== 1);
  assert.throws(() => logsOfReceipts(source, header, [receiptOf(thinned)]), RpcAnswerInvalid);
  assert.throws(() => logsOfReceipts(source, header, [receiptOf([...three, ...three])]), RpcAnswerInvalid);
});
