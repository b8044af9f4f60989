import { createWebhook, type OutboxContext, type Webhook } from '@florin/outbox';
import { type Database, statement } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import type { WebhookCreateBody } from '@florin/protocol/webhook.ts';
import { type Clock, systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { type SecretBox, secretBox } from '#outside/secret-box.ts';
import { outboxContext } from '#webhooks/outbox-context.ts';
import { webhookFields } from '#webhooks/webhook.ts';

const insertMerchant = statement({
  name: 'fixture_insert_merchant',
  parameters: { merchantId: 'text', createdAt: 'timestamptz' },
  text: `insert into merchants (merchant_id, merchant_name, created_at) values (:merchantId, 'Test merchant', :createdAt)`,
});

export const selectEvents = statement({
  name: 'fixture_select_events',
  parameters: { merchantId: 'text' },
  columns: { event_id: 'text', event_type: 'text', object_id: 'text', sequence: 'int8', body: 'text' },
  text: 'select event_id, event_type, object_id, sequence, body from events where merchant_id = :merchantId order by ordinal',
});

export const selectDeliveries = statement({
  name: 'fixture_select_deliveries',
  parameters: { merchantId: 'text' },
  columns: {
    delivery_id: 'text',
    webhook_id: 'text',
    object_id: 'text',
    sequence: 'int8',
    status: 'text',
    attempt_count: 'int4',
    next_attempt_at: 'timestamptz?',
  },
  text: `select delivery_id, webhook_id, object_id, sequence, status, attempt_count, next_attempt_at
   from deliveries where merchant_id = :merchantId order by ordinal`,
});

export const selectAttempts = statement({
  name: 'fixture_select_attempts',
  parameters: { merchantId: 'text' },
  columns: {
    delivery_id: 'text',
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    error: 'text',
    response_body: 'text',
  },
  text: `select delivery_id, attempt, attempted_at, http_status, error, response_body
   from delivery_attempts join deliveries using (delivery_id)
   where merchant_id = :merchantId order by attempted_at, attempt`,
});

/** A box with one fixed master key. */
export const testSecrets: SecretBox = secretBox([new Uint8Array(32).fill(7)]);

/** The outbox with a fixed master key. */
export function testOutbox(clock: Clock = systemClock): OutboxContext {
  return outboxContext({ clock, random: systemRandom, secrets: testSecrets });
}

/** Adds a separate merchant, so that tests share a database without affecting each other. */
export async function addMerchant(db: Database): Promise<string> {
  const merchantId = newId('merchant', (size) => systemRandom.bytes(size));
  await db.query(insertMerchant, { merchantId, createdAt: systemClock.now() });
  return merchantId;
}

/** Adds a webhook for every event, unless the options limit it. */
export async function addWebhook(
  db: Database,
  merchantId: string,
  body: Partial<WebhookCreateBody> = {},
  outbox: OutboxContext = testOutbox(),
): Promise<Webhook> {
  const defaults = { webhookName: 'Shop', webhookUrl: 'https://127.0.0.1/hook', subscribedEvents: ['*'] };
  const fields = webhookFields({ ...defaults, ...body }, { allowLoopback: true });
  return db.transaction((transaction) => createWebhook(transaction, outbox, { ownerId: merchantId, fields }));
}
