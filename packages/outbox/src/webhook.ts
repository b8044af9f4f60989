import type { Queryable, Row, Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { newId } from './id.ts';
import { beginSweep } from './sweep.ts';
import { type WebhookStatus, type WebhookTrigger, webhookMove } from './webhook.machine.ts';
import * as sql from './webhook.sql.ts';

/** Webhooks of one owner. One character of a delivery's id tells them apart. */
export const maxWebhooks = 10;

/** A webhook as its owner has described it. The URL and the subscriptions are the caller's to check. */
export interface WebhookFields {
  readonly webhookName: string;
  readonly webhookDescription?: string | undefined;
  readonly webhookUrl: string;
  /** Event types, `family.*` or `*`. */
  readonly subscribedEvents: readonly string[];
}

export interface KeylessWebhook extends WebhookFields {
  readonly webhookDescription: string;
  readonly ownerId: string;
  readonly webhookId: string;
  readonly status: Exclude<WebhookStatus, 'removed'>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Webhook extends KeylessWebhook {
  /** `whsec_` and the signing key in base64, as Standard Webhooks prescribes. */
  readonly key: string;
}

/** Names one webhook of one owner; another owner's is not found. */
export interface WebhookRef {
  readonly ownerId: string;
  readonly webhookId: string;
}

type WebhookRow = Row<typeof sql.selectWebhook>;

/** Registers a webhook, active, with a new key. Refuses the eleventh of an owner (webhook_limit). */
export async function createWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: { readonly ownerId: string; readonly fields: WebhookFields },
): Promise<Webhook> {
  const { ownerId, fields } = options;
  const { random, secrets, clock } = context;
  await lockDeliveryLines(transaction);
  const [count] = await transaction.query(sql.countWebhooks, { merchantId: ownerId });
  if ((count?.webhook_count ?? 0) >= maxWebhooks) {
    throw context.refusal('webhook_limit', `an owner has at most ${maxWebhooks}`);
  }
  const webhookId = newId('webhook', random);
  const [row] = await transaction.query(sql.insertWebhook, {
    webhookId,
    merchantId: ownerId,
    webhookName: fields.webhookName,
    webhookDescription: fields.webhookDescription ?? '',
    webhookUrl: fields.webhookUrl,
    subscribedEvents: fields.subscribedEvents,
    sealedKey: secrets.seal(random, random.bytes(32), webhookId),
    createdAt: clock.now(),
  });
  if (row === undefined) throw new Error('the insert returned no webhook');
  return webhookOf(context, row);
}

/** Replaces every field; an absent description becomes empty. */
export async function updateWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef & { readonly fields: WebhookFields },
): Promise<void> {
  const { fields } = options;
  await lockWebhook(transaction, context, options);
  await transaction.query(sql.updateWebhookFields, {
    webhookId: options.webhookId,
    webhookName: fields.webhookName,
    webhookDescription: fields.webhookDescription ?? '',
    webhookUrl: fields.webhookUrl,
    subscribedEvents: fields.subscribedEvents,
    updatedAt: context.clock.now(),
  });
}

/** All webhooks of an owner, newest first. */
export async function listWebhooks(
  queryable: Queryable,
  context: OutboxContext,
  ownerId: string,
): Promise<Webhook[]> {
  const rows = await queryable.query(sql.selectWebhooks, { merchantId: ownerId });
  return rows.map((row) => webhookOf(context, row));
}

/** One webhook, or webhook_not_found. */
export async function findWebhook(
  queryable: Queryable,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<Webhook> {
  const [row] = await queryable.query(sql.selectWebhook, {
    merchantId: ref.ownerId,
    webhookId: ref.webhookId,
  });
  if (row === undefined) throw context.refusal('webhook_not_found', ref.webhookId);
  return webhookOf(context, row);
}

/**
 * Stops notifications. Deliveries still to be tried keep their place and wait until the webhook is enabled; events
 * raised meanwhile are logged as skipped. Already inactive: nothing happens.
 */
export async function disableWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef,
): Promise<void> {
  // Before the webhook's row, in the order in which the engine takes the two.
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, context, options);
  const disabled = await moveWebhook(transaction, context, webhook, 'disable');
  if (disabled !== undefined) await transaction.query(sql.parkDeliveries, { webhookId: options.webhookId });
}

/**
 * Starts notifications, from inactive and from paused; waiting deliveries are tried again at once. `replaySince` also
 * sends again everything skipped or failed that was raised at that time or later. A thousand deliveries are brought
 * forward at once, the others by `runHousekeeping`.
 */
