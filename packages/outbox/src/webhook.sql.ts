import { statement } from '@florin/pg';
import { awaitLockOf, awaitShare } from './advisory-lock.ts';
import { partOf } from './delivery-part.ts';

const webhookColumns = {
  webhook_id: 'text',
  merchant_id: 'text',
  webhook_name: 'text',
  webhook_description: 'text',
  webhook_url: 'text',
  status: 'text',
  subscribed_events: 'text[]',
  sealed_key: 'bytea',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const selected = Object.keys(webhookColumns).join(', ');

/** Each change has a later second than the one before, by which `ifUpdatedAt` of an update tells them apart. */
const laterSecond = `greatest(:updatedAt, date_trunc('second', updated_at) + interval '1 second')`;

export const countWebhooks = statement({
  name: 'webhooks_count',
  parameters: { merchantId: 'text' },
  columns: { webhook_count: 'int4' },
  text: `select count(*)::int as webhook_count from webhooks where merchant_id = :merchantId and status <> 'removed'`,
});

export const insertWebhook = statement({
  name: 'webhooks_insert',
  parameters: {
    webhookId: 'text',
    merchantId: 'text',
    webhookName: 'text',
    webhookDescription: 'text',
    webhookUrl: 'text',
    subscribedEvents: 'text[]',
    sealedKey: 'bytea',
    isRedacted: 'bool',
    createdAt: 'timestamptz',
  },
  columns: webhookColumns,
  text: `insert into webhooks (webhook_id, merchant_id, webhook_name, webhook_description, webhook_url, status,
     subscribed_events, sealed_key, is_redacted, created_at, updated_at)
   values (:webhookId, :merchantId, :webhookName, :webhookDescription, :webhookUrl, 'active', :subscribedEvents, :sealedKey,
     :isRedacted, :createdAt, :createdAt)
   returning ${selected}`,
});

export const selectWebhooks = statement({
  name: 'webhooks_select_all',
  parameters: { merchantId: 'text' },
  columns: webhookColumns,
  text: `select ${selected} from webhooks where merchant_id = :merchantId and status <> 'removed' order by ordinal desc`,
});

export const selectWebhook = statement({
  name: 'webhooks_select_one',
  parameters: { merchantId: 'text', webhookId: 'text' },
  columns: webhookColumns,
  text: `select ${selected} from webhooks where merchant_id = :merchantId and webhook_id = :webhookId and status <> 'removed'`,
});

// The lock keeps the status that a change depends on.
export const lockWebhookRow = statement({
  name: 'webhooks_lock_one',
  parameters: { merchantId: 'text', webhookId: 'text' },
  columns: webhookColumns,
  text: `select ${selected} from webhooks
   where merchant_id = :merchantId and webhook_id = :webhookId and status <> 'removed' for no key update`,
});

export const updateWebhookFields = statement({
  name: 'webhooks_update_fields',
  parameters: {
    webhookId: 'text',
    webhookName: 'text',
    webhookDescription: 'text',
    webhookUrl: 'text',
    subscribedEvents: 'text[]',
    isRedacted: 'bool',
    updatedAt: 'timestamptz',
  },
  text: `update webhooks
   set webhook_name = :webhookName, webhook_description = :webhookDescription, webhook_url = :webhookUrl, subscribed_events = :subscribedEvents,
     is_redacted = case when webhook_url = :webhookUrl and subscribed_events = :subscribedEvents then is_redacted else :isRedacted end,
     updated_at = ${laterSecond}
   where webhook_id = :webhookId`,
});

export const updateWebhookStatus = statement({
  name: 'webhooks_update_status',
  parameters: { webhookId: 'text', status: 'text', updatedAt: 'timestamptz' },
  columns: webhookColumns,
  text: `update webhooks set status = :status, consecutive_failures = 0, first_failure_at = null, updated_at = ${laterSecond}
   where webhook_id = :webhookId
   returning ${selected}`,
});

export const updateWebhookKey = statement({
  name: 'webhooks_update_key',
  parameters: {
    webhookId: 'text',
    sealedKey: 'bytea',
    previousSealedKey: 'bytea?',
    previousKeyUntil: 'timestamptz?',
    updatedAt: 'timestamptz',
  },
  text: `update webhooks set sealed_key = :sealedKey, previous_sealed_key = :previousSealedKey, previous_key_until = :previousKeyUntil, updated_at = ${laterSecond}
   where webhook_id = :webhookId`,
});

// The engine's turns take the same locks (delivery.sql.ts). Creations of webhooks take them too, so that their limit holds.
export const lockDeliveriesOfOwner = statement({
  name: 'webhooks_lock_deliveries_of_owner',
  parameters: { merchantId: 'text' },
  columns: { locked: 'text' },
  text: `select concat(
     ${awaitShare('deliveries')}, ${awaitLockOf('deliveryPart', `${partOf(':merchantId::text')}::text`)}
   ) as locked`,
});

/** Locks wait no longer than this, until the transaction ends. */
export const limitLockWait = statement({
  name: 'webhooks_limit_lock_wait',
  parameters: { limit: 'text' },
  columns: { limit: 'text' },
  text: `select set_config('lock_timeout', :limit, true) as limit`,
});

// A pending delivery without a time is paused: it keeps its position and costs the engine nothing. Only the first ones are
// paused here, because all deliveries wait for this statement. The others are paused when they become due.
export const pauseDeliveries = statement({
  name: 'webhooks_pause_deliveries',
  parameters: { webhookId: 'text' },
  text: `update deliveries set next_attempt_at = null
   where delivery_id in (
     select delivery_id from deliveries
     where webhook_id = :webhookId and status = 'pending' and next_attempt_at is not null limit 1000
   )`,
});
