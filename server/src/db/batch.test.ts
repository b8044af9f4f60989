import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchOverload, batched } from './batch.ts';

const limits = { maxSize: 4, maxInFlight: 1, maxWaiting: 100 };

test('calls of one turn go together, in order, within the size limit', async () => {
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

test('no more batches are under way than allowed', async () => {
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

test('a queue that is full refuses at once', async () => {
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