export async function enableWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef & { readonly replaySince?: Date | undefined },
): Promise<void> {
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, context, options);
  if ((await moveWebhook(transaction, context, webhook, 'enable')) !== undefined) {
    await beginSweep(transaction, context, { ...options, sweep: { kind: 'free' } });
  }
  if (options.replaySince !== undefined) {
    await beginSweep(transaction, context, {
      ...options,
      sweep: { kind: 'replay', since: options.replaySince },
    });
  }
}

/**
 * Stops notifications after lasting failure. The caller is the delivery engine and holds the deliveries' lock. Undefined
 * when the webhook was not active: then nothing is changed.
 */
export async function pauseWebhook(
  transaction: Transaction,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<KeylessWebhook | undefined> {
  const webhook = await lockWebhook(transaction, context, ref);
  const paused = await moveWebhook(transaction, context, webhook, 'pause');
  if (paused === undefined) return undefined;
  await transaction.query(sql.parkDeliveries, { webhookId: ref.webhookId });
  return keylessOf(paused);
}

/**
 * Makes a new key. The old one is invalid at once, unless `overlapSeconds` (0 to 86,400) lets both sign for a while.
 */
export async function refreshWebhookKey(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef & { readonly overlapSeconds: number },
): Promise<void> {
  const webhook = await lockWebhook(transaction, context, options);
  const now = context.clock.now();
  const isOverlapping = options.overlapSeconds > 0;
  await transaction.query(sql.updateWebhookKey, {
    webhookId: options.webhookId,
    sealedKey: context.secrets.seal(context.random, context.random.bytes(32), options.webhookId),
    previousSealedKey: isOverlapping ? webhook.sealed_key : null,
    previousKeyUntil: isOverlapping ? new Date(now.getTime() + options.overlapSeconds * 1000) : null,
    updatedAt: now,
  });
}

/** Removes a webhook for good; its pending deliveries are skipped. */
export async function removeWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef,
): Promise<void> {
  await transaction.query(sql.lockDeliveries);
  const webhook = await lockWebhook(transaction, context, options);
  await moveWebhook(transaction, context, webhook, 'remove');
  await beginSweep(transaction, context, { ...options, sweep: { kind: 'drop' } });
}

/**
 * Takes the lock under which deliveries change their place in line, until the transaction ends. Before any webhook's or
 * delivery's row, in the order in which the engine takes them.
 */
export async function lockDeliveryLines(transaction: Transaction): Promise<void> {
  await transaction.query(sql.lockDeliveries);
}

/** One webhook of the owner, its row locked until the transaction ends; or webhook_not_found. */
export async function lockWebhook(
  transaction: Transaction,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<WebhookRow> {
  const [row] = await transaction.query(sql.lockWebhook, {
    merchantId: ref.ownerId,
    webhookId: ref.webhookId,
  });
  if (row === undefined) throw context.refusal('webhook_not_found', ref.webhookId);
  return row;
}

/** Makes a move of the webhook machine. Undefined when there is none, or when it leads to the status that is there. */
async function moveWebhook(
  transaction: Transaction,
  { clock }: OutboxContext,
  webhook: WebhookRow,
  trigger: WebhookTrigger,
): Promise<WebhookRow | undefined> {
  // The schema's check constraint is what makes the narrowing true.
  const move = webhookMove(webhook.status as WebhookStatus, trigger);
  if (move === undefined || move.to === move.from) return undefined;
  const [moved] = await transaction.query(sql.updateWebhookStatus, {
    webhookId: webhook.webhook_id,
    status: move.to,
    updatedAt: clock.now(),
  });
  if (moved === undefined) throw new Error('the update returned no webhook');
  return moved;
}

function webhookOf({ secrets }: OutboxContext, row: WebhookRow): Webhook {
  const key = Buffer.from(secrets.open(row.sealed_key, row.webhook_id)).toString('base64');
  return { ...keylessOf(row), key: `whsec_${key}` };
}

function keylessOf(row: WebhookRow): KeylessWebhook {
  const { status } = row;
  if (status !== 'active' && status !== 'inactive' && status !== 'paused') {
    throw new Error(`a webhook cannot be shown in status ${status}`);
  }
  return {
    ownerId: row.merchant_id,
    webhookId: row.webhook_id,
    webhookName: row.webhook_name,
    webhookDescription: row.webhook_description,
    webhookUrl: row.webhook_url,
    status,
    subscribedEvents: row.subscribed_events,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
