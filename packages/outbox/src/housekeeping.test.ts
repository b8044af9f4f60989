import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { removeEventsBatch, runHousekeeping } from './housekeeping.ts';
import {
  addWebhook,
  newOwner,
  openOutboxWorld,
  selectDeliveries,
  selectEvents,
  systemClock,
  testOutbox,
} from './test-world.ts';
import { disableWebhook, lockQueuesOf } from './webhook.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, raise } = world;

const finishDeliveries = statement({
  name: 'housekeeping_test_finish',
  parameters: { merchantId: 'text' },
  text: `with finished as (
     update deliveries set status = 'succeeded', next_attempt_at = null where merchant_id = :merchantId returning delivery_id
   )
   insert into delivery_attempts (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body)
   select delivery_id, 1, now(), 200, 1, '', '' from finished`,
});

const daysAgo = (days: number) => new Date(systemClock.now().getTime() - days * 24 * 3_600_000);
const removeOld = (limit = 100) =>
  db.transaction((transaction) => removeEventsBatch(transaction, systemClock.now(), limit));
const events = async (ownerId: string) =>
  (await db.query(selectEvents, { merchantId: ownerId })).map((row) => [
    row.object_id,
    Number(row.sequence),
    row.body !== '',
  ]);
const deliveries = async (ownerId: string) =>
  (await db.query(selectDeliveries, { merchantId: ownerId })).length;

test('events older than 90 days are removed with their deliveries, newer ones stay', async () => {
  const ownerId = newOwner();
  await addWebhook(db, ownerId);
  await raise(ownerId, `${ownerId}-a`, ['order.paid', 'order.completed'], daysAgo(91));
  await raise(ownerId, `${ownerId}-a`, ['order.settlement_pending'], daysAgo(89));
  await db.query(finishDeliveries, { merchantId: ownerId });
  assert.equal(await removeOld(), 2);
  assert.deepEqual(await events(ownerId), [[`${ownerId}-a`, 3, true]]);
  assert.equal(await deliveries(ownerId), 1);
  assert.equal(await removeOld(), 0);
});

test('many old events are removed in one round, with pauses as long as the work', async () => {
  const ownerId = newOwner();
  await raise(ownerId, `${ownerId}-many`, Array<string>(620).fill('thing.created'), daysAgo(95));
  const ending = new AbortController();
  const pauses: number[] = [];
  let now = 0;
  const clock = {
    ...systemClock,
    // The clock is read before and after a batch: the first one takes ten milliseconds, the second one two seconds.
    monotonicMs: () => (now += now < 20 ? 10 : 2_000),
    async sleep(ms: number, signal?: AbortSignal) {
      // The pause after the round; the other loop waits for the end.
      if (ms === 10_000) ending.abort();
      else if (ms === 1_000) await systemClock.sleep(60_000, signal);
      else pauses.push(ms);
    },
  };
  await runHousekeeping(world.worker({ clock }), ending.signal);
  assert.deepEqual(pauses, [10, 2_000]);
  assert.equal((await events(ownerId)).filter(([, , hasBody]) => hasBody === true).length, 0);
});

test('sequences continue after events are removed', async () => {
  const ownerId = newOwner();
  await addWebhook(db, ownerId);
  await raise(ownerId, `${ownerId}-b`, ['thing.created', 'thing.updated'], daysAgo(100));
  await db.query(finishDeliveries, { merchantId: ownerId });
  assert.equal(await removeOld(), 2);
  assert.deepEqual(await events(ownerId), [[`${ownerId}-b`, 2, false]]);
  assert.equal(await deliveries(ownerId), 0);
  assert.equal(await removeOld(), 0);
  await raise(ownerId, `${ownerId}-b`, ['thing.updated']);
  assert.deepEqual(await events(ownerId), [
    [`${ownerId}-b`, 2, false],
    [`${ownerId}-b`, 3, true],
  ]);
});

test('an event with a pending delivery is never removed, even if its webhook is not active', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  await raise(ownerId, `${ownerId}-c`, ['order.paid'], daysAgo(200));
  assert.equal(await removeOld(), 0);
  await db.transaction((transaction) => disableWebhook(transaction, testOutbox(), { ownerId, webhookId }));
  assert.equal(await removeOld(), 0);
  assert.deepEqual(await events(ownerId), [[`${ownerId}-c`, 1, true]]);
  await db.query(finishDeliveries, { merchantId: ownerId });
  assert.equal(await removeOld(), 1);
});

test('a batch respects its limit and removes the oldest events', async () => {
  const ownerId = newOwner();
  for (const days of [120, 140, 130])
    await raise(ownerId, `${ownerId}-${days}`, ['order.paid'], daysAgo(days));
  assert.equal(await removeOld(2), 2);
  assert.deepEqual(
    (await events(ownerId)).filter(([, , hasBody]) => hasBody),
    [[`${ownerId}-120`, 1, true]],
  );
  assert.equal(await removeOld(2), 1);
});

test('a removal waits for no turn, and workers remove different events at the same time', async () => {
  const ownerId = newOwner();
  for (const days of [121, 120]) await raise(ownerId, `${ownerId}-${days}`, ['order.paid'], daysAgo(days));
  await db.transaction(async (turn) => {
    await lockQueuesOf(turn, ownerId);
    assert.equal(await removeEventsBatch(turn, systemClock.now(), 1), 1);
    assert.equal(await removeOld(), 1);
  });
  assert.equal(await removeOld(), 0);
  assert.deepEqual(await events(ownerId), [
    [`${ownerId}-121`, 1, false],
    [`${ownerId}-120`, 1, false],
  ]);
});

test('an event stays for an hour after it can no longer be sent again', async () => {
  const ownerId = newOwner();
  await raise(ownerId, `${ownerId}-e`, ['order.paid'], new Date(daysAgo(90).getTime() - 3_000_000));
  assert.equal(await removeOld(), 0);
  await raise(ownerId, `${ownerId}-f`, ['order.paid'], new Date(daysAgo(90).getTime() - 3_700_000));
  assert.equal(await removeOld(), 1);
});
