import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { isId } from '@florin/protocol/id.ts';
import type { Webhook } from '@florin/protocol/webhook.ts';
import type { Clock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import {
  addMerchant,
  addWebhook,
  selectDeliveries,
  webhookDeps,
} from '../../test/harness/webhook-fixture.ts';
import { emit } from './outbox.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
  webhookDetail,
} from './webhook.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const noon = new Date('2026-03-04T12:00:00Z');
const clock: Clock = { now: () => noon, monotonicMs: () => 0, sleep: () => Promise.resolve() };
const deps = webhookDeps(clock);

async function refusalOf(work: Promise<unknown>): Promise<readonly [string, string | undefined]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Refusal) return [error.message, error.details.param];
    throw error;
  }
  throw new Error('nothing was refused');
}

function detail(merchantId: string, webhookId: string, showKey = true): Promise<Webhook> {
  return webhookDetail(database.db, deps, { merchantId, webhookId, showKey });
}

// proves S2.21, S4.21
test('a new webhook is active and carries its key', async () => {
  const merchantId = await addMerchant(database.db);
  const webhook = await addWebhook(database.db, merchantId, { webhookDescription: 'Fulfilment' }, deps);
  assert.match(webhook.key, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(isId('webhook', webhook.webhookId), true);
  assert.deepEqual(webhook, {
    webhookId: webhook.webhookId,
    webhookName: 'Shop',
    webhookDescription: 'Fulfilment',
    webhookUrl: 'https://127.0.0.1/hook',
    status: 'active',
    subscribedEvents: ['*'],
    key: webhook.key,
    createAt: '2026-03-04 12:00:00',
    updateAt: '2026-03-04 12:00:00',
  });
  assert.deepEqual(await detail(merchantId, webhook.webhookId), webhook);
});

// proves W2.19
test('the key is masked to its last four characters for who may not see it', async () => {
  const merchantId = await addMerchant(database.db);
  const first = await addWebhook(database.db, merchantId);
  const second = await addWebhook(database.db, merchantId);
  const masked = (webhook: Webhook) => ({ ...webhook, key: `whsec_****${webhook.key.slice(-4)}` });
  assert.deepEqual(await detail(merchantId, first.webhookId, false), masked(first));
  assert.deepEqual(await listWebhooks(database.db, deps, { merchantId, showKeys: false }), [
    masked(second),
    masked(first),
  ]);
  assert.deepEqual(await listWebhooks(database.db, deps, { merchantId, showKeys: true }), [second, first]);
});

// proves S8.2
test('of 15 webhooks created at once exactly 10 come to be', async () => {
  const merchantId = await addMerchant(database.db);
  const results = await Promise.allSettled(
    Array.from({ length: 15 }, () => addWebhook(database.db, merchantId)),
  );
  const refused = results
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason.message);
  assert.deepEqual(refused, Array(5).fill('Webhook limit reached: a merchant has at most 10'));
  const list = await listWebhooks(database.db, deps, { merchantId, showKeys: false });
  assert.equal(list.length, 10);
  const removed = { merchantId, webhookId: list[3]?.webhookId ?? '' };
  await database.db.transaction((transaction) => removeWebhook(transaction, deps, removed));
  await addWebhook(database.db, merchantId);
});

// proves W6.10
test('an unknown event type is refused by name, a forbidden URL by rule', async () => {
  const merchantId = await addMerchant(database.db);
  assert.deepEqual(
    await refusalOf(
      addWebhook(database.db, merchantId, { subscribedEvents: ['session.paid', 'session.payed'] }),
    ),
    ['Unknown event type: session.payed', 'subscribedEvents[1]'],
  );
  assert.deepEqual(
    await refusalOf(addWebhook(database.db, merchantId, { subscribedEvents: ['sessions.*'] })),
    ['Unknown event type: sessions.*', 'subscribedEvents[0]'],
  );
  assert.deepEqual(
    await refusalOf(addWebhook(database.db, merchantId, { webhookUrl: 'https://10.0.0.1/' })),
    ['Webhook URL not allowed: must lead to the public internet', 'webhookUrl'],
  );
});

// proves S8.3
test('a URL that is not https is refused, in an update too, which changes nothing then', async () => {
  const merchantId = await addMerchant(database.db);
  const webhookUrl = 'http://shop.example.com/hook';
  const refusal = ['Webhook URL not allowed: must use https', 'webhookUrl'];
  assert.deepEqual(await refusalOf(addWebhook(database.db, merchantId, { webhookUrl })), refusal);
  const webhook = await addWebhook(database.db, merchantId);
  const { webhookId } = webhook;
  const body = { webhookName: 'n', webhookUrl, subscribedEvents: ['*'] };
  const update = database.db.transaction((transaction) =>
    updateWebhook(transaction, deps, { merchantId, webhookId, body }),
  );
  assert.deepEqual(await refusalOf(update), refusal);
  assert.deepEqual(await detail(merchantId, webhookId), webhook);
});

