import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { type BlockHeader, calls, type Receipt, type RpcLog } from './actions.ts';
import { scanAnswer } from './answer-scan.ts';
import { parseReceipts } from './block-receipts.ts';
import { readBatchAnswer, readSingleAnswer } from './json-rpc.ts';
import { contentOf } from './log-bytes.ts';
import { parseArray } from './parse.ts';
import { provenLogs } from './proven-logs.ts';
import { isScanned } from './receipt-scan.ts';
import { encodeReceipt, receiptsRootOf } from './receipts-root.ts';
import { RpcAnswerInvalid, RpcError, type RpcOutcome, RpcUnavailable } from './rpc.ts';

const blockHash: Hex = `0x${'ab'.repeat(32)}`;
const other: Hex = `0x${'cd'.repeat(32)}`;
const hex = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);

/** Blocks with few receipts: most of what is looked for shows in one. */
const told = fc.array(
  fc.record({
    kind: fc.constantFrom<Record<string, unknown>>(
      {},
      { type: '0x0' },
      { type: '0x2', blockTimestamp: 1_795_315_283, contractAddress: null },
      { type: '0x7e', depositNonce: '0x5', depositReceiptVersion: '0x1' },
      { type: '0x7e', depositNonce: null },
    ),
    status: fc.constantFrom('0x0', '0x1'),
    cumulativeGasUsed: fc.integer({ min: 0 }).map((gas) => `0x${gas.toString(16)}`),
    logsBloom: hex(256),
    transactionHash: hex(32),
    logs: fc.array(
      fc.record({
        address: hex(20),
        topics: fc.array(hex(32), { maxLength: 4 }),
        data: fc.oneof(hex(0, 3), hex(0, 400)),
      }),
      { maxLength: 4 },
    ),
  }),
  { maxLength: 6 },
);
type Told = typeof told extends fc.Arbitrary<infer Value> ? Value : never;

function receiptsOf(block: Told): Record<string, unknown>[] {
  let place = 0;
  return block.map(({ kind, logs, ...receipt }) => ({
    ...{ ...kind, ...receipt, blockHash, blockNumber: '0x10' },
    logs: logs.map((log) => {
      const logIndex = `0x${place.toString(16)}`;
      place += 1;
      const { transactionHash } = receipt;
      return { ...log, blockHash, blockNumber: '0x10', logIndex, transactionHash, removed: false };
    }),
  }));
}

const envelope = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result });
const wanted = [calls.blockReceipts(blockHash), calls.blockReceipts(other)];

/** As the transport reads what is not plain. */
function readParsed(body: Buffer, count: number): readonly RpcOutcome[] {
  const answer: unknown = JSON.parse(body.toString('utf8'));
  return count === 1 ? [readSingleAnswer(answer, 1)] : readBatchAnswer(answer, count);
}

function headerOf(receipts: readonly Receipt[]): BlockHeader {
  return {
    ...{ number: 16n, hash: receipts[0]?.blockHash ?? blockHash, parentHash: blockHash, time: new Date(0) },
    ...{ logsBloom: '0x', baseFeePerGas: 0n, receiptsRoot: receiptsRootOf(receipts), isProven: true },
    transactionHashes: receipts.map((receipt) => receipt.transactionHash),
  };
}

function receiptsIfWellFormed(values: unknown): readonly Receipt[] | undefined {
  try {
    return parseReceipts(parseArray('receipts', values));
  } catch (error) {
    assert.ok(error instanceof RpcAnswerInvalid, String(error));
    return undefined;
  }
}

/** Looks that scanned receipts say what the same text says when every field of it is read. */
function checkReceipts(scanned: unknown, parsed: unknown): void {
  if (!isScanned(scanned)) {
    assert.deepEqual(scanned, parsed);
    return;
  }
  assert.deepEqual(scanned.values(), parsed);
  const receipts = receiptsIfWellFormed(parsed);
  // Of malformed ones nobody can say which root would prove them.
  if (receipts === undefined) return;
  const logs = receipts.flatMap((receipt) => receipt.logs);
  assert.deepEqual(
    logs.map(({ logIndex }) => logIndex),
    [...logs.keys()],
  );
  for (const { transactionHash, logs: own } of receipts) {
    assert.ok(own.every((log) => log.transactionHash === transactionHash && !log.removed));
  }
  const proven = provenLogs(headerOf(receipts), scanned, () => true);
  const isOfOneBlock = receipts.every((receipt) => receipt.blockHash === receipts[0]?.blockHash);
  assert.deepEqual(
    proven?.map(({ bytes, places, logIndex, transactionHash }) => ({
      ...contentOf(bytes, places),
      ...{ logIndex, transactionHash },
    })),
    isOfOneBlock ? logs.map(withoutBlock) : undefined,
  );
}

