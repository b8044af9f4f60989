import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiverConcurrency } from './concurrency.ts';

const settings = { perWebhook: { start: 4, least: 2, most: 8 }, perOwner: 12 };
const shop = { webhookId: 'wkid_shop', ownerId: 'mer_1' };
const good = { isSuccess: true, latencyMs: 5, isCrowded: false };

function limitOf(receivers: ReturnType<typeof receiverConcurrency>, ref: typeof shop): number | undefined {
  return receivers.available().webhooks.get(ref.webhookId)?.free;
}

/** A round of attempts that reach the limit and then all end alike. */
function round(
  receivers: ReturnType<typeof receiverConcurrency>,
  ref: typeof shop,
  answer: typeof good,
): number {
  const count = limitOf(receivers, ref) ?? settings.perWebhook.start;
  for (let index = 0; index < count; index += 1) receivers.begin(ref);
  assert.equal(limitOf(receivers, ref), 0);
  for (let index = 0; index < count; index += 1) {
    receivers.end(ref, answer);
    if (index < count - 1) receivers.begin(ref);
  }
  for (let index = 0; index < count - 1; index += 1) receivers.end(ref, { ...answer, latencyMs: 500 });
  return limitOf(receivers, ref) ?? 0;
}

// proves W6.24
test('the limit grows by one per round of successes, up to its bound', () => {
  const receivers = receiverConcurrency(settings);
  const limits = Array.from({ length: 12 }, () => round(receivers, shop, good));
  assert.deepEqual(
    limits.every(
      (limit, index) => limit >= (limits[index - 1] ?? 4) && limit - (limits[index - 1] ?? 4) <= 1,
    ),
    true,
  );
  assert.equal(limits.at(-1), 8);
});

test('the limit does not grow while it is not reached, nor while responses are slow', () => {
  const receivers = receiverConcurrency(settings);
  for (let index = 0; index < 100; index += 1) {
    receivers.begin(shop);
    receivers.end(shop, good);
  }
  assert.equal(limitOf(receivers, shop), 4);
  for (let index = 0; index < 10; index += 1) round(receivers, shop, { ...good, latencyMs: 50 });
  assert.equal(limitOf(receivers, shop), 4);
});

// proves W6.24
test('the limit halves with each failure down to its bound, and grows back by ones', () => {
  const receivers = receiverConcurrency(settings);
  for (let index = 0; index < 5; index += 1) {
    receivers.begin(shop);
    receivers.end(shop, { ...good, isSuccess: false });
  }
  assert.equal(limitOf(receivers, shop), 2);
  assert.deepEqual(
    Array.from({ length: 3 }, () => round(receivers, shop, good)),
    [2, 3, 4],
  );
});

test('a slow receiver loses attempts only while the worker is crowded', () => {
  const receivers = receiverConcurrency(settings);
  const slow = { ...good, latencyMs: 14_000 };
  receivers.begin(shop);
  receivers.end(shop, slow);
  assert.equal(limitOf(receivers, shop), 4);
  for (let index = 0; index < 9; index += 1) {
    receivers.begin(shop);
    receivers.end(shop, { ...slow, isCrowded: true });
  }
  assert.equal(limitOf(receivers, shop), 2);
});

test('the webhooks of one owner share its limit, those of another owner have their own', () => {
  const receivers = receiverConcurrency({ perWebhook: { start: 8, least: 2, most: 8 }, perOwner: 12 });
  const second = { webhookId: 'wkid_second', ownerId: 'mer_1' };
  const stranger = { webhookId: 'wkid_stranger', ownerId: 'mer_2' };
  for (let index = 0; index < 6; index += 1) receivers.begin(shop);
  for (let index = 0; index < 3; index += 1) receivers.begin(second);
  receivers.begin(stranger);
  assert.deepEqual(receivers.available(), {
    webhooks: new Map([
      ['wkid_shop', { inFlight: 6, free: 2 }],
      ['wkid_second', { inFlight: 3, free: 5 }],
      ['wkid_stranger', { inFlight: 1, free: 7 }],
    ]),
    owners: new Map([
      ['mer_1', 3],
      ['mer_2', 11],
    ]),
  });
});

test("idle webhooks use nothing of their owner's limit, however many there are", () => {
  const receivers = receiverConcurrency(settings);
  for (let index = 0; index < 200; index += 1) {
    const ref = { webhookId: `wkid_${index}`, ownerId: 'mer_1' };
    receivers.begin(ref);
    receivers.end(ref, good);
  }
  assert.deepEqual(receivers.available().owners, new Map());
});
