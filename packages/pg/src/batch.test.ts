import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchOverload, batched, batchedByKey } from './batch.ts';

const limits = { maxSize: 4, maxInFlight: 1, maxWaiting: 100 };

test('calls of one turn share a batch, in order, within the size limit', async () => {
  const batches: number[][] = [];
  const double = batched<number, number>(async (inputs) => {
    batches.push([...inputs]);
    return inputs.map((input) => input * 2);
  }, limits);
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((input) => double(input)));
  assert.deepEqual(results, [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(batches, [
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

test('an input that fails does not fail its neighbours', async () => {
  const work = batched<number, number>(async (inputs) => {
    if (inputs.includes(2)) throw new Error('two');
    return inputs.map((input) => input);
  }, limits);
  const results = await Promise.allSettled([1, 2, 3].map((input) => work(input)));
  assert.deepEqual(
    results.map((result) =>
      result.status === 'fulfilled' ? result.value : (result.reason as Error).message,
    ),
    [1, 'two', 3],
  );
});

test('the number of batches in flight is limited', async () => {
  let running = 0;
  let most = 0;
  const work = batched<number, number>(
    async (inputs) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return inputs;
    },
    { maxSize: 1, maxInFlight: 2, maxWaiting: 100 },
  );
  await Promise.all(Array.from({ length: 10 }, (_, index) => work(index)));
  assert.equal(most, 2);
});

test('a full queue refuses at once', async () => {
  const work = batched<number, number>(async (inputs) => inputs, {
    maxSize: 1,
    maxInFlight: 1,
    maxWaiting: 2,
  });
  const results = await Promise.allSettled([1, 2, 3].map((input) => work(input)));
  assert.deepEqual(
    results.map((result) =>
      result.status === 'fulfilled' ? result.value : result.reason instanceof BatchOverload,
    ),
    [1, 2, true],
  );
});

test('inputs of different keys never share a batch, and a key whose batches are done starts again', async () => {
  const batches: [string, number[]][] = [];
  const opened: string[] = [];
  const add = batchedByKey<number, string>((key) => {
    opened.push(key);
    return async (inputs) => {
      batches.push([key, [...inputs]]);
      return inputs.map((input) => `${key}${input}`);
    };
  }, limits);
  const asked: [string, number][] = [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['b', 4],
  ];
  assert.deepEqual(await Promise.all(asked.map(([key, input]) => add(key, input))), ['a1', 'b2', 'a3', 'b4']);
  assert.equal(await add('a', 5), 'a5');
  assert.deepEqual(batches, [
    ['a', [1, 3]],
    ['b', [2, 4]],
    ['a', [5]],
  ]);
  assert.deepEqual(opened, ['a', 'b', 'a']);
});
