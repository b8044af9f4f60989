import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  defaultDeliverySettings,
  eventLifeDays,
  findWebhook,
  listWebhooks,
  maxResent,
  maxWebhooks,
  deliveryStatuses as outboxDeliveryStatuses,
} from '@florin/outbox';
import * as deliveryApi from '@florin/protocol/delivery-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import * as eventApi from '@florin/protocol/event-api.ts';
import type { Permission } from '@florin/protocol/permission.ts';
import * as webhookApi from '@florin/protocol/webhook.ts';
import { createEgress } from '#outside/egress.ts';
import { silentLog } from '#telemetry/log.ts';
import { testDatabase } from '../../test/harness/database.ts';
import { addMerchant, addWebhook, testOutbox } from '../../test/harness/webhook-fixture.ts';
import type { Fact } from './outbox.ts';
import { outboxWorker, withoutPayerEmail } from './outbox-context.ts';
import { keyedWebhookView, shownUrl, webhookFields } from './webhook.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;
const outbox = testOutbox();
const addresses = { allowLoopback: true };

function refusalOf(work: () => unknown): readonly [string, string | undefined] {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return [error.message, error.details.param];
    throw error;
  }
  throw new Error('nothing was refused');
}

const body = { webhookName: 'n', webhookUrl: 'https://shop.example.com/hook', subscribedEvents: ['*'] };

// proves W2.19
test('the key is masked to its last four characters without the permission to see it', async () => {
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId);
  const [webhook] = await listWebhooks(db, outbox, merchantId);
  assert.ok(webhook !== undefined);
  const may = (...permissions: Permission[]) => new Set<Permission>(permissions);
  const shown = keyedWebhookView(webhook, may('webhook_secrets:read'));
  assert.equal(shown.key, webhook.key);
  assert.deepEqual(keyedWebhookView(webhook, may()), { ...shown, key: `whsec_****${webhook.key.slice(-4)}` });
});

test('a URL is shown without the values of its query to readers who may not change webhooks', () => {
  const shown = {
    'https://shop.example.com/hook': 'https://shop.example.com/hook',
    'https://shop.example.com/hook?token=s3cret': 'https://shop.example.com/hook?token=****',
    'https://shop.example.com/hook?a=b=c&s3cret&d=#s3cret':
      'https://shop.example.com/hook?a=****&****&d=****',
    'https://shop.example.com/#s3cret?x=y': 'https://shop.example.com/',
    'https://shop.example.com/?a=1?b=2': 'https://shop.example.com/?a=****',
    '': '',
  };
  for (const [url, masked] of Object.entries(shown)) {
    assert.equal(shownUrl(url, new Set(['webhooks:read'])), masked);
    assert.equal(shownUrl(url, new Set(['webhooks:write'])), url);
  }
});

// proves W6.10
test('an unknown event type is refused by name, a forbidden URL by rule', () => {
  const subscribing = (...subscribedEvents: string[]) =>
    refusalOf(() => webhookFields({ ...body, subscribedEvents }, addresses));
  assert.deepEqual(subscribing('session.paid', 'session.payed'), [
    'Unknown event type: session.payed',
    'subscribedEvents[1]',
  ]);
  assert.deepEqual(subscribing('sessions.*'), ['Unknown event type: sessions.*', 'subscribedEvents[0]']);
  assert.deepEqual(
    refusalOf(() => webhookFields({ ...body, webhookUrl: 'https://10.0.0.1/' }, addresses)),
    ['Webhook URL not allowed: must lead to the public internet', 'webhookUrl'],
  );
});

// proves S8.3
test('a URL that is not https is refused', () => {
  const webhookUrl = 'http://shop.example.com/hook';
  assert.deepEqual(
    refusalOf(() => webhookFields({ ...body, webhookUrl }, addresses)),
    ['Webhook URL not allowed: must use https', 'webhookUrl'],
  );
});

test('a webhook has its URL in normal form', () => {
  const normal = (webhookUrl: string) => webhookFields({ ...body, webhookUrl }, addresses).webhookUrl;
  assert.equal(normal('HTTPS://Shop.Example.com:443/a/../hook'), 'https://shop.example.com/hook');
  assert.equal(normal('https://shop.example.com'), 'https://shop.example.com/');
});

test('a URL with a fragment is refused at its field: no request would carry it', () => {
  for (const webhookUrl of ['https://shop.example.com/hook#secret', 'https://shop.example.com/hook#'])
    assert.throws(() => webhookFields({ ...body, webhookUrl }, addresses), {
      name: 'Refusal',
      message: /fragment/,
    });
});

test('the event about a paused webhook shows the members of a read, without its key, and e-mails may tell it', async () => {
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId);
  const [webhook] = await listWebhooks(db, outbox, merchantId);
  assert.ok(webhook !== undefined);
  const egress = createEgress({ addresses });
  const told: Fact[] = [];
  const notify = async (_: unknown, facts: readonly Fact[]) => void told.push(...facts);
  const worker = outboxWorker({
    ...{ ...outbox, db, egress, notify, log: silentLog, settings: defaultDeliverySettings },
  });
  await egress.close();
  await db.transaction((transaction) => worker.tellPaused(transaction, webhook));
  const { key: _, ...shown } = keyedWebhookView(webhook, new Set());
  assert.deepEqual(
    told.map(({ type, ownerId, dataJson }) => [type, ownerId, JSON.parse(dataJson)]),
    [['webhook.paused', merchantId, { webhook: shown }]],
  );
});

test('a redacted body lacks the address of the payer, and every other byte stays', () => {
  const session = '"payer":"0x1","payerEmail":"a\\"b@example.com","metadata":{"payerEmail":"kept", "n":1.0}';
  const bodyOf = (text: string) => `{"type":"session.paid","data":{"session":{${text}}}}`;
  assert.equal(withoutPayerEmail(bodyOf(session)), bodyOf(session.replace('a\\"b@example.com', '')));
  assert.equal(withoutPayerEmail('{"data":{"product":{}}}'), '{"data":{"product":{}}}');
});

test('every refusal of the outbox has an error of the catalogue', async () => {
  const merchantId = await addMerchant(db);
  const missing = findWebhook(db, outbox, { ownerId: merchantId, webhookId: 'wkid_none' });
  await assert.rejects(missing, { slug: 'webhook_not_found', message: 'Webhook not found: wkid_none' });
  for (let index = 0; index < 10; index += 1) await addWebhook(db, merchantId);
  await assert.rejects(addWebhook(db, merchantId), {
    slug: 'webhook_limit',
    message: 'Webhook limit reached: a merchant has at most 10',
  });
});

test('the API states the limits of the outbox', () => {
  assert.deepEqual(
    [webhookApi.maxWebhooks, deliveryApi.maxResent, eventApi.eventLifeDays, deliveryApi.deliveryStatuses],
    [maxWebhooks, maxResent, eventLifeDays, outboxDeliveryStatuses],
  );
});
