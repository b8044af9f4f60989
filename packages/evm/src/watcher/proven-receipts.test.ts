import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from 'viem';
import {
  type BlockHeader,
  parseTransactionReceipt,
  type RpcLog,
  type TransactionReceipt,
} from '../nodes/actions.ts';
import { receiptsRootOf } from '../nodes/receipts-root.ts';
import { RpcAnswerInvalid } from '../nodes/rpc.ts';
import { areProvenReceipts, logsOfProvenReceipts } from './log-check.ts';

const wanted: Hex = `0x${'1a'.repeat(20)}`;
const source = { isWanted: ({ address }: Pick<RpcLog, 'address'>) => address === wanted };

const hex = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const blockHash: Hex = `0x${'ab'.repeat(32)}`;
const blockNumber = '0x10';

const content = fc.record({
  address: fc.oneof(fc.constant(wanted), hex(20)),
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

/** Receipts as a node sends them. */
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

function parseAll(answers: readonly unknown[]): readonly TransactionReceipt[] {
  return answers.map((answer) => {
    const receipt = parseTransactionReceipt(answer);
    if (receipt === undefined) throw new RpcAnswerInvalid('a receipt of the block is missing');
    return receipt;
  });
}

function headerOf(answers: readonly Record<string, unknown>[]): BlockHeader {
  const receipts = parseAll(answers);
  return {
    ...{ number: 16n, hash: blockHash, parentHash: blockHash, time: new Date(0), logsBloom: '0x' },
    ...{ baseFeePerGas: 0n, transactionHashes: receipts.map((receipt) => receipt.transactionHash) },
    ...{ receiptsRoot: receiptsRootOf(receipts), isProven: true },
  };
}

/** The wanted logs; undefined for receipts that prove nothing. */
function provenOf(header: BlockHeader, answers: readonly unknown[]): readonly RpcLog[] | undefined {
  const receipts = parseAll(answers);
  return areProvenReceipts(header, receipts) ? logsOfProvenReceipts(source, header, receipts) : undefined;
}

test('exactly the requested logs are read from proven receipts', () => {
  fc.assert(
    fc.property(told, (block) => {
      const answers = answersOf(block);
      const own = answers
        .flatMap(({ logs }) => logs as (typeof log)[])
        .filter(({ address }) => address === wanted);
      assert.deepEqual(
        provenOf(headerOf(answers), answers),
        own.map((plain) => ({ ...plain, blockNumber: 16n, logIndex: Number(plain.logIndex) })),
      );
    }),
  );
});

const log = {
  address: wanted,
  topics: [`0x${'2b'.repeat(32)}`],
  data: `0x${'3c'.repeat(64)}`,
  ...{ blockHash, blockNumber, logIndex: '0x0', transactionHash: `0x${'4d'.repeat(32)}`, removed: false },
};
const receipt = {
  ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'00'.repeat(256)}` },
  ...{ transactionHash: log.transactionHash, blockHash, blockNumber, logs: [log] },
};
const header = headerOf([receipt]);

const provenWith = (changes: Record<string, unknown>) =>
  provenOf(header, [{ ...receipt, logs: [{ ...log, ...changes }] }]);

test('another spelling of the same bytes, or another position, is refused', () => {
  const whole = provenWith({});
  assert.equal(whole?.length, 1);
  // Node reads the digit from the low eight bits of the character, so the bytes equal the hashed ones.
  const disguised = log.data.replace('3', '\u0133');
  assert.deepEqual(Buffer.from(disguised.slice(2), 'hex'), Buffer.from(log.data.slice(2), 'hex'));
  const malformed = {
    data: [disguised, `${log.data}0`, null, 'zz'],
    address: [`${log.address}00`, 1],
    topics: [[`0x${'2b'.repeat(31)}`], [null], null, [1, 2, 3, 4, 5]],
    logIndex: ['0x1', '0x00', 0],
    transactionHash: [`0x${'4e'.repeat(32)}`, null],
    removed: [null, 0],
  };
  for (const [name, values] of Object.entries(malformed)) {
    for (const value of values) {
      assert.throws(
        () => provenWith({ [name]: value }),
        RpcAnswerInvalid,
        `${name} ${JSON.stringify(value)}`,
      );
    }
  }
  for (const others of [{ data: '0x' }, { topics: [] }, { topics: [`0x${'2c'.repeat(32)}`] }]) {
    assert.equal(provenWith(others), undefined, JSON.stringify(others));
  }
  // Capital digits encode the same bytes and are accepted.
  const capitals = { address: log.address.replace('a', 'A'), data: log.data.replace('3c', '3C') };
  assert.deepEqual(provenWith(capitals), whole);
});

test('a receipt that is missing, forged, of another block or without proof is refused', () => {
  const isProven = (changed: BlockHeader, answers: readonly unknown[]) =>
    provenOf(changed, answers) !== undefined;
  assert.equal(isProven(header, [receipt]), true);
  assert.equal(isProven(header, []), false);
  assert.equal(isProven(header, [receipt, receipt]), false);
  assert.equal(isProven(header, [{ ...receipt, status: '0x0' }]), false);
  assert.equal(isProven({ ...header, isProven: false }, [receipt]), false);
  const { receiptsRoot, ...without } = header;
  assert.notEqual(receiptsRoot, undefined);
  assert.equal(isProven(without, [receipt]), false);
  const refused = [
    { ...receipt, blockHash: `0x${'ac'.repeat(32)}` },
    { ...receipt, transactionHash: `0x${'4e'.repeat(32)}` },
    { ...receipt, logs: null },
    { ...receipt, status: '0x2' },
    { ...receipt, logsBloom: `0x${'zz'.repeat(256)}` },
    null,
  ];
  for (const answer of refused) {
    assert.throws(() => isProven(header, [answer]), RpcAnswerInvalid, JSON.stringify(answer));
  }
});
