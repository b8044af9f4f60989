import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { systemClock } from '#outside/clock.ts';
import {
  addMerchant,
  addWebhook,
  selectDeliveries,
  selectEvents,
} from '../../test/harness/webhook-fixture.ts';
import { openWebhookWorld } from '../../test/harness/webhook-world.ts';
import { removeEventsBatch } from './event-housekeeping.ts';
import { listEvents } from './event-log.ts';
import { disableWebhook } from './webhook.ts';

const world = await openWebhookWorld();
after(() => world.close());
const { db, raise } = world;

const finishDeliveries = statement(
  'housekeeping_test_finish',
  ['text'],
  {},
  `with finished as (
     update deliveries set status = 'succeeded', next_attempt_at = null where merchant_id = $1 returning delivery_id
   )
   insert into delivery_attempts (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body)
   select delivery_id, 1, now(), 200, 1, '', '' from finished`,
);

const daysAgo = (days: number) => new Date(systemClock.now().getTime() - days * 24 * 3_600_000);
const removeOld = (limit = 100) =>
  db.transaction((transaction) => removeEventsBatch(transaction, systemClock.now(), limit));
const events = async (merchantId: string) =>
  (await db.query(selectEvents, [merchantId])).map((row) => [
    row.object_id,
    Number(row.sequence),
    row.body !== '',
  ]);
const deliveries = async (merchantId: string) => (await db.query(selectDeliveries, [merchantId])).length;

test('events of more than 90 days go with their deliveries, younger ones stay', async () => {
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId);
  await raise(merchantId, `${merchantId}-a`, ['session.paid', 'session.completed'], daysAgo(91));
  await raise(merchantId, `${merchantId}-a`, ['session.settlement_pending'], daysAgo(89));
  await db.query(finishDeliveries, [merchantId]);
  assert.equal(await removeOld(), 2);
  assert.deepEqual(await events(merchantId), [[`${merchantId}-a`, 3, true]]);
  assert.equal(await deliveries(merchantId), 1);
  assert.equal(await removeOld(), 0);
});

test('sequences go on after the events are gone', async () => {
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId);
  await raise(merchantId, `${merchantId}-b`, ['product.created', 'product.updated'], daysAgo(100));
  await db.query(finishDeliveries, [merchantId]);
  assert.equal(await removeOld(), 2);
  assert.deepEqual(await events(merchantId), [[`${merchantId}-b`, 2, false]]);
  assert.equal(await deliveries(merchantId), 0);
  assert.equal(await removeOld(), 0);
  await raise(merchantId, `${merchantId}-b`, ['product.updated']);
  assert.deepEqual(await events(merchantId), [
    [`${merchantId}-b`, 2, false],
    [`${merchantId}-b`, 3, true],
  ]);
  const listed = await listEvents(db, { clock: systemClock }, { merchantId, page: 1, size: 10 });
  assert.equal(listed.total, 1);
});

test('an event that is still to be delivered is never removed, be its webhook active or not', async () => {
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId);
  await raise(merchantId, `${merchantId}-c`, ['session.paid'], daysAgo(200));
  assert.equal(await removeOld(), 0);
  await db.transaction((transaction) =>
    disableWebhook(transaction, { clock: systemClock }, { merchantId, webhookId }),
  );
  assert.equal(await removeOld(), 0);
  assert.deepEqual(await events(merchantId), [[`${merchantId}-c`, 1, true]]);
  await db.query(finishDeliveries, [merchantId]);
  assert.equal(await removeOld(), 1);
});

test('a batch is no larger than its limit, and takes the oldest first', async () => {
  const merchantId = await addMerchant(db);
  for (const days of [120, 140, 130])
    await raise(merchantId, `${merchantId}-${days}`, ['session.paid'], daysAgo(days));
  assert.equal(await removeOld(2), 2);
  assert.deepEqual(
    (await events(merchantId)).filter(([, , hasBody]) => hasBody),
    [[`${merchantId}-120`, 1, true]],
  );
  assert.equal(await removeOld(2), 1);
});
