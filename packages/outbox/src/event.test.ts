import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { statement } from '@florin/pg';
import pg from 'pg';
import {
  emit,
  firstEventColumns,
  firstEventValues,
  firstEventWrites,
  type OutboxEvent,
  outboxWake,
} from './event.ts';
import {
  addWebhook,
  newOwner,
  type OutboxWorld,
  openOutboxWorld,
  selectDeliveries,
  selectEvents,
  systemRandom,
  testOutbox,
} from './test-world.ts';
import { disableWebhook } from './webhook.ts';

let database: OutboxWorld;
before(async () => {
  database = await openOutboxWorld();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('create table test_objects (object_id text primary key)');
  await client.end();
});
after(() => database.close());

const at = new Date('2026-03-04T05:06:07.089Z');

function event(ownerId: string, objectId: string, type = 'order.created'): OutboxEvent {
  return { ownerId, type, objectId, dataJson: '{"session":{"metadata":{"b":1,"a":1.0}}}', at };
}

async function emitNow(events: readonly OutboxEvent[]): Promise<void> {
  await database.db.transaction((transaction) => emit(transaction, systemRandom, events));
}

// proves W6.7
test('a body carries its envelope in the documented order and the data byte for byte', async () => {
  const ownerId = newOwner();
  await emitNow([event(ownerId, `${ownerId}-1`)]);
  const [stored] = await database.db.query(selectEvents, { merchantId: ownerId });
  assert.equal(
    stored?.body,
    `{"id":"${stored?.event_id}","type":"order.created","apiVersion":"v1","timestamp":"2026-03-04T05:06:07.089Z",` +
      '"sequence":1,"data":{"session":{"metadata":{"b":1,"a":1.0}}}}',
  );
  assert.equal(/^evt_[0-9A-Za-z]{22}$/.test(stored?.event_id ?? ''), true);
});

// proves W6.8
test('sequences count the events of each object from 1, within one call and across calls', async () => {
  const ownerId = newOwner();
  const [one, two] = [`${ownerId}-1`, `${ownerId}-2`];
  await emitNow([event(ownerId, one), event(ownerId, two), event(ownerId, one, 'order.paid')]);
  await emitNow([event(ownerId, one, 'order.completed'), event(ownerId, two, 'order.paid')]);
  const stored = await database.db.query(selectEvents, { merchantId: ownerId });
  assert.deepEqual(
    stored.map((row) => [row.object_id, row.event_type, row.sequence, JSON.parse(row.body).sequence]),
    [
      [one, 'order.created', 1n, 1],
      [two, 'order.created', 1n, 1],
      [one, 'order.paid', 2n, 2],
      [one, 'order.completed', 3n, 3],
      [two, 'order.paid', 2n, 2],
    ],
  );
});

// proves W6.15
test('a transaction that rolls back leaves neither event nor delivery', async () => {
  const ownerId = newOwner();
  await addWebhook(database.db, ownerId);
  const failed = database.db.transaction(async (transaction) => {
    await emit(transaction, systemRandom, [event(ownerId, ownerId)]);
    throw new Error('the business change failed');
  });
  await assert.rejects(failed, { message: 'the business change failed' });
  assert.deepEqual(await database.db.query(selectEvents, { merchantId: ownerId }), []);
  assert.deepEqual(await database.db.query(selectDeliveries, { merchantId: ownerId }), []);
});

// proves S6.1
test('a delivery is queued for each webhook that subscribes by name, by pattern or to all', async () => {
  const ownerId = newOwner();
  const add = (...subscribedEvents: string[]) => addWebhook(database.db, ownerId, { subscribedEvents });
  const takers = [await add('*'), await add('shop.link.*'), await add('shop.link.created', 'order.*')];
  await add('order.*', 'thing.*');
  await add('shop.link.updated');
  await addWebhook(database.db, newOwner());
  await emitNow([event(ownerId, ownerId, 'shop.link.created')]);
  const deliveries = await database.db.query(selectDeliveries, { merchantId: ownerId });
  assert.deepEqual(
    deliveries.map((row) => [row.webhook_id, row.status, row.next_attempt_at]).sort(),
    takers.map((webhook) => [webhook.webhookId, 'pending', at]).sort(),
  );
  assert.equal(new Set(deliveries.map((row) => row.delivery_id)).size, takers.length);
  assert.equal(
    deliveries.every((row) => /^dlv_[0-9A-Za-z]{22}$/.test(row.delivery_id)),
    true,
  );
});

