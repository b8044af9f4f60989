import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { statement } from '@florin/pg';
import type { EventType } from '@florin/protocol/event.ts';
import { isId, newId } from '@florin/protocol/id.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import {
  addMerchant,
  addWebhook,
  selectDeliveries,
  selectEvents,
  webhookDeps,
} from '../../test/harness/webhook-fixture.ts';
import {
  emit,
  firstEventColumns,
  firstEventValues,
  firstEventWrites,
  type OutboxEvent,
  outboxWake,
} from './outbox.ts';
import { disableWebhook } from './webhook.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const at = new Date('2026-03-04T05:06:07.089Z');

function event(merchantId: string, objectId: string, type: EventType = 'session.created'): OutboxEvent {
  return { merchantId, type, objectId, dataJson: '{"session":{"metadata":{"b":1,"a":1.0}}}', at };
}

async function emitNow(events: readonly OutboxEvent[]): Promise<void> {
  await database.db.transaction((transaction) => emit(transaction, systemRandom, events));
}

// proves W6.7
test('a body carries its envelope in the documented order and the data byte for byte', async () => {
  const merchantId = await addMerchant(database.db);
  await emitNow([event(merchantId, `${merchantId}-1`)]);
  const [stored] = await database.db.query(selectEvents, [merchantId]);
  assert.equal(
    stored?.body,
    `{"id":"${stored?.event_id}","type":"session.created","apiVersion":"v1","timestamp":"2026-03-04T05:06:07.089Z",` +
      '"sequence":1,"data":{"session":{"metadata":{"b":1,"a":1.0}}}}',
  );
  assert.equal(isId('event', stored?.event_id ?? ''), true);
});

// proves W6.8
test('sequences count the events of each object from 1, within one call and across calls', async () => {
  const merchantId = await addMerchant(database.db);
  const [one, two] = [`${merchantId}-1`, `${merchantId}-2`];
  await emitNow([event(merchantId, one), event(merchantId, two), event(merchantId, one, 'session.paid')]);
  await emitNow([event(merchantId, one, 'session.completed'), event(merchantId, two, 'session.paid')]);
  const stored = await database.db.query(selectEvents, [merchantId]);
  assert.deepEqual(
    stored.map((row) => [row.object_id, row.event_type, row.sequence, JSON.parse(row.body).sequence]),
    [
      [one, 'session.created', 1n, 1],
      [two, 'session.created', 1n, 1],
      [one, 'session.paid', 2n, 2],
      [one, 'session.completed', 3n, 3],
      [two, 'session.paid', 2n, 2],
    ],
  );
});

// proves W6.15
test('a transaction that rolls back leaves neither event nor delivery', async () => {
  const merchantId = await addMerchant(database.db);
  await addWebhook(database.db, merchantId);
  const failed = database.db.transaction(async (transaction) => {
    await emit(transaction, systemRandom, [event(merchantId, merchantId)]);
    throw new Error('the business change failed');
  });
  await assert.rejects(failed, { message: 'the business change failed' });
  assert.deepEqual(await database.db.query(selectEvents, [merchantId]), []);
  assert.deepEqual(await database.db.query(selectDeliveries, [merchantId]), []);
});

// proves S6.1
test('a delivery is queued for each webhook that subscribes by name, by pattern or to all', async () => {
  const merchantId = await addMerchant(database.db);
  const add = (...subscribedEvents: string[]) => addWebhook(database.db, merchantId, { subscribedEvents });
  const takers = [
    await add('*'),
    await add('payment.link.*'),
    await add('payment.link.created', 'session.*'),
  ];
  await add('session.*', 'product.*');
  await add('payment.link.updated');
  await addWebhook(database.db, await addMerchant(database.db));
  await emitNow([event(merchantId, merchantId, 'payment.link.created')]);
  const deliveries = await database.db.query(selectDeliveries, [merchantId]);
  assert.deepEqual(
    deliveries.map((row) => [row.webhook_id, row.status, row.next_attempt_at]).sort(),
    takers.map((webhook) => [webhook.webhookId, 'pending', at]).sort(),
  );
  assert.equal(new Set(deliveries.map((row) => row.delivery_id)).size, takers.length);
  assert.equal(
    deliveries.every((row) => isId('delivery', row.delivery_id)),
    true,
  );
});