function withoutBlock({ address, topics, data, logIndex, transactionHash }: RpcLog) {
  return { address, topics, data, logIndex, transactionHash };
}

/** Looks that what is scanned is what is parsed; true when it was scanned. */
function checkAnswer(
  body: Buffer,
  asked: readonly { method: string; params: readonly unknown[] }[],
): boolean {
  const scanned = scanAnswer(body, asked);
  if (scanned === undefined) return false;
  const parsed = readParsed(body, asked.length);
  for (const [index, outcome] of scanned.entries()) {
    const expected = parsed[index];
    assert.ok('result' in outcome && expected !== undefined && 'result' in expected);
    checkReceipts(outcome.result, expected.result);
  }
  return true;
}

/** An object's text with its members in another order, and white space between all. */
function textOf(value: unknown, space: string, isReversed: boolean): string {
  if (Array.isArray(value)) {
    return `[${space}${value.map((entry) => textOf(entry, space, isReversed)).join(`${space},${space}`)}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, entry]) => `${JSON.stringify(name)}${space}:${space}${textOf(entry, space, isReversed)}${space}`,
  );
  return `{${space}${(isReversed ? members.toReversed() : members).join(`,${space}`)}}`;
}

test('plain answers are scanned in any order and spacing, and say what reading every field says', () => {
  const space = fc.constantFrom('', ' ', '\n\t ');
  fc.assert(
    fc.property(
      told,
      told,
      space,
      fc.boolean(),
      fc.boolean(),
      (first, second, gap, isReversed, isSwapped) => {
        const answers = [envelope(1, receiptsOf(first)), envelope(2, receiptsOf(second))];
        const body = textOf(isSwapped ? answers.toReversed() : answers, gap, isReversed);
        assert.ok(checkAnswer(Buffer.from(`${gap}${body}${gap}`), wanted));
        const single = Buffer.from(textOf(answers[0], gap, isReversed));
        assert.ok(checkAnswer(single, wanted.slice(0, 1)));
        const mixed = textOf(
          [envelope(1, { logs: ['x'] }), envelope(2, receiptsOf(second))],
          gap,
          isReversed,
        );
        assert.ok(checkAnswer(Buffer.from(mixed), [calls.block('latest'), ...wanted.slice(1)]));
      },
    ),
  );
});

test('the bytes that are hashed are those of the receipts, with logs of every length', () => {
  fc.assert(
    fc.property(told, (block) => {
      const [outcome] =
        scanAnswer(Buffer.from(JSON.stringify(envelope(1, receiptsOf(block)))), wanted.slice(1)) ?? [];
      assert.ok(outcome !== undefined && 'result' in outcome && isScanned(outcome.result));
      const { receipts, encoded } = outcome.result;
      for (const [index, receipt] of parseReceipts(receiptsOf(block)).entries()) {
        const { start, end } = receipts[index] ?? { start: 0, end: 0 };
        const whole = Buffer.from(encodeReceipt(receipt)).toString('hex');
        assert.ok(whole.includes(encoded.toString('hex', start, end)));
      }
    }),
  );
});

const pieces = fc.constantFrom(
  ...[
    '"',
    '\\',
    '\\u0061',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    'f',
    'F',
    'g',
    ' ',
    '\n',
    '\u0000',
    'é',
    '\u0133',
  ],
  ...[
    '"logs":[],',
    '"result":[],',
    '"data":"0x",',
    '"id":1,',
    '"error":null,',
    '"removed":true,',
    '"topics":[],',
  ],
  ...[
    'null',
    'true',
    '1e0',
    '-1',
    '"0x"',
    '"type":"0x0",',
    '"status":"0x1",',
    '"logIndex":"0x0",',
    '__proto__',
  ],
);

test('an answer that somebody has tampered with is left to JSON.parse, or says the same', () => {
  fc.assert(
    fc.property(
      told.filter((block) => block.length > 0),
      fc.array(fc.tuple(fc.nat(), pieces, fc.nat({ max: 2 })), { minLength: 1, maxLength: 2 }),
      (block, changes) => {
        let text = JSON.stringify([envelope(1, receiptsOf(block)), envelope(2, [])]);
        for (const [place, piece, cut] of changes) {
          const at = place % text.length;
          text = text.slice(0, at) + piece + text.slice(at + cut);
        }
        checkAnswer(Buffer.from(text), wanted);
      },
    ),
    { numRuns: 2_000 },
  );
});

const log = {
  ...{ address: `0x${'1a'.repeat(20)}`, topics: [`0x${'2b'.repeat(32)}`], data: `0x${'3c'.repeat(40)}` },
  ...{ blockHash, blockNumber: '0x10', transactionHash: other, logIndex: '0x0', removed: false },
};
const receipt = {
  ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'00'.repeat(256)}` },
  ...{ transactionHash: other, blockHash, blockNumber: '0x10', logs: [log] },
};
const whole = JSON.stringify(envelope(1, [receipt]));