// proves S3.9, S6.1
test('events raised while a webhook is inactive are logged as skipped', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(database.db, ownerId);
  await database.db.transaction((transaction) =>
    disableWebhook(transaction, testOutbox(), { ownerId, webhookId }),
  );
  await emitNow([event(ownerId, ownerId)]);
  const deliveries = await database.db.query(selectDeliveries, { merchantId: ownerId });
  assert.deepEqual(
    deliveries.map((row) => [row.webhook_id, row.status, row.next_attempt_at]),
    [[webhookId, 'skipped', null]],
  );
});

const lockObject = statement({
  name: 'outbox_test_lock_object',
  parameters: { objectId: 'text' },
  columns: { object_id: 'text' },
  text: 'select object_id from test_objects where object_id = :objectId for update',
});
const insertObject = statement({
  name: 'outbox_test_insert_object',
  parameters: { objectId: 'text' },
  text: 'insert into test_objects (object_id) values (:objectId)',
});

test('sequences have no gap and no repeat when 40 transactions under the row lock emit at once', async () => {
  const ownerId = newOwner();
  await database.db.query(insertObject, { objectId: ownerId });
  await addWebhook(database.db, ownerId);
  await Promise.all(
    Array.from({ length: 40 }, () =>
      database.db.transaction(async (transaction) => {
        await transaction.query(lockObject, { objectId: ownerId });
        await emit(transaction, systemRandom, [event(ownerId, ownerId)]);
      }),
    ),
  );
  const stored = await database.db.query(selectEvents, { merchantId: ownerId });
  assert.deepEqual(
    stored.map((row) => row.sequence),
    Array.from({ length: 40 }, (_, index) => BigInt(index + 1)),
  );
  assert.equal((await database.db.query(selectDeliveries, { merchantId: ownerId })).length, 40);
});

test('a transaction notifies the engine once, at its commit, and only if there is something to send', async () => {
  const silent = newOwner();
  const ownerId = newOwner();
  await addWebhook(database.db, ownerId);
  let heard = 0;
  const stop = new AbortController();
  const count = () => {
    heard += 1;
  };
  database.db.listen('florin_deliveries', count, stop.signal);
  // A listener is also called once when it connects, because it may have missed notifications.
  while (heard === 0) await delay(5);
  assert.equal(heard, 1);
  await emitNow([event(ownerId, ownerId)]);
  while (heard === 1) await delay(5);
  const before = heard;
  await emitNow([event(silent, silent)]);
  await database.db.transaction(async (transaction) => {
    await emit(transaction, systemRandom, [event(ownerId, ownerId), event(ownerId, `${ownerId}-2`)]);
    await emit(transaction, systemRandom, [event(ownerId, ownerId)]);
    await delay(50);
    assert.equal(heard, before);
  });
  while (heard === before) await delay(5);
  await delay(50);
  stop.abort();
  assert.equal(heard, before + 1);
});

const insertInOneStatement = statement({
  name: 'outbox_test_insert_in_one_statement',
  parameters: { ownerId: 'text', at: 'timestamptz', ...firstEventColumns },
  columns: { woken: 'text?' },
  text: `with draft as (
     select :ownerId::text as merchant_id, :at::timestamptz as created_at, event.*
     from unnest(:event_id::text[], :event_body::text[]) with ordinality as event (event_id, event_body, position)
   ), made as (
     insert into test_objects (object_id) select merchant_id from draft
   ), ${firstEventWrites('account.created', { from: 'draft', objectId: 'merchant_id', owners: 'draft' })}
   select ${outboxWake} as woken`,
});

test('a change and its events can be written in one statement', async () => {
  const ownerId = newOwner();
  const values = firstEventValues(systemRandom, [
    { type: 'account.created', dataJson: '{"account":{}}', at },
  ]);
  await database.db.query(insertInOneStatement, { ownerId, at, ...values });
  const [stored] = await database.db.query(selectEvents, { merchantId: ownerId });
  assert.deepEqual(
    [stored?.object_id, stored?.event_type, stored?.sequence, stored?.body],
    [
      ownerId,
      'account.created',
      1n,
      `{"id":"${stored?.event_id}","type":"account.created","apiVersion":"v1","timestamp":"2026-03-04T05:06:07.089Z",` +
        '"sequence":1,"data":{"account":{}}}',
    ],
  );
});
