import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLanes } from './lane.ts';

const settings = { perWebhook: { start: 4, least: 2, most: 8 }, perOwner: 12 };
const shop = { webhookId: 'wkid_shop', ownerId: 'mer_1' };
const good = { isSuccess: true, latencyMs: 5, isCrowded: false };

function roomOf(lanes: ReturnType<typeof makeLanes>, ref: typeof shop): number | undefined {
  return lanes.free().webhooks.get(ref.webhookId)?.free;
}

/** A round of attempts that fill the lane and then all end alike. */
function round(lanes: ReturnType<typeof makeLanes>, ref: typeof shop, answer: typeof good): number {
  const count = roomOf(lanes, ref) ?? settings.perWebhook.start;
  for (let index = 0; index < count; index += 1) lanes.begin(ref);
  assert.equal(roomOf(lanes, ref), 0);
  for (let index = 0; index < count; index += 1) {
    lanes.end(ref, answer);
    if (index < count - 1) lanes.begin(ref);
  }
  for (let index = 0; index < count - 1; index += 1) lanes.end(ref, { ...answer, latencyMs: 500 });
  return roomOf(lanes, ref) ?? 0;
}

// proves W6.24
test('room grows by one per round of good answers, up to a limit', () => {
  const lanes = makeLanes(settings);
  const rooms = Array.from({ length: 12 }, () => round(lanes, shop, good));
  assert.deepEqual(
    rooms.every((room, index) => room >= (rooms[index - 1] ?? 4) && room - (rooms[index - 1] ?? 4) <= 1),
    true,
  );
  assert.equal(rooms.at(-1), 8);
});

test('room does not grow while it is not used up, nor while answers queue', () => {
  const lanes = makeLanes(settings);
  for (let index = 0; index < 100; index += 1) {
    lanes.begin(shop);
    lanes.end(shop, good);
  }
  assert.equal(roomOf(lanes, shop), 4);
  for (let index = 0; index < 10; index += 1) round(lanes, shop, { ...good, latencyMs: 50 });
  assert.equal(roomOf(lanes, shop), 4);
});

// proves W6.24
test('room halves with each failure and never ends, and comes back by ones', () => {
  const lanes = makeLanes(settings);
  for (let index = 0; index < 5; index += 1) {
    lanes.begin(shop);
    lanes.end(shop, { ...good, isSuccess: false });
  }
  assert.equal(roomOf(lanes, shop), 2);
  assert.deepEqual(
    Array.from({ length: 3 }, () => round(lanes, shop, good)),
    [2, 3, 4],
  );
});

test('a slow receiver gives room back only while the worker is crowded', () => {
  const lanes = makeLanes(settings);
  const slow = { ...good, latencyMs: 14_000 };
  lanes.begin(shop);
  lanes.end(shop, slow);
  assert.equal(roomOf(lanes, shop), 4);
  for (let index = 0; index < 9; index += 1) {
    lanes.begin(shop);
    lanes.end(shop, { ...slow, isCrowded: true });
  }
  assert.equal(roomOf(lanes, shop), 2);
});

test('the webhooks of one owner share its room, those of another have their own', () => {
  const lanes = makeLanes({ perWebhook: { start: 8, least: 2, most: 8 }, perOwner: 12 });
  const second = { webhookId: 'wkid_second', ownerId: 'mer_1' };
  const stranger = { webhookId: 'wkid_stranger', ownerId: 'mer_2' };
  for (let index = 0; index < 6; index += 1) lanes.begin(shop);
  for (let index = 0; index < 3; index += 1) lanes.begin(second);
  lanes.begin(stranger);
  assert.deepEqual(lanes.free(), {
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

test('a webhook without attempts in flight holds nothing of its owner, however many there are', () => {
  const lanes = makeLanes(settings);
  for (let index = 0; index < 200; index += 1) {
    const ref = { webhookId: `wkid_${index}`, ownerId: 'mer_1' };
    lanes.begin(ref);
    lanes.end(ref, good);
  }
  assert.deepEqual(lanes.free().owners, new Map());
});
