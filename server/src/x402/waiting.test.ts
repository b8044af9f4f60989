import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { sharedLooks, waitingPlaces } from './waiting.ts';

function refusalOf(enter: () => unknown): [string, number | undefined] | undefined {
  try {
    enter();
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.slug, error.details.retryAfterSeconds];
  }
}

// proves W8.16
test('a network has so many places, and others have theirs', () => {
  const enter = waitingPlaces({ perNetwork: 2, inAll: 10 });
  const leave = enter('192.0.2.1');
  enter('192.0.2.1');
  assert.deepEqual(
    refusalOf(() => enter('192.0.2.1')),
    ['rate_limited', 5],
  );
  assert.equal(
    refusalOf(() => enter('192.0.2.2')),
    undefined,
  );
  leave();
  assert.equal(
    refusalOf(() => enter('192.0.2.1')),
    undefined,
  );
});

test('all networks together have so many places', () => {
  const enter = waitingPlaces({ perNetwork: 2, inAll: 3 });
  const leaves = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map(enter);
  assert.deepEqual(
    refusalOf(() => enter('192.0.2.3')),
    ['create_failed', 5],
  );
  for (const leave of leaves) leave();
  assert.equal(
    refusalOf(() => enter('192.0.2.3')),
    undefined,
  );
});

test('a place that is given back twice is one place', () => {
  const enter = waitingPlaces({ perNetwork: 1, inAll: 10 });
  const leave = enter('192.0.2.1');
  leave();
  leave();
  enter('192.0.2.1');
  assert.deepEqual(
    refusalOf(() => enter('192.0.2.1')),
    ['rate_limited', 5],
  );
});

/** A clock that stands still until `tick`. */
function standingClock() {
  let waiting: (() => void)[] = [];
  return {
    sleep: () => new Promise<void>((resolve) => waiting.push(resolve)),
    tick() {
      const all = waiting;
      waiting = [];
      for (const wake of all) wake();
    },
  };
}

test('all who wait are answered by one look, and who comes later by the next one', async () => {
  const clock = standingClock();
  const asked: (readonly string[])[] = [];
  const look = sharedLooks(clock, async (ids) => {
    asked.push(ids);
    return new Map(ids.filter((id) => id !== 'unknown').map((id) => [id, asked.length]));
  });
  const first = Promise.all(['a', 'b', 'a', 'unknown'].map(look));
  clock.tick();
  assert.deepEqual(await first, [1, 1, 1, undefined]);
  const second = look('a');
  clock.tick();
  assert.equal(await second, 2);
  assert.deepEqual(asked, [['a', 'b', 'unknown'], ['a']]);
});

test('a look that fails is told to all who wait for it, and the next one is made', async () => {
  const clock = standingClock();
  let fails = true;
  const look = sharedLooks(clock, async (ids) => {
    if (fails) throw new Error('no database');
    return new Map(ids.map((id) => [id, id]));
  });
  const both = Promise.allSettled([look('a'), look('b')]);
  clock.tick();
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  fails = false;
  const again = look('a');
  clock.tick();
  assert.equal(await again, 'a');
});
