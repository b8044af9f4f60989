import type { Queryable, Row, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { isSubscription } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import { maxWebhooks, type Webhook, type WebhookCreateBody } from '@florin/protocol/webhook.ts';
import type { AddressPolicy } from '#outside/address.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import { emit } from './outbox.ts';
import { beginSweep } from './sweep.ts';
import { webhookUrlOf } from './url-policy.ts';
import { type WebhookStatus, type WebhookTrigger, webhookMove } from './webhook.machine.ts';
import * as sql from './webhook.sql.ts';

/** What operations on webhooks need. */
export interface WebhookDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: SecretBox;
  readonly addresses: AddressPolicy;
}

/** Names one webhook of one merchant; another merchant's is not found. */
export interface WebhookRef {
  readonly merchantId: string;
  readonly webhookId: string;
}

type WebhookRow = Row<typeof sql.selectWebhook>;

/**
 * Registers a webhook, active, and returns it with its key. Refuses the eleventh of a merchant (100502), a URL that may
 * never be called (100503) and unknown event types (100504).
 */
export async function createWebhook(
  transaction: Transaction,
  deps: WebhookDeps,
  options: { readonly merchantId: string; readonly body: WebhookCreateBody },
): Promise<Webhook> {
  const { merchantId, body } = options;
  const webhookUrl = checkedUrlOf(deps, body);
  await transaction.query(sql.lockMerchant, [merchantId]);
  const [count] = await transaction.query(sql.countWebhooks, [merchantId]);
  if ((count?.webhook_count ?? 0) >= maxWebhooks) {
    throw new Refusal('webhook_limit', `a merchant has at most ${maxWebhooks}`);
  }
  const webhookId = newId('webhook', (size) => deps.random.bytes(size));
  const [row] = await transaction.query(sql.insertWebhook, [
    webhookId,
    merchantId,
    body.webhookName,
    body.webhookDescription ?? '',
    webhookUrl,
    body.subscribedEvents,
    deps.secrets.seal(deps.random, deps.random.bytes(32), webhookId),
    deps.clock.now(),
  ]);
  if (row === undefined) throw new Error('the insert returned no webhook');
  return webhookOf(deps, row, true);
}

/** Replaces every field that a create takes; what is omitted is reset. */
export async function updateWebhook(
  transaction: Transaction,
  deps: WebhookDeps,
  options: WebhookRef & { readonly body: WebhookCreateBody },
): Promise<void> {
  const { body } = options;
  const webhookUrl = checkedUrlOf(deps, body);
  await lockWebhook(transaction, options);
  await transaction.query(sql.updateWebhookFields, [
    options.webhookId,
    body.webhookName,
    body.webhookDescription ?? '',
    webhookUrl,
    body.subscribedEvents,
    deps.clock.now(),
  ]);
}

/** All webhooks of a merchant, newest first; `showKeys` false masks the keys. */
export async function listWebhooks(
  db: Queryable,
  deps: Pick<WebhookDeps, 'secrets'>,
  options: { readonly merchantId: string; readonly showKeys: boolean },
): Promise<Webhook[]> {
  const rows = await db.query(sql.selectWebhooks, [options.merchantId]);
  return rows.map((row) => webhookOf(deps, row, options.showKeys));
}

/** One webhook, or 100501; `showKey` false masks the key. */
export async function webhookDetail(
  db: Queryable,
  deps: Pick<WebhookDeps, 'secrets'>,
  options: WebhookRef & { readonly showKey: boolean },
): Promise<Webhook> {
  const [row] = await db.query(sql.selectWebhook, [options.merchantId, options.webhookId]);
  if (row === undefined) throw new Refusal('webhook_not_found', options.webhookId);
  return webhookOf(deps, row, options.showKey);
}

/**
 * Stops notifications. Deliveries still to be tried keep their place and wait until the webhook is enabled; events
 * raised meanwhile are logged as skipped. Already inactive: nothing happens.
 */
export async function disableWebhook(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock'>,
  options: WebhookRef,
): Promise<void> {
  // Before the webhook's row, in the order in which the engine takes the two.
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, options);
  const disabled = await moveWebhook(transaction, deps, webhook, 'disable');
  if (disabled !== undefined) await transaction.query(sql.parkDeliveries, [options.webhookId]);
}

/**
 * Starts notifications, from inactive and from paused; waiting deliveries are tried again at once. `replaySince` also
 * sends again everything skipped or failed that was raised at that time or later. A thousand deliveries are brought
 * forward at once, the others by `runDeliverySweeps`.
 */
export async function enableWebhook(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock'>,
  options: WebhookRef & { readonly replaySince?: Date | undefined },
): Promise<void> {
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, options);
  if ((await moveWebhook(transaction, deps, webhook, 'enable')) !== undefined) {
    await beginSweep(transaction, deps, { ...options, sweep: { kind: 'free' } });
  }
  if (options.replaySince !== undefined) {
    await beginSweep(transaction, deps, {
      ...options,
      sweep: { kind: 'replay', since: options.replaySince },
    });
  }
}

/**
 * Stops notifications by itself after lasting failure and tells the merchant's other webhooks. The caller is the
 * delivery engine and holds the deliveries' lock. A webhook that is not active stays as it is.
 */
