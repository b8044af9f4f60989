import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addWebhook, endless, fastSettings, newOwner, openOutboxWorld, testOutbox } from './test-world.ts';
import { enableWebhook } from './webhook.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

// proves W6.24
test('a dead and a slow receiver with long queues do not delay a healthy one', async () => {
  const [dead, slow, healthy] = [openReceiver(), openReceiver(), openReceiver()];
  dead.close();
  // Its first responses never come. For the others that is the same as late ones.
  slow.behave({ kind: 'hang' });
  const [deadId, slowId, healthyId] = [newOwner(), newOwner(), newOwner()];
  await addWebhook(db, deadId, { webhookUrl: dead.url });
  await addWebhook(db, slowId, { webhookUrl: slow.url });
  await addWebhook(db, healthyId, { webhookUrl: healthy.url });
  for (let index = 0; index < 400; index += 1) {
    await raise(deadId, `${deadId}-${index}`);
    await raise(slowId, `${slowId}-${index}`);
  }
  await withWorker(
    async () => {
      for (let index = 0; index < 50; index += 1) await raise(healthyId, `${healthyId}-${index}`);
      await untilStatus(healthyId, 'succeeded');
      // Measured in events and not in time: the others' queues remain when the healthy receiver has all its events.
      const left = (await deliveries(slowId)).filter((row) => row.status === 'pending');
      assert.equal(left.length, 400);
      assert.ok(
        slow.requests.length <= fastSettings.perWebhook.start,
        `${slow.requests.length} attempts hang`,
      );
      assert.deepEqual(
        (await deliveries(deadId)).filter((row) => row.status === 'succeeded'),
        [],
      );
    },
    { settings: endless },
  );
  assert.equal(healthy.requests.length, 50);
});

// proves W6.24
test('webhooks of one owner never have more attempts in flight than its share', async () => {
  const receivers = [openReceiver(), openReceiver(), openReceiver()];
  const ownerId = newOwner();
  for (const receiver of receivers) {
    receiver.behave({ kind: 'hang' });
    await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  }
  const stranger = openReceiver();
  const strangerId = newOwner();
  await addWebhook(db, strangerId, { webhookUrl: stranger.url });
  // After the first attempts the worker knows the owner's webhooks, and they share the limit.
  await raise(ownerId, `${ownerId}-first`);
  await withWorker(
    async () => {
      await Promise.all(receivers.map((receiver) => receiver.waitFor(1)));
      for (let index = 0; index < 30; index += 1) await raise(ownerId, `${ownerId}-${index}`);
      for (let index = 0; index < 30; index += 1) {
        await raise(strangerId, `${strangerId}-${index}`);
        await stranger.waitFor(index + 1);
      }
      assert.ok(receivers.reduce((sum, receiver) => sum + receiver.requests.length, 0) <= 10);
    },
    { settings: { ...endless, perOwner: 10 } },
  );
});

// proves W6.24
test('a replay to a receiver that comes back begins with few at once and speeds up as it answers', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 503 });
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const count = 40;
  for (let index = 0; index < count; index += 1) await raise(ownerId, `${ownerId}-${index}`);
  let open = 0;
  const depths: number[] = [];
  await withWorker(
    async () => {
      await untilStatus(ownerId, 'failed');
      const before = receiver.requests.length;
      receiver.behave(() => {
        open += 1;
        depths.push(open);
        setTimeout(() => {
          open -= 1;
        }, 5);
        return { kind: 'slow', delayMs: 5, status: 200 };
      });
      await db.transaction((transaction) =>
        enableWebhook(transaction, testOutbox(), { ownerId, webhookId, replaySince: new Date(0) }),
      );
      await untilStatus(ownerId, 'succeeded');
      assert.equal(receiver.requests.length - before, count);
    },
    {
      settings: {
        ...fastSettings,
        retry: { ...fastSettings.retry, delaysMs: [0, 10], pauseAfterMs: 3_600_000 },
      },
    },
  );
  assert.ok(
    Math.max(...depths.slice(0, 4)) <= fastSettings.perWebhook.least + 1,
    `${depths.slice(0, 4)} at once`,
  );
  assert.ok(Math.max(...depths) <= fastSettings.perWebhook.start, `${Math.max(...depths)} at once`);
});
