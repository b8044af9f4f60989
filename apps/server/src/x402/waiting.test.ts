import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { defaultWaitingLimits, requestSlots, sharedReads } from './waiting.ts';

function refusalOf(enter: () => unknown): [string, number | undefined] | undefined {
  try {
    enter();
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.slug, error.details.retryAfterSeconds];
  }
}

/** Requests that carry different payments. */
function slotsOf(limits: { readonly perNetwork: number; readonly inAll: number }) {
  const enter = requestSlots({ perPayment: 1, ...limits });
  let payments = 0;
  return (network: string) => {
    payments += 1;
    return enter({ network, payment: String(payments) });
  };
}

// proves W8.16
test('a network has a limited number of slots, and other networks keep theirs', () => {
  const enter = slotsOf({ perNetwork: 2, inAll: 10 });
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

test('all networks together have a limited number of slots', () => {
  const enter = slotsOf({ perNetwork: 2, inAll: 3 });
  const leaves = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((network) => enter(network));
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

test('a slot that is released twice counts once', () => {
  const enter = slotsOf({ perNetwork: 1, inAll: 10 });
  const leave = enter('192.0.2.1');
  leave();
  leave();
  enter('192.0.2.1');
  assert.deepEqual(
    refusalOf(() => enter('192.0.2.1')),
    ['rate_limited', 5],
  );
});

test('requests with one payment share a slot across networks, and leave other payments theirs', () => {
  const enter = requestSlots(defaultWaitingLimits);
  const { perNetwork, perPayment, inAll } = defaultWaitingLimits;
  const leaves: (() => void)[] = [];
  const refused: unknown[] = [];
  for (let network = 0; network <= inAll / perNetwork; network += 1) {
    for (let count = 0; count < perNetwork; count += 1) {
      const refusal = refusalOf(() => leaves.push(enter({ network: `10.0.0.${network}`, payment: 'one' })));
      if (refusal !== undefined) refused.push(refusal);
    }
  }
  assert.equal(leaves.length, perPayment);
  assert.deepEqual(refused, Array(inAll + perNetwork - perPayment).fill(['rate_limited', 5]));
  const others = (count: number) =>
    refusalOf(() => enter({ network: `10.1.${count}.1`, payment: `another ${count}` }));
  for (let count = 1; count < inAll; count += 1) assert.equal(others(count), undefined);
  assert.deepEqual(others(inAll), ['create_failed', 5]);
  // Only the last request of a payment frees its slot.
  for (const leave of leaves) {
    assert.deepEqual(others(inAll), ['create_failed', 5]);
    leave();
  }
  assert.equal(others(inAll), undefined);
});

/** A clock that advances only on `tick`. */
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

test('one read answers all waiting requests, and a later request gets the next one', async () => {
  const clock = standingClock();
  const asked: (readonly string[])[] = [];
  const read = sharedReads(clock, async (ids) => {
    asked.push(ids);
    return new Map(ids.filter((id) => id !== 'unknown').map((id) => [id, asked.length]));
  });
  const first = Promise.all(['a', 'b', 'a', 'unknown'].map(read));
  clock.tick();
  assert.deepEqual(await first, [1, 1, 1, undefined]);
  const second = read('a');
  clock.tick();
  assert.equal(await second, 2);
  assert.deepEqual(asked, [['a', 'b', 'unknown'], ['a']]);
});

test('a failed read fails all waiting requests, and the next one is tried', async () => {
  const clock = standingClock();
  let fails = true;
  const read = sharedReads(clock, async (ids) => {
    if (fails) throw new Error('no database');
    return new Map(ids.map((id) => [id, id]));
  });
  const both = Promise.allSettled([read('a'), read('b')]);
  clock.tick();
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  fails = false;
  const again = read('a');
  clock.tick();
  assert.equal(await again, 'a');
});
