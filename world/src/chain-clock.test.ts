import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChainClock } from './chain-clock.ts';
import { classifyMethod } from './chain-method.ts';

const readSeconds = (): number => Math.floor(Date.now() / 1_000);

test('block times rise, even with several blocks in one second', () => {
  const clock = new ChainClock(0);
  const now = readSeconds();
  const [first] = clock.take(1, undefined);
  const [second] = clock.take(1, undefined);
  assert.ok(second > first && first >= now - 1);
});

test('set-up blocks stay in the past', () => {
  const clock = new ChainClock(1_000);
  assert.deepEqual(clock.takeEarliest(), [1_001, 1, 1]);
});

test('a time that was set applies to the next block, and the clock continues from there', () => {
  const clock = new ChainClock(1_000);
  const next = readSeconds() + 5_000;
  clock.control('setNextBlockTimestamp', [next]);
  assert.equal(clock.take(1, undefined)[0], next);
  assert.ok(clock.take(1, undefined)[0] - next < 60);
  assert.throws(() => clock.control('setNextBlockTimestamp', [1_000]), /lower than or equal/);
});

test('several blocks leave room for their steps', () => {
  const clock = new ChainClock(1_000);
  const [first, count, step] = clock.take(10, 5);
  assert.deepEqual([count, step], [10, 5]);
  assert.equal(clock.takeEarliest()[0], first + 46);
});

test('a method that changes a chain is never classified as a read', () => {
  const kinds = ['eth_sendRawTransaction', 'anvil_setBalance', 'hardhat_setCode', 'made_up'].map(
    classifyMethod,
  );
  assert.deepEqual(kinds, ['command', 'command', 'command', 'command']);
  assert.deepEqual(['eth_getLogs', 'debug_traceTransaction'].map(classifyMethod), ['read', 'read']);
  assert.deepEqual(['evm_mine', 'anvil_reorg', 'evm_increaseTime'].map(classifyMethod), [
    'mine',
    'irreproducible',
    'clock',
  ]);
});
