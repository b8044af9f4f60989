import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { resendDelivery, sendTestEvent } from '@florin/outbox';
import { addMerchant, addWebhook, testOutbox } from '../../test/harness/webhook-fixture.ts';
import { openWebhookWorld } from '../../test/harness/webhook-world.ts';
import { listDeliveries } from './delivery-log.ts';

const world = await openWebhookWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, untilStatus } = world;
const outbox = testOutbox();

test('a delivery that is sent again has the same webhook-id and body, and its log continues', async () => {
  const receiver = await openReceiver();
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  const page = { merchantId, webhookId, page: 1, size: 10 };
  await withWorker(async () => {
    await raise(merchantId, merchantId);
    await untilStatus(merchantId, 'succeeded');
    const [delivery] = (await listDeliveries(db, outbox, page)).deliveries;
    const request = { ownerId: merchantId, deliveryId: delivery?.deliveryId ?? '' };
    await db.transaction((transaction) => resendDelivery(transaction, outbox, request));
    await receiver.waitFor(2);
    await untilStatus(merchantId, 'succeeded');
  });
  const [first, second] = receiver.requests;
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.equal(first?.body, second?.body);
  const [delivery] = (await listDeliveries(db, outbox, page)).deliveries;
  assert.deepEqual(
    delivery?.attempts.map(({ attempt, httpStatus }) => [attempt, httpStatus]),
    [
      [1, 204],
      [2, 204],
    ],
  );
});

test('a test arrives at a webhook that has not subscribed to tests', async () => {
  const receiver = await openReceiver();
  const merchantId = await addMerchant(db);
  const subscribedEvents = ['account.created'];
  const event = { type: 'webhook.test', dataJson: '{}', isFixture: false };
  const { webhookId } = await addWebhook(db, merchantId, { webhookUrl: receiver.url, subscribedEvents });
  const { eventId } = await withWorker(async () => {
    const sent = await db.transaction((transaction) =>
      sendTestEvent(transaction, outbox, { ownerId: merchantId, webhookId, event }),
    );
    await untilStatus(merchantId, 'succeeded');
    return sent;
  });
  assert.deepEqual(
    receiver.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id),
    [eventId],
  );
});
