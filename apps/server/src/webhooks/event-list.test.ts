import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { removeEventsBatch } from '@florin/outbox';
import { statement } from '@florin/pg';
import { type EventType, subscriptionTakes } from '@florin/protocol/event.ts';
import { eventLifeDays } from '@florin/protocol/event-api.ts';
import { addUpLists } from '#db/list-count.ts';
import { systemClock } from '#outside/clock.ts';
import { testDatabase } from '../../test/harness/database.ts';
import { allOf } from '../../test/harness/portions.ts';
import { addMerchant, addWebhook, testOutbox } from '../../test/harness/webhook-fixture.ts';
import { listDeliveries } from './delivery-log.ts';
import { listEvents } from './event-log.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;
const now = new Date(Date.UTC(2030, 0, 1));
/** Removals leave events for an hour after they expired. */
const hourLater = new Date(now.getTime() + 3_600_000);
const outbox = testOutbox({ ...systemClock, now: () => now });

const types = ['session.created', 'session.paid', 'session.completed', 'product.created', 'webhook.test'];

// Some of every kind of age, out of order, and objects with several events; each takes 40 ordinals, so that few rows
// fill many buckets.
const addEvents = statement({
  name: 'event_list_test_add',
  parameters: { merchantId: 'text', count: 'int8', types: 'text[]', now: 'timestamptz', oldCount: 'int8' },
  text: `insert into events (event_id, merchant_id, event_type, object_id, sequence, body, ordinal, created_at)
   overriding system value
   select 'evt_' || n || :merchantId, :merchantId, (:types::text[])[1 + mod(n * 7 + n / 5, cardinality(:types::text[]))],
     'object_' || :merchantId || mod(n, 100), n, 'event ' || n, spaced.ordinal,
     case when mod(n, 10) = 0 or n <= :oldCount then :now::timestamptz - interval '1 hour' else :now::timestamptz + n * interval '1 second' end
   from generate_series(1, :count) as n cross join lateral (
     select max(nextval('events_ordinal_seq')) as ordinal from generate_series(1, 40) where n > 0
   ) as spaced`,
});
const allEvents = statement({
  name: 'event_list_test_all',
  parameters: { merchantId: 'text', createdAfter: 'timestamptz' },
  columns: { event_id: 'text', event_type: 'text', body: 'text' },
  text: `select event_id, event_type, body from events
   where merchant_id = :merchantId and created_at > :createdAfter and body <> '' order by ordinal`,
});
const addDeliveries = statement({
  name: 'event_list_test_deliveries',
  parameters: { merchantId: 'text', webhookId: 'text', otherWebhookId: 'text' },
  text: `insert into deliveries (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, created_at)
   select 'dlv_' || webhook_id || event_id, event_id, webhook_id, merchant_id, object_id, sequence, 'succeeded',
     created_at
   from events cross join (values (:webhookId), (:otherWebhookId)) as to_webhook (webhook_id) where merchant_id = :merchantId order by ordinal`,
});
const allDeliveries = statement({
  name: 'event_list_test_all_deliveries',
  parameters: { webhookId: 'text' },
  columns: { delivery_id: 'text' },
  text: 'select delivery_id from deliveries where webhook_id = :webhookId order by ordinal desc',
});

const oldest = new Date(now.getTime() - eventLifeDays * 24 * 3_600_000);

async function addUpAll(): Promise<void> {
  while (await db.transaction((transaction) => addUpLists(transaction, 300)));
}

/** Checks every page of every filter, with and without a beginning, against all events that are young enough. */
async function checkEvents(merchantId: string): Promise<void> {
  const events = await db.query(allEvents, { merchantId, createdAfter: oldest });
  const size = 90;
  for (const type of ['*', 'session.*', 'webhook.*', 'session.paid', 'product.created', 'refund.failed']) {
    for (const start of [undefined, 0, Math.floor(events.length / 3), events.length - 1]) {
      const following = start === undefined ? events.toReversed() : events.slice(start + 1);
      const bodies = following
        .filter((event) => subscriptionTakes(type, event.event_type as EventType))
        .map(({ body }) => body);
      for (let page = 1; page <= bodies.length / size + 2; page += 1) {
        const request = { merchantId, type, page, size };
        const after = start === undefined ? undefined : events[start]?.event_id;
        const listed = await listEvents(db, outbox, { ...request, after });
        assert.deepEqual(
          [listed.total, await allOf(listed.portions)],
          [bodies.length, bodies.slice((page - 1) * size, page * size)],
        );
      }
    }
  }
}

test('events of every type are counted and listed, except those that are too old', async () => {
  const merchantId = await addMerchant(db);
  await db.query(addEvents, { merchantId, count: 1_500, types, now: oldest, oldCount: 300 });
  await checkEvents(merchantId);
  await addUpAll();
  await checkEvents(merchantId);
  assert.equal(await db.transaction((transaction) => removeEventsBatch(transaction, hourLater, 200)), 200);
  await checkEvents(merchantId);
  assert.equal(await db.transaction((transaction) => removeEventsBatch(transaction, hourLater, 1_000)), 220);
  await addUpAll();
  await checkEvents(merchantId);
});

test("each webhook's deliveries are counted and listed, even after some are removed", async () => {
  const merchantId = await addMerchant(db);
  const webhooks = [await addWebhook(db, merchantId), await addWebhook(db, merchantId)];
  const [first, second] = webhooks.map(({ webhookId }) => webhookId);
  await db.query(addEvents, { merchantId, count: 1_000, types, now: oldest, oldCount: 100 });
  await db.query(addDeliveries, { merchantId, webhookId: first ?? '', otherWebhookId: second ?? '' });
  const check = async () => {
    for (const { webhookId } of webhooks) {
      const ids = (await db.query(allDeliveries, { webhookId })).map((row) => row.delivery_id);
      for (let page = 1; page <= ids.length / 100 + 2; page += 1) {
        const { place, deliveries } = await listDeliveries(db, outbox, {
          merchantId,
          webhookId,
          page,
          size: 100,
        });
        assert.deepEqual(
          { total: place.total, ids: deliveries.map(({ deliveryId }) => deliveryId) },
          { total: ids.length, ids: ids.slice((page - 1) * 100, page * 100) },
        );
      }
    }
  };
  await check();
  await addUpAll();
  await check();
  assert.equal(await db.transaction((transaction) => removeEventsBatch(transaction, hourLater, 500)), 190);
  await check();
  await addUpAll();
  await check();
});
