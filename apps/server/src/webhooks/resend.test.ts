import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { maxResent } from '@florin/protocol/delivery-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { testDatabase } from '../../test/harness/database.ts';
import {
  addMerchant,
  addWebhook,
  selectDeliveries,
  selectEvents,
  webhookDeps,
} from '../../test/harness/webhook-fixture.ts';
import { emit } from './outbox.ts';
import { type ResendRequest, resendDeliveries } from './resend.ts';
import { disableWebhook, enableWebhook } from './webhook.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;
const deps = { clock: systemClock };

/** Raises events of objects of their own while the webhook is off, so that their deliveries are skipped. */
async function skipped(
  merchantId: string,
  webhookId: string,
  count: number,
  at = systemClock.now(),
): Promise<void> {
  await db.transaction((transaction) =>
    disableWebhook(transaction, webhookDeps(), { merchantId, webhookId }),
  );
  const events = Array.from({ length: count }, (_, index) => ({
    merchantId,
    type: 'session.paid' as const,
    objectId: `${merchantId}-${at.getTime()}-${index}`,
    dataJson: '{}',
    at,
  }));
  await db.transaction((transaction) => emit(transaction, systemRandom, events));
  await db.transaction((transaction) => enableWebhook(transaction, webhookDeps(), { merchantId, webhookId }));
}

const resend = (request: ResendRequest) =>
  db.transaction((transaction) => resendDeliveries(transaction, deps, request));
const statuses = async (merchantId: string) =>
  (await db.query(selectDeliveries, [merchantId])).map((row) => row.status);

async function slugOf(request: ResendRequest): Promise<string> {
  try {
    await resend(request);
    return '';
  } catch (error) {
    if (error instanceof Refusal) return error.slug;
    throw error;
  }
}

// proves W6.21
test('the deliveries of a time are sent again, from its beginning to before its end', async () => {
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId);
  const now = Math.floor(systemClock.now().getTime() / 1000);
  for (const ago of [300, 200, 100]) await skipped(merchantId, webhookId, 1, new Date((now - ago) * 1000));
  const range = { merchantId, webhookId, since: now - 200, until: now - 100 };
  assert.deepEqual({ ...(await resend(range)), last: '' }, { resent: 1, hasMore: false, last: '' });
  assert.deepEqual(await statuses(merchantId), ['skipped', 'pending', 'skipped']);
  assert.equal((await resend({ merchantId, webhookId, since: 0, statuses: ['failed'] })).resent, 0);
  assert.equal((await resend({ merchantId, webhookId, since: 0 })).resent, 2);
});

test('a long range goes in steps, each of which begins behind the last', async () => {
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId);
  await skipped(merchantId, webhookId, maxResent + 3);
  const first = await resend({ merchantId, webhookId, since: 0 });
  assert.deepEqual([first.resent, first.hasMore], [maxResent, true]);
  const second = await resend({ merchantId, webhookId, since: 0, after: first.last });
  assert.deepEqual([second.resent, second.hasMore], [3, false]);
  assert.deepEqual(new Set(await statuses(merchantId)), new Set(['pending']));
});

// proves W6.21
test('an event goes again to all its webhooks, or to one, and never to those of another merchant', async () => {
  const [merchantId, strangerId] = [await addMerchant(db), await addMerchant(db)];
  const webhooks = [await addWebhook(db, merchantId), await addWebhook(db, merchantId)];
  const foreign = await addWebhook(db, strangerId);
  const [one, two] = webhooks.map(({ webhookId }) => webhookId);
  await db.transaction((transaction) =>
    disableWebhook(transaction, webhookDeps(), { merchantId, webhookId: two ?? '' }),
  );
  await skipped(merchantId, one ?? '', 1);
  const [event] = await db.query(selectEvents, [merchantId]);
  const eventId = event?.event_id ?? '';
  assert.equal((await resend({ merchantId, eventId, webhookId: one })).resent, 1);
  const all = await resend({ merchantId, eventId });
  assert.equal(all.resent, 1);
  const rows = await db.query(selectDeliveries, [merchantId]);
  assert.deepEqual(
    rows.map((row) => [row.status, row.next_attempt_at === null]),
    // The webhook that is off has its delivery wait.
    rows.map((row) => ['pending', row.webhook_id === two]),
  );
  assert.equal(await slugOf({ merchantId: strangerId, eventId }), 'event_not_found');
  assert.equal(await slugOf({ merchantId, webhookId: foreign.webhookId, since: 0 }), 'webhook_not_found');
  assert.equal(await slugOf({ merchantId, eventId, after: 'dlv_none' }), 'delivery_not_found');
});

test('a request that says too little or too much is refused', async () => {
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId);
  assert.equal(await slugOf({ merchantId }), 'field_invalid');
  assert.equal(await slugOf({ merchantId, webhookId }), 'field_invalid');
  await skipped(merchantId, webhookId, 1);
  const [event] = await db.query(selectEvents, [merchantId]);
  assert.equal(await slugOf({ merchantId, eventId: event?.event_id, since: 1 }), 'field_invalid');
});