export async function pauseWebhook(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock' | 'random'>,
  options: WebhookRef,
): Promise<void> {
  const webhook = await lockWebhook(transaction, options);
  const paused = await moveWebhook(transaction, deps, webhook, 'pause');
  if (paused === undefined) return;
  await transaction.query(sql.parkDeliveries, [options.webhookId]);
  await emit(transaction, deps.random, [
    {
      merchantId: options.merchantId,
      type: 'webhook.paused',
      objectId: options.webhookId,
      dataJson: JSON.stringify({ webhook: keylessWebhookOf(paused) }),
      at: paused.updated_at,
    },
  ]);
}

/**
 * Makes a new key. The old one is invalid at once, unless `overlapSeconds` (0 to 86,400) lets both sign for a while.
 */
export async function refreshWebhookKey(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock' | 'random' | 'secrets'>,
  options: WebhookRef & { readonly overlapSeconds: number },
): Promise<void> {
  const webhook = await lockWebhook(transaction, options);
  const now = deps.clock.now();
  const isOverlapping = options.overlapSeconds > 0;
  await transaction.query(sql.updateWebhookKey, [
    options.webhookId,
    deps.secrets.seal(deps.random, deps.random.bytes(32), options.webhookId),
    isOverlapping ? webhook.sealed_key : null,
    isOverlapping ? new Date(now.getTime() + options.overlapSeconds * 1000) : null,
    now,
  ]);
}

/** Deletes a webhook for good; what it had still to be told is skipped. */
export async function removeWebhook(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock'>,
  options: WebhookRef,
): Promise<void> {
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, options);
  await moveWebhook(transaction, deps, webhook, 'remove');
  await beginSweep(transaction, deps, { ...options, sweep: { kind: 'drop' } });
}

/**
 * Takes the lock under which deliveries change their place in line, until the transaction ends. Before any webhook's or
 * delivery's row, in the order in which the engine takes them.
 */
export async function lockDeliveryLines(transaction: Transaction): Promise<void> {
  await transaction.query(sql.lockDeliveries);
}

/** Refuses a webhook that the merchant does not have: 100501. */
export async function assertWebhook(queryable: Queryable, ref: WebhookRef): Promise<void> {
  const rows = await queryable.query(sql.selectWebhook, [ref.merchantId, ref.webhookId]);
  if (rows.length === 0) throw new Refusal('webhook_not_found', ref.webhookId);
}

/** The URL in its normal form, once it and the event types are found good. */
function checkedUrlOf(deps: Pick<WebhookDeps, 'addresses'>, body: WebhookCreateBody): string {
  const url = webhookUrlOf(body.webhookUrl, deps.addresses);
  body.subscribedEvents.forEach((entry, index) => {
    if (!isSubscription(entry)) {
      throw new Refusal('event_type_unknown', { param: `subscribedEvents[${index}]`, detail: entry });
    }
  });
  return url;
}

/** One webhook of the merchant, its row locked until the transaction ends; 100501 when there is none. */
export async function lockWebhook(transaction: Transaction, ref: WebhookRef): Promise<WebhookRow> {
  const [row] = await transaction.query(sql.lockWebhook, [ref.merchantId, ref.webhookId]);
  if (row === undefined) throw new Refusal('webhook_not_found', ref.webhookId);
  return row;
}

/** Makes a move of the webhook machine. Undefined when there is none, or when it leads to the status that is there. */
async function moveWebhook(
  transaction: Transaction,
  { clock }: { readonly clock: Clock },
  webhook: WebhookRow,
  trigger: WebhookTrigger,
): Promise<WebhookRow | undefined> {
  // The schema's check constraint is what makes the narrowing true.
  const move = webhookMove(webhook.status as WebhookStatus, trigger);
  if (move === undefined || move.to === move.from) return undefined;
  const [moved] = await transaction.query(sql.updateWebhookStatus, [
    webhook.webhook_id,
    move.to,
    clock.now(),
  ]);
  if (moved === undefined) throw new Error('the update returned no webhook');
  return moved;
}

function webhookOf(deps: Pick<WebhookDeps, 'secrets'>, row: WebhookRow, isKeyShown: boolean): Webhook {
  const key = `whsec_${Buffer.from(deps.secrets.open(row.sealed_key, row.webhook_id)).toString('base64')}`;
  const { createAt, updateAt, ...fields } = keylessWebhookOf(row);
  return { ...fields, key: isKeyShown ? key : `whsec_****${key.slice(-4)}`, createAt, updateAt };
}

function keylessWebhookOf(row: WebhookRow): Omit<Webhook, 'key'> {
  return {
    webhookId: row.webhook_id,
    webhookName: row.webhook_name,
    webhookDescription: row.webhook_description,
    webhookUrl: row.webhook_url,
    status: wireStatus(row.status),
    subscribedEvents: row.subscribed_events,
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
  };
}

function wireStatus(status: string): Webhook['status'] {
  if (status === 'active' || status === 'inactive' || status === 'paused') return status;
  throw new Error(`a webhook cannot be shown in status ${status}`);
}
