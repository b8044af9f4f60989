import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseHeader, parseLogs, parseTransactionReceipt, revertDataOf } from './actions.ts';
import { parseData, parseQuantity, parseSmallQuantity } from './parse.ts';
import { RpcAnswerInvalid, RpcError, RpcUnavailable } from './rpc.ts';
import { readBatchAnswer, readSingleAnswer } from './transport.ts';

const hash = `0x${'ab'.repeat(32)}`;
const address = `0x${'cd'.repeat(20)}`;
const bloom = `0x${'00'.repeat(256)}`;
const header = {
  number: '0x10',
  hash,
  parentHash: hash,
  timestamp: '0x65000000',
  logsBloom: bloom,
  baseFeePerGas: '0x7',
  transactions: [hash],
};
const log = {
  address,
  topics: [hash],
  data: '0x',
  blockHash: hash,
  blockNumber: '0x10',
  logIndex: '0x0',
  transactionHash: hash,
  removed: false,
};
const receipt = {
  transactionHash: hash,
  blockHash: hash,
  blockNumber: '0x10',
  status: '0x1',
  logsBloom: bloom,
  logs: [log],
};

test('a quantity is canonical hexadecimal below 2^256', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
      assert.equal(parseQuantity('value', `0x${value.toString(16)}`), value);
    }),
  );
  for (const value of [
    '',
    '0x',
    '0x01',
    '1',
    '-0x1',
    ' 0x1',
    '0x1 ',
    '0xg',
    `0x1${'0'.repeat(64)}`,
    1,
    null,
    undefined,
    {},
  ]) {
    assert.throws(() => parseQuantity('value', value), RpcAnswerInvalid);
  }
  assert.throws(() => parseSmallQuantity('value', '0x20000000000000'), RpcAnswerInvalid);
});

test('data has whole bytes of the expected size, and is converted to lower case', () => {
  assert.equal(parseData('data', '0xABcd'), '0xabcd');
  for (const value of ['0xabc', 'abcd', '0xzz', '0xab\n', 5, null]) {
    assert.throws(() => parseData('data', value), RpcAnswerInvalid);
  }
  assert.throws(() => parseData('data', '0xabcd', 3), RpcAnswerInvalid);
});

test('data has only hexadecimal digits', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const value = `0x0${String.fromCharCode(code)}`;
    if (/^0x[0-9a-f]*$/i.test(value)) assert.equal(parseData('data', value), value.toLowerCase());
    else assert.throws(() => parseData('data', value), RpcAnswerInvalid);
  }
});

test('a block, a log or a receipt that lacks a field or has one of another type is refused', () => {
  assert.equal(parseHeader(header)?.number, 16n);
  assert.equal(parseLogs([log])[0]?.logIndex, 0);
  assert.equal(parseTransactionReceipt(receipt)?.succeeded, true);
  const optional = new Set(['baseFeePerGas', 'removed']);
  const wrong = [undefined, null, 7, true, {}, 'x', '0x', [1]];
  const check = (whole: Record<string, unknown>, parse: (value: unknown) => unknown) => {
    for (const field of Object.keys(whole)) {
      for (const value of wrong) {
        if (optional.has(field) && (value === undefined || value === null || value === true)) continue;
        if (field === 'data' && value === '0x') continue;
        assert.throws(
          () => parse({ ...whole, [field]: value }),
          RpcAnswerInvalid,
          `${field}: ${String(value)}`,
        );
      }
    }
  };
  check(header, parseHeader);
  check(log, (value) => parseLogs([value]));
  check(receipt, parseTransactionReceipt);
  assert.throws(() => parseTransactionReceipt({ ...receipt, status: '0x2' }), RpcAnswerInvalid);
});

test('a block or receipt that the node does not have is undefined, and not a fault of the node', () => {
  assert.equal(parseHeader(null), undefined);
  assert.equal(parseTransactionReceipt(null), undefined);
});

test('an answer is the result or the error of its own request only', () => {
  assert.deepEqual(readSingleAnswer({ jsonrpc: '2.0', id: 1, result: null }, 1), { result: null });
  const refused = readSingleAnswer(
    { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'no', data: '0x' } },
    1,
  );
  assert.deepEqual(refused, { error: new RpcError(3, 'no', '0x') });
  for (const body of [null, [], 'x', {}, { jsonrpc: '2.0', id: 2, result: 1 }, { jsonrpc: '2.0', id: 1 }]) {
    assert.throws(() => readSingleAnswer(body, 1), RpcUnavailable);
  }
  assert.throws(() => readSingleAnswer({ jsonrpc: '2.0', id: 1, error: 'bad' }, 1), RpcUnavailable);
});

test('a batch is answered in any order, each request exactly once', () => {
  const first = { jsonrpc: '2.0', id: 1, result: 'one' };
  const second = { jsonrpc: '2.0', id: 2, result: 'two' };
  assert.deepEqual(readBatchAnswer([second, first], 2), [{ result: 'one' }, { result: 'two' }]);
  for (const body of [
    [first],
    [first, first],
    [first, second, second],
    first,
    [first, { ...second, id: 3 }],
    {},
  ]) {
    assert.throws(() => readBatchAnswer(body, 2), RpcUnavailable);
  }
  const refusal = new RpcError(-32600, 'batches are off');
  assert.deepEqual(
    readBatchAnswer({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batches are off' } }, 2),
    [{ error: refusal }, { error: refusal }],
  );
});

test('a node that says it is overloaded counts as unavailable', () => {
  const body = { jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'limit exceeded' } };
  assert.throws(() => readSingleAnswer(body, 1), RpcUnavailable);
});

test('revert data is found where nodes put it', () => {
  assert.equal(revertDataOf(new RpcError(3, 'execution reverted', '0xAB')), '0xab');
  assert.equal(revertDataOf(new RpcError(-32000, 'execution reverted')), '0x');
  assert.equal(revertDataOf(new RpcError(-32015, 'VM reverted', { data: '0x12' })), '0x12');
  assert.equal(revertDataOf(new RpcError(-32000, 'insufficient funds')), undefined);
});
