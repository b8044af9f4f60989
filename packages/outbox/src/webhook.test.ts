import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Clock, RefusalCode } from './context.ts';
import { emit } from './event.ts';
import {
  addWebhook,
  newOwner,
  type OutboxWorld,
  openOutboxWorld,
  selectDeliveries,
  systemRandom,
  TestRefusal,
  testOutbox,
} from './test-world.ts';
import {
  disableWebhook,
  enableWebhook,
  findWebhook,
  listWebhooks,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
  type Webhook,
} from './webhook.ts';

let database: OutboxWorld;
before(async () => {
  database = await openOutboxWorld();
});
after(() => database.close());

const noon = new Date('2026-03-04T12:00:00Z');
const clock: Clock = { now: () => noon, monotonicMs: () => 0, sleep: () => Promise.resolve() };
const outbox = testOutbox(clock);

async function refusalOf(work: Promise<unknown>): Promise<readonly [RefusalCode, string]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof TestRefusal) return [error.code, error.message];
    throw error;
  }
  throw new Error('nothing was refused');
}

function detail(ownerId: string, webhookId: string): Promise<Webhook> {
  return findWebhook(database.db, outbox, { ownerId, webhookId });
}

// proves S2.21, S4.21
test('a new webhook is active and carries its key', async () => {
  const ownerId = newOwner();
  const webhook = await addWebhook(database.db, ownerId, { webhookDescription: 'Fulfilment' }, outbox);
  assert.match(webhook.key, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(/^wkid_[0-9A-Za-z]{22}$/.test(webhook.webhookId), true);
  assert.deepEqual(webhook, {
    ownerId,
    webhookId: webhook.webhookId,
    webhookName: 'Shop',
    webhookDescription: 'Fulfilment',
    webhookUrl: 'https://shop.example/hook',
    status: 'active',
    subscribedEvents: ['*'],
    key: webhook.key,
    createdAt: noon,
    updatedAt: noon,
  });
  assert.deepEqual(await detail(ownerId, webhook.webhookId), webhook);
});

// proves S8.2
test('of 15 concurrent creations exactly 10 succeed', async () => {
  const ownerId = newOwner();
  const results = await Promise.allSettled(
    Array.from({ length: 15 }, () => addWebhook(database.db, ownerId)),
  );
  const refused = results
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason.code);
  assert.deepEqual(refused, Array(5).fill('webhook_limit'));
  const list = await listWebhooks(database.db, outbox, ownerId);
  assert.equal(list.length, 10);
  const removed = { ownerId, webhookId: list[3]?.webhookId ?? '' };
  await database.db.transaction((transaction) => removeWebhook(transaction, outbox, removed));
  await addWebhook(database.db, ownerId);
});

test("no operation finds another owner's webhook", async () => {
  const { webhookId } = await addWebhook(database.db, newOwner());
  const ref = { ownerId: newOwner(), webhookId };
  const fields = { webhookName: 'n', webhookUrl: 'https://example.com/', subscribedEvents: ['*'] };
  const tries = [
    detail(ref.ownerId, webhookId),
    database.db.transaction((transaction) => updateWebhook(transaction, outbox, { ...ref, fields })),
    database.db.transaction((transaction) => disableWebhook(transaction, outbox, ref)),
    database.db.transaction((transaction) => enableWebhook(transaction, outbox, ref)),
    database.db.transaction((transaction) =>
      refreshWebhookKey(transaction, outbox, { ...ref, overlapSeconds: 0 }),
    ),
    database.db.transaction((transaction) => removeWebhook(transaction, outbox, ref)),
  ];
  const refusals = await Promise.all(tries.map(refusalOf));
  assert.deepEqual(refusals, Array(tries.length).fill(['webhook_not_found', webhookId]));
});

// proves S4.23
test('an update replaces every field and resets the omitted ones; the key stays', async () => {
  const ownerId = newOwner();
  const webhook = await addWebhook(database.db, ownerId, { webhookDescription: 'Fulfilment' }, outbox);
  const fields = { webhookName: 'New', webhookUrl: 'https://example.com/', subscribedEvents: ['order.paid'] };
  const options = { ownerId, webhookId: webhook.webhookId, fields };
  await database.db.transaction((transaction) => updateWebhook(transaction, outbox, options));
  assert.deepEqual(await detail(ownerId, webhook.webhookId), {
    ...webhook,
    ...fields,
    webhookDescription: '',
    updatedAt: new Date(webhook.updatedAt.getTime() + 1000),
  });
});

test('of two updates at one instant that are based on one read, the second is refused', async () => {
  const ownerId = newOwner();
  const { webhookId, updatedAt } = await addWebhook(database.db, ownerId, {}, outbox);
  const update = (webhookName: string, ifUpdatedAt: Date) => {
    const fields = { webhookName, webhookUrl: 'https://example.com/', subscribedEvents: ['*'] };
    return database.db.transaction((transaction) =>
      updateWebhook(transaction, outbox, { ownerId, webhookId, fields, ifUpdatedAt }),
    );
  };
  await update('First', updatedAt);
  assert.deepEqual(await refusalOf(update('Second', updatedAt)), [
    'webhook_changed',
    `${webhookId} has changed since it was read`,
  ]);
  const read = await detail(ownerId, webhookId);
  assert.equal(read.webhookName, 'First');
  await update('Second', read.updatedAt);
});

// proves S4.25
test('a refreshed key is another one, and the removed webhook is gone', async () => {
  const ownerId = newOwner();
  const { webhookId, key } = await addWebhook(database.db, ownerId);
  const ref = { ownerId, webhookId };
  await database.db.transaction((transaction) =>
    refreshWebhookKey(transaction, outbox, { ...ref, overlapSeconds: 0 }),
  );
  assert.notEqual((await detail(ownerId, webhookId)).key, key);
  await database.db.transaction((transaction) => removeWebhook(transaction, outbox, ref));
  assert.deepEqual(await refusalOf(detail(ownerId, webhookId)), ['webhook_not_found', webhookId]);
});

// proves S3.9
test('disabling pauses pending deliveries; enabling resumes them and replays skipped ones on request', async () => {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(database.db, ownerId);
  const ref = { ownerId, webhookId };
  const raise = (type: 'order.paid' | 'order.completed', at: Date) =>
    database.db.transaction((transaction) =>
      emit(transaction, systemRandom, [{ ownerId, type, objectId: ownerId, dataJson: '{}', at }]),
    );
  const states = async () =>
    (await database.db.query(selectDeliveries, { merchantId: ownerId })).map((row) => [
      row.status,
      row.next_attempt_at,
    ]);
  const early = new Date(noon.getTime() - 60_000);
  const change = (work: typeof disableWebhook) =>
    database.db.transaction((transaction) => work(transaction, outbox, ref));

  await raise('order.paid', early);
  await change(disableWebhook);
  await change(disableWebhook);
  await raise('order.completed', noon);
  assert.deepEqual(await states(), [
    ['pending', null],
    ['skipped', null],
  ]);
  assert.equal((await detail(ownerId, webhookId)).status, 'inactive');

  await change(enableWebhook);
  assert.deepEqual(await states(), [
    ['pending', noon],
    ['skipped', null],
  ]);
  assert.equal((await detail(ownerId, webhookId)).status, 'active');

  await database.db.transaction((transaction) =>
    enableWebhook(transaction, outbox, { ...ref, replaySince: noon }),
  );
  assert.deepEqual(await states(), [
    ['pending', noon],
    ['pending', noon],
  ]);
});