// proves S3.9, S6.1
test('events raised while a webhook is inactive are logged as skipped', async () => {
  const merchantId = await addMerchant(database.db);
  const { webhookId } = await addWebhook(database.db, merchantId);
  await database.db.transaction((transaction) =>
    disableWebhook(transaction, webhookDeps(), { merchantId, webhookId }),
  );
  await emitNow([event(merchantId, merchantId)]);
  const deliveries = await database.db.query(selectDeliveries, [merchantId]);
  assert.deepEqual(
    deliveries.map((row) => [row.webhook_id, row.status, row.next_attempt_at]),
    [[webhookId, 'skipped', null]],
  );
});

const lockObject = statement(
  'fixture_lock_merchant',
  ['text'],
  { merchant_id: 'text' },
  'select merchant_id from merchants where merchant_id = $1 for update',
);

test('sequences have no gap and no repeat when 40 transactions under the row lock emit at once', async () => {
  const merchantId = await addMerchant(database.db);
  await addWebhook(database.db, merchantId);
  await Promise.all(
    Array.from({ length: 40 }, () =>
      database.db.transaction(async (transaction) => {
        await transaction.query(lockObject, [merchantId]);
        await emit(transaction, systemRandom, [event(merchantId, merchantId)]);
      }),
    ),
  );
  const stored = await database.db.query(selectEvents, [merchantId]);
  assert.deepEqual(
    stored.map((row) => row.sequence),
    Array.from({ length: 40 }, (_, index) => BigInt(index + 1)),
  );
  assert.equal((await database.db.query(selectDeliveries, [merchantId])).length, 40);
});

test('the engine is woken once per transaction, at its commit, and only when there is something to send', async () => {
  const silent = await addMerchant(database.db);
  const merchantId = await addMerchant(database.db);
  await addWebhook(database.db, merchantId);
  let heard = 0;
  const stop = new AbortController();
  const count = () => {
    heard += 1;
  };
  database.db.listen('florin_deliveries', count, stop.signal);
  // Whoever listens is called once for its connection, as something may have been missed before.
  while (heard === 0) await delay(5);
  assert.equal(heard, 1);
  await emitNow([event(merchantId, merchantId)]);
  while (heard === 1) await delay(5);
  const before = heard;
  await emitNow([event(silent, silent)]);
  await database.db.transaction(async (transaction) => {
    await emit(transaction, systemRandom, [
      event(merchantId, merchantId),
      event(merchantId, `${merchantId}-2`),
    ]);
    await emit(transaction, systemRandom, [event(merchantId, merchantId)]);
    await delay(50);
    assert.equal(heard, before);
  });
  while (heard === before) await delay(5);
  await delay(50);
  stop.abort();
  assert.equal(heard, before + 1);
});

const insertInOneStatement = statement(
  'fixture_insert_in_one_statement',
  ['text', 'timestamptz', ...firstEventColumns.map(([, kind]) => kind)],
  { woken: 'text?' },
  `with draft as (
     select $1::text as merchant_id, $2::timestamptz as created_at, event.*
     from unnest($3::text[], $4::text[]) with ordinality
       as event (${firstEventColumns.map(([name]) => name).join(', ')}, position)
   ), made as (
     insert into merchants (merchant_id, merchant_name, created_at) select merchant_id, 'Composed', created_at from draft
   ), ${firstEventWrites('account.created', { from: 'draft', objectId: 'merchant_id', merchants: 'draft' })}
   select ${outboxWake} as woken`,
);

test('another room can write its change and its events in one statement', async () => {
  const merchantId = newId('merchant', systemRandom.bytes);
  const values = firstEventValues(systemRandom, [
    { type: 'account.created', dataJson: '{"account":{}}', at },
  ]);
  await database.db.query(insertInOneStatement, [merchantId, at, ...values]);
  const [stored] = await database.db.query(selectEvents, [merchantId]);
  assert.deepEqual(
    [stored?.object_id, stored?.event_type, stored?.sequence, stored?.body],
    [
      merchantId,
      'account.created',
      1n,
      `{"id":"${stored?.event_id}","type":"account.created","apiVersion":"v1","timestamp":"2026-03-04T05:06:07.089Z",` +
        '"sequence":1,"data":{"account":{}}}',
    ],
  );
});
