import { statement } from '@florin/pg';
import { awaitLock } from './advisory-lock.ts';

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

export const countWebhooks = statement(
  'webhooks_count',
  ['text'],
  { webhook_count: 'int4' },
  `select count(*)::int as webhook_count from webhooks where merchant_id = $1 and status <> 'removed'`,
);

export const insertWebhook = statement(
  'webhooks_insert',
  ['text', 'text', 'text', 'text', 'text', 'text[]', 'bytea', 'timestamptz'],
  webhookColumns,
  `insert into webhooks (webhook_id, merchant_id, webhook_name, webhook_description, webhook_url, status,
     subscribed_events, sealed_key, created_at, updated_at)
   values ($1, $2, $3, $4, $5, 'active', $6, $7, $8, $8)
   returning ${selected}`,
);

export const selectWebhooks = statement(
  'webhooks_select_all',
  ['text'],
  webhookColumns,
  `select ${selected} from webhooks where merchant_id = $1 and status <> 'removed' order by ordinal desc`,
);

export const selectWebhook = statement(
  'webhooks_select_one',
  ['text', 'text'],
  webhookColumns,
  `select ${selected} from webhooks where merchant_id = $1 and webhook_id = $2 and status <> 'removed'`,
);

// A change of status is decided on the row that it changes.
export const lockWebhook = statement(
  'webhooks_lock_one',
  ['text', 'text'],
  webhookColumns,
  `select ${selected} from webhooks
   where merchant_id = $1 and webhook_id = $2 and status <> 'removed' for no key update`,
);

export const updateWebhookFields = statement(
  'webhooks_update_fields',
  ['text', 'text', 'text', 'text', 'text[]', 'timestamptz'],
  {},
  `update webhooks
   set webhook_name = $2, webhook_description = $3, webhook_url = $4, subscribed_events = $5, updated_at = $6
   where webhook_id = $1`,
);

export const updateWebhookStatus = statement(
  'webhooks_update_status',
  ['text', 'text', 'timestamptz'],
  webhookColumns,
  `update webhooks set status = $2, consecutive_failures = 0, first_failure_at = null, updated_at = $3
   where webhook_id = $1
   returning ${selected}`,
);

export const updateWebhookKey = statement(
  'webhooks_update_key',
  ['text', 'bytea', 'bytea', 'timestamptz', 'timestamptz'],
  {},
  `update webhooks set sealed_key = $2, previous_sealed_key = $3, previous_key_until = $4, updated_at = $5
   where webhook_id = $1`,
);

// The same lock as the engine's turns take: see delivery.sql.ts. The limit of webhooks holds because their creators wait for
// it too.
export const lockDeliveries = statement(
  'webhooks_lock_deliveries',
  [],
  { locked: 'text' },
  `select ${awaitLock('deliveries')}::text as locked`,
);

// Without a time a pending delivery is parked: it keeps its place in line and costs the engine nothing. Only the
// first ones, because every delivery waits for the turn that does this. The rest is parked as it comes due.
export const parkDeliveries = statement(
  'webhooks_park_deliveries',
  ['text'],
  {},
  `update deliveries set next_attempt_at = null
   where delivery_id in (
     select delivery_id from deliveries
     where webhook_id = $1 and status = 'pending' and next_attempt_at is not null limit 1000
   )`,
);