function isScannedAt(text: string | Buffer): boolean {
  return checkAnswer(Buffer.from(text), wanted.slice(0, 1));
}

test('duplicates, escapes, other forms of numbers and what is unfinished are left to JSON.parse', () => {
  assert.equal(isScannedAt(whole), true);
  const changed = (from: string, to: string) => {
    assert.ok(whole.includes(from), from);
    return whole.replace(from, () => to);
  };
  const texts = [
    ...['"id":1', '"jsonrpc":"2.0"', '"status":"0x1"', '"data":"0x3c', '"removed":false'].map((member) =>
      changed(member, `${member.replace('0x3c', '0x","data":"0x3c')},${member}`),
    ),
    changed('"logs":[', '"logs":[],"logs":['),
    changed('"result":[', '"result":[],"result":['),
    changed('"data"', '"d\\u0061ta"'),
    changed('"data":"0x3', '"data":"0x\\u0033'),
    changed('"data":"0x3c', '"data":"0x3C'),
    changed('"data":"0x3c', '"data":"0x\u01333'),
    changed('"data":"0x3c', '"data":"0x3'),
    changed('"data":"0x3c', '"data":"3c'),
    changed('"data":"', '"data":["'),
    ...['1.0', '1e0', '01', '"1"', '2', '-1', 'null', '1x'].map((id) => changed('"id":1', `"id":${id}`)),
    changed('"2.0"', '"1.0"'),
    changed('"2.0"', '2.0'),
    changed('"result"', '"error":null,"result"'),
    changed('"result"', '"error":{"code":1,"message":"no"},"result"'),
    changed('"logIndex":"0x0"', '"logIndex":"0x00"'),
    changed('"logIndex":"0x0"', '"logIndex":0'),
    changed('"logIndex":"0x0"', '"logIndex":"0x1"'),
    changed('"removed":false', '"removed":true'),
    changed('"removed":false', '"removed":null'),
    changed('"transactionHash":"0xcd', '"transactionHash":"0xce'),
    changed('"status":"0x1"', '"status":1'),
    changed('"topics":[', `"topics":[${`"${other}",`.repeat(4)}`),
    changed('"blockNumber":"0x10"', '"blockNumber":"0x10","extra":"\\n"'),
    changed(
      '"blockNumber":"0x10"',
      `"blockNumber":"0x10","extra":${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    ),
    changed('"status":"0x1",', ''),
    changed('"logs":[{', '"logs":[null,{'),
    ...[
      `${whole},`,
      `${whole}x`,
      `${whole}${whole}`,
      `\ufeff${whole}`,
      `[${whole}]`,
      '',
      ' ',
      'null',
      '[]',
      '{}',
    ],
  ];
  for (const text of texts) assert.equal(isScannedAt(text), false, text.slice(0, 200));
  assert.equal(isScannedAt(Buffer.concat([Buffer.from(whole), Buffer.from([0xff])])), false);
  for (let end = 0; end < whole.length; end += 1) assert.equal(isScannedAt(whole.slice(0, end)), false);
});

test('members that are not read may be anything, as long as it is JSON', () => {
  for (const extra of ['1.5e-7', 'true', '{"a":[{}],"a":2}', '"\u007e"', '[[[[]]]]']) {
    assert.equal(
      isScannedAt(whole.replace('"blockNumber"', () => `"extra":${extra},"blockNumber"`)),
      true,
      extra,
    );
  }
  assert.equal(isScannedAt(JSON.stringify(envelope(1, null))), true);
  assert.equal(isScannedAt(JSON.stringify(envelope(1, []))), true);
});

test('other methods alone, errors, and ids missing, twice or never asked for are left to JSON.parse', () => {
  const answer = (...entries: readonly unknown[]) => Buffer.from(JSON.stringify(entries));
  const [first, second] = [envelope(1, [receipt]), envelope(2, [])];
  assert.ok(checkAnswer(answer(second, first), wanted));
  const refusal = { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'unknown' } };
  for (const body of [
    answer(first),
    answer(first, first),
    answer(first, second, second),
    answer(first, refusal),
  ]) {
    assert.equal(scanAnswer(body, wanted), undefined);
  }
  assert.deepEqual(readParsed(answer(first, refusal), 2)[1], { error: new RpcError(-32601, 'unknown') });
  assert.throws(() => readParsed(answer(first, first), 2), RpcUnavailable);
  assert.equal(scanAnswer(Buffer.from(whole), [calls.block('latest')]), undefined);
  const empty = Buffer.from(
    `[${JSON.stringify(envelope(1, null))},${JSON.stringify(envelope(2, [receipt]))}]`,
  );
  assert.ok(checkAnswer(empty, [calls.block('latest'), ...wanted.slice(1)]));
});
