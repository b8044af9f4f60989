import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { type BlockHeader, calls, parseReceipt } from './actions.ts';
import { scanAnswer } from './answer-scan.ts';
import { parseReceipts } from './block-receipts.ts';
import { contentOf, type LogContent, placedLogOf } from './log-bytes.ts';
import { provenLogs } from './proven-logs.ts';
import { isScanned } from './receipt-scan.ts';
import { receiptsRootOf } from './receipts-root.ts';
import { RpcAnswerInvalid } from './rpc.ts';

const hex = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const blockHash: Hex = `0x${'ab'.repeat(32)}`;
const blockNumber = '0x10';

const content = fc.record({
  address: hex(20),
  topics: fc.array(hex(32), { maxLength: 4 }),
  data: hex(0, 300),
});
const told = fc.array(
  fc.record({
    kind: fc.constantFrom(
      {},
      { type: '0x0' },
      { type: '0x2' },
      { type: '0x7e', depositNonce: '0x5', depositReceiptVersion: '0x1' },
    ),
    status: fc.constantFrom('0x0', '0x1'),
    cumulativeGasUsed: fc.integer({ min: 0 }).map((gas) => `0x${gas.toString(16)}`),
    logsBloom: hex(256),
    transactionHash: hex(32),
    logs: fc.array(content, { maxLength: 5 }),
  }),
  { maxLength: 20 },
);
type Told = typeof told extends fc.Arbitrary<infer Value> ? Value : never;

/** Receipts as a node tells them. */
function answersOf(block: Told): Record<string, unknown>[] {
  let place = 0;
  return block.map(({ kind, logs, ...receipt }) => ({
    ...{ ...kind, ...receipt, blockHash, blockNumber },
    logs: logs.map((log) => {
      const logIndex = `0x${place.toString(16)}`;
      place += 1;
      const { transactionHash } = receipt;
      return { ...log, blockHash, blockNumber, logIndex, transactionHash, removed: false };
    }),
  }));
}

function headerOf(answers: readonly Record<string, unknown>[]): BlockHeader {
  const receipts = parseReceipts(answers);
  return {
    ...{ number: 16n, hash: blockHash, parentHash: blockHash, time: new Date(0), logsBloom: '0x' },
    ...{ baseFeePerGas: 0n, transactionHashes: receipts.map((receipt) => receipt.transactionHash) },
    ...{ receiptsRoot: receiptsRootOf(receipts), isProven: true },
  };
}

/** A proven log, as text. */
type FoundLog = LogContent & { readonly logIndex: number; readonly transactionHash: Hex };

/** As they come from a node; undefined where they are not plain, and left to the reader of every field. */
function provenOf(
  header: BlockHeader,
  answers: readonly unknown[],
  isWanted: (log: LogContent) => boolean = () => true,
): readonly FoundLog[] | undefined {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers }));
  const [outcome] = scanAnswer(body, [calls.blockReceipts(blockHash)]) ?? [];
  if (outcome === undefined || !('result' in outcome) || !isScanned(outcome.result)) return undefined;
  return provenLogs(header, outcome.result, (bytes, places) => isWanted(contentOf(bytes, places)))?.map(
    ({ bytes, places, ...place }) => ({ ...contentOf(bytes, places), ...place }),
  );
}

test('what is proven at once is what reading every field gives', () => {
  fc.assert(
    fc.property(told, (block) => {
      const answers = answersOf(block);
      const isWanted = (log: Pick<LogContent, 'topics'>) => log.topics.length > 1;
      const logs = parseReceipts(answers).flatMap((receipt) => receipt.logs.filter(isWanted));
      assert.deepEqual(
        provenOf(headerOf(answers), answers, isWanted),
        logs.map(({ address, topics, data, logIndex, transactionHash }) => ({
          ...{ address, topics, data, logIndex, transactionHash },
        })),
      );
    }),
  );
});

const log = {
  address: `0x${'1a'.repeat(20)}`,
  topics: [`0x${'2b'.repeat(32)}`],
  data: `0x${'3c'.repeat(64)}`,
  ...{ blockHash, blockNumber, logIndex: '0x0', transactionHash: `0x${'4d'.repeat(32)}`, removed: false },
};
const receipt = {
  ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'00'.repeat(256)}` },
  ...{ transactionHash: log.transactionHash, blockHash, blockNumber, logs: [log] },
};
const header = headerOf([receipt]);

function provenWith(changes: Record<string, unknown>): number | undefined {
  return provenOf(header, [{ ...receipt, logs: [{ ...log, ...changes }] }])?.length;
}

test('no other text for the same bytes, and no other place, is taken for what was proven', () => {
  assert.equal(provenWith({}), 1);
  // Node reads the digit out of the last eight bits of a character: the bytes are those that were hashed.
  const disguised = log.data.replace('3', '\u0133');
  assert.deepEqual(Buffer.from(disguised.slice(2), 'hex'), Buffer.from(log.data.slice(2), 'hex'));
  const others = {
    data: [disguised, log.data.toUpperCase(), log.data.replace('3c', '3C'), `${log.data}0`, '0x', null, 'zz'],
    address: [log.address.replace('a', 'A'), `${log.address}00`, 1],
    topics: [[log.topics[0]?.replace('b', 'B')], [`0x${'2b'.repeat(31)}`], [], [null], null, [1, 2, 3, 4, 5]],
    logIndex: ['0x1', '0x00', 0],
    transactionHash: [`0x${'4e'.repeat(32)}`, log.transactionHash.toUpperCase(), null],
    removed: [true, null, 0],
  };
  for (const [name, values] of Object.entries(others)) {
    for (const value of values) {
      assert.equal(provenWith({ [name]: value }), undefined, `${name} ${JSON.stringify(value)}`);
    }
  }
});

test('a log has the same fields in bytes and as text', () => {
  fc.assert(
    fc.property(content, ({ address, topics, data }) => {
      const at = { blockHash, blockNumber: 1n, logIndex: 7, transactionHash: blockHash, removed: false };
      const { bytes, places, logIndex, transactionHash } = placedLogOf({ address, topics, data, ...at });
      assert.deepEqual(contentOf(bytes, places), { address, topics, data });
      assert.deepEqual({ logIndex, transactionHash }, { logIndex: 7, transactionHash: blockHash });
    }),
  );
});

test('a receipt that is missing, invented, of another block or without proof proves nothing', () => {
  const isProven = (changed: BlockHeader, answers: readonly unknown[]) =>
    provenOf(changed, answers) !== undefined;
  assert.equal(isProven(header, [receipt]), true);
  assert.equal(isProven(header, []), false);
  assert.equal(isProven(header, [receipt, receipt]), false);
  assert.equal(isProven(header, [{ ...receipt, status: '0x0' }]), false);
  assert.equal(isProven(header, [{ ...receipt, blockHash: `0x${'ac'.repeat(32)}` }]), false);
  assert.equal(isProven(header, [{ ...receipt, logs: null }]), false);
  assert.equal(isProven({ ...header, isProven: false }, [receipt]), false);
  const { receiptsRoot, ...without } = header;
  assert.equal(isProven(without, [receipt]), false);
  assert.equal(isProven(header, [null]), false);
  assert.throws(() => isProven(header, [{ ...receipt, status: '0x2' }]), RpcAnswerInvalid);
  assert.throws(
    () => isProven(header, [{ ...receipt, logsBloom: `0x${'zz'.repeat(256)}` }]),
    RpcAnswerInvalid,
  );
  assert.notEqual(parseReceipt(receipt), undefined);
  assert.notEqual(receiptsRoot, undefined);
});