test('a webhook has its URL in normal form, after an update too', async () => {
  const merchantId = await addMerchant(database.db);
  const { webhookId, webhookUrl } = await addWebhook(database.db, merchantId, {
    webhookUrl: 'HTTPS://Shop.Example.com:443/a/../hook',
  });
  assert.equal(webhookUrl, 'https://shop.example.com/hook');
  const body = { webhookName: 'n', webhookUrl: 'https://shop.example.com', subscribedEvents: ['*'] };
  await database.db.transaction((transaction) =>
    updateWebhook(transaction, deps, { merchantId, webhookId, body }),
  );
  assert.equal((await detail(merchantId, webhookId)).webhookUrl, 'https://shop.example.com/');
});

test("another merchant's webhook is not found, whatever is tried", async () => {
  const { webhookId } = await addWebhook(database.db, await addMerchant(database.db));
  const ref = { merchantId: await addMerchant(database.db), webhookId };
  const body = { webhookName: 'n', webhookUrl: 'https://example.com/', subscribedEvents: ['*'] };
  const tries = [
    detail(ref.merchantId, webhookId),
    database.db.transaction((transaction) => updateWebhook(transaction, deps, { ...ref, body })),
    database.db.transaction((transaction) => disableWebhook(transaction, deps, ref)),
    database.db.transaction((transaction) => enableWebhook(transaction, deps, ref)),
    database.db.transaction((transaction) =>
      refreshWebhookKey(transaction, deps, { ...ref, overlapSeconds: 0 }),
    ),
    database.db.transaction((transaction) => removeWebhook(transaction, deps, ref)),
  ];
  const refusals = await Promise.all(tries.map(refusalOf));
  assert.deepEqual(refusals, Array(tries.length).fill([`Webhook not found: ${webhookId}`, undefined]));
});

// proves S4.23
test('an update replaces every field and resets the omitted ones; the key stays', async () => {
  const merchantId = await addMerchant(database.db);
  const webhook = await addWebhook(database.db, merchantId, { webhookDescription: 'Fulfilment' }, deps);
  const body = { webhookName: 'New', webhookUrl: 'https://example.com/', subscribedEvents: ['session.paid'] };
  const options = { merchantId, webhookId: webhook.webhookId, body };
  await database.db.transaction((transaction) => updateWebhook(transaction, deps, options));
  assert.deepEqual(await detail(merchantId, webhook.webhookId), {
    ...webhook,
    ...body,
    webhookDescription: '',
  });
});

// proves S4.25
test('a refreshed key is another one, and the removed webhook is gone', async () => {
  const merchantId = await addMerchant(database.db);
  const { webhookId, key } = await addWebhook(database.db, merchantId);
  const ref = { merchantId, webhookId };
  await database.db.transaction((transaction) =>
    refreshWebhookKey(transaction, deps, { ...ref, overlapSeconds: 0 }),
  );
  assert.notEqual((await detail(merchantId, webhookId)).key, key);
  await database.db.transaction((transaction) => removeWebhook(transaction, deps, ref));
  assert.deepEqual(await refusalOf(detail(merchantId, webhookId)), [
    `Webhook not found: ${webhookId}`,
    undefined,
  ]);
});

// proves S3.9
test('disabling parks what is still to be sent; enabling frees it, and replays what was skipped when asked', async () => {
  const merchantId = await addMerchant(database.db);
  const { webhookId } = await addWebhook(database.db, merchantId);
  const ref = { merchantId, webhookId };
  const raise = (type: 'session.paid' | 'session.completed', at: Date) =>
    database.db.transaction((transaction) =>
      emit(transaction, systemRandom, [{ merchantId, type, objectId: merchantId, dataJson: '{}', at }]),
    );
  const states = async () =>
    (await database.db.query(selectDeliveries, [merchantId])).map((row) => [row.status, row.next_attempt_at]);
  const early = new Date(noon.getTime() - 60_000);
  const change = (work: typeof disableWebhook) =>
    database.db.transaction((transaction) => work(transaction, deps, ref));

  await raise('session.paid', early);
  await change(disableWebhook);
  await change(disableWebhook);
  await raise('session.completed', noon);
  assert.deepEqual(await states(), [
    ['pending', null],
    ['skipped', null],
  ]);
  assert.equal((await detail(merchantId, webhookId)).status, 'inactive');

  await change(enableWebhook);
  assert.deepEqual(await states(), [
    ['pending', noon],
    ['skipped', null],
  ]);
  assert.equal((await detail(merchantId, webhookId)).status, 'active');

  await database.db.transaction((transaction) =>
    enableWebhook(transaction, deps, { ...ref, replaySince: noon }),
  );
  assert.deepEqual(await states(), [
    ['pending', noon],
    ['pending', noon],
  ]);
});
