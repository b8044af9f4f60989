import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { emit } from './event.ts';
import { maxResent, type ResendRequest, resendDeliveries, resendDelivery } from './resend.ts';
import {
  addWebhook,
  newOwner,
  openOutboxWorld,
  selectDeliveries,
  selectEvents,
  systemClock,
  systemRandom,
  TestRefusal,
  testOutbox,
} from './test-world.ts';
import { disableWebhook, enableWebhook } from './webhook.ts';

const database = await openOutboxWorld();
after(() => database.close());
const { db } = database;

/** Raises events of different objects while the webhook is disabled, so that their deliveries are skipped. */
async function skipped(
  ownerId: string,
  webhookId: string,
  count: number,
  at = systemClock.now(),
): Promise<void> {
  await db.transaction((transaction) => disableWebhook(transaction, testOutbox(), { ownerId, webhookId }));
  const events = Array.from({ length: count }, (_, index) => ({
    ownerId,
    type: 'order.paid' as const,
    objectId: `${ownerId}-${at.getTime()}-${index}`,
    dataJson: '{}',
    at,
  }));
  await db.transaction((transaction) => emit(transaction, systemRandom, events));
  await db.transaction((transaction) => enableWebhook(transaction, testOutbox(), { ownerId, webhookId }));
}

const setNextAttempt = statement({
  name: 'resend_test_set_next_attempt',
  parameters: { deliveryId: 'text', next: 'timestamptz?', leasedUntil: 'timestamptz?' },
  text: 'update deliveries set next_attempt_at = :next, claimed_until = :leasedUntil where delivery_id = :deliveryId',
});

const resend = (request: ResendRequest) =>
  db.transaction((transaction) => resendDeliveries(transaction, testOutbox(), request));
const statuses = async (ownerId: string) =>
  (await db.query(selectDeliveries, { merchantId: ownerId })).map((row) => row.status);

async function codeOf(request: ResendRequest): Promise<string> {
  try {
    await resend(request);
    return '';
  } catch (error) {
    if (error instanceof TestRefusal) return error.code;
    throw error;
  }
}

// proves W6.21
test('the deliveries of a period are sent again, without those of its end', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  const now = Math.floor(systemClock.now().getTime() / 1000);
  for (const ago of [300, 200, 100]) await skipped(ownerId, webhookId, 1, new Date((now - ago) * 1000));
  const range = {
    ownerId,
    webhookId,
    since: new Date((now - 200) * 1000),
    until: new Date((now - 100) * 1000),
  };
  assert.deepEqual({ ...(await resend(range)), last: '' }, { resent: 1, hasMore: false, last: '' });
  assert.deepEqual(await statuses(ownerId), ['skipped', 'pending', 'skipped']);
  assert.equal((await resend({ ownerId, webhookId, since: new Date(0), statuses: ['failed'] })).resent, 0);
  assert.equal((await resend({ ownerId, webhookId, since: new Date(0) })).resent, 2);
});

test('a delivery that waits for its next attempt is sent at once, and one that is due or behind another stays', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  await skipped(ownerId, webhookId, 4);
  await resend({ ownerId, webhookId, since: new Date(0) });
  const rows = await db.query(selectDeliveries, { merchantId: ownerId });
  const later = new Date(systemClock.now().getTime() + 3_600_000);
  const at = (index: number, next: Date | null, leasedUntil: Date | null = null) =>
    db.query(setNextAttempt, { deliveryId: rows[index]?.delivery_id ?? '', next, leasedUntil });
  const due = new Date(0);
  await at(0, later);
  await at(1, later, later);
  await at(2, null);
  await at(3, due);
  const nexts = async () =>
    (await db.query(selectDeliveries, { merchantId: ownerId })).map(({ next_attempt_at: next }) =>
      next === null ? null : next.getTime() < later.getTime() && next.getTime() > 0,
    );
  const deliveryId = rows[0]?.delivery_id ?? '';
  const one = { ownerId, deliveryId };
  await db.transaction((transaction) => resendDelivery(transaction, testOutbox(), one));
  assert.deepEqual(await nexts(), [true, false, null, false]);
  await at(0, later);
  assert.equal((await resend({ ownerId, webhookId, since: new Date(0), statuses: ['failed'] })).resent, 0);
  assert.equal((await resend({ ownerId, webhookId, since: new Date(0) })).resent, 1);
  assert.deepEqual(await nexts(), [true, false, null, false]);
});

test('a long range takes several calls, each of which continues after the last one', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  await skipped(ownerId, webhookId, maxResent + 3);
  const first = await resend({ ownerId, webhookId, since: new Date(0) });
  assert.deepEqual([first.resent, first.hasMore], [maxResent, true]);
  const second = await resend({ ownerId, webhookId, since: new Date(0), after: first.last });
  assert.deepEqual([second.resent, second.hasMore], [3, false]);
  assert.deepEqual(new Set(await statuses(ownerId)), new Set(['pending']));
});

// proves W6.21
test('an event is sent again to all its webhooks, or to one, and never to those of another owner', async () => {
  const [ownerId, strangerId] = [newOwner(), newOwner()];
  const webhooks = [await addWebhook(db, ownerId), await addWebhook(db, ownerId)];
  const foreign = await addWebhook(db, strangerId);
  const [one, two] = webhooks.map(({ webhookId }) => webhookId);
  await db.transaction((transaction) =>
    disableWebhook(transaction, testOutbox(), { ownerId, webhookId: two ?? '' }),
  );
  await skipped(ownerId, one ?? '', 1);
  const [event] = await db.query(selectEvents, { merchantId: ownerId });
  const eventId = event?.event_id ?? '';
  assert.equal((await resend({ ownerId, eventId, webhookId: one })).resent, 1);
  const all = await resend({ ownerId, eventId });
  assert.equal(all.resent, 1);
  const rows = await db.query(selectDeliveries, { merchantId: ownerId });
  assert.deepEqual(
    rows.map((row) => [row.status, row.next_attempt_at === null]),
    // The delivery of the disabled webhook waits.
    rows.map((row) => ['pending', row.webhook_id === two]),
  );
  assert.equal(await codeOf({ ownerId: strangerId, eventId }), 'event_not_found');
  assert.equal(
    await codeOf({ ownerId, webhookId: foreign.webhookId, since: new Date(0) }),
    'webhook_not_found',
  );
  assert.equal(await codeOf({ ownerId, eventId, after: 'dlv_none' }), 'delivery_not_found');
});
