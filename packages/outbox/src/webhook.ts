import type { Queryable, Row, Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { newId } from './id.ts';
import { beginSweep } from './sweep.ts';
import { type WebhookStatus, type WebhookTrigger, webhookMove } from './webhook.machine.ts';
import * as sql from './webhook.sql.ts';

/** Webhooks of one owner. Their deliveries of an event differ in one character of their ids. */
export const maxWebhooks = 10;

/** The fields that an owner sets. The caller checks the URL and the subscriptions. */
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

/** A webhook with failed attempts in a row. */
export interface FailingWebhook extends WebhookRef {
  /** The first of these failures. */
  readonly since: Date;
}

type WebhookRow = Row<typeof sql.selectWebhook>;

/** Who sets a webhook's URL and subscriptions may not read all of an event: its bodies go through `redact`. */
interface Redaction {
  readonly isRedacted?: boolean;
}

/** Registers an active webhook with a new key. Refuses the eleventh of an owner (webhook_limit). */
export async function createWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: { readonly ownerId: string; readonly fields: WebhookFields } & Redaction,
): Promise<Webhook> {
  const { ownerId, fields, isRedacted = false } = options;
  const { random, secrets, clock } = context;
  await lockQueuesOf(transaction, ownerId);
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
    isRedacted,
    createdAt: clock.now(),
  });
  if (row === undefined) throw new Error('the insert returned no webhook');
  return webhookOf(context, row);
}

/**
 * Replaces every field; an absent description becomes empty. Refuses a webhook whose last change was in another second than
 * `ifUpdatedAt` (webhook_changed).
 */
export async function updateWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef &
    Redaction & { readonly fields: WebhookFields; readonly ifUpdatedAt?: Date | undefined },
): Promise<void> {
  const { fields, ifUpdatedAt, isRedacted = false } = options;
  const { updated_at: updatedAt } = await lockWebhook(transaction, context, options);
  if (ifUpdatedAt !== undefined && secondOf(updatedAt) !== secondOf(ifUpdatedAt)) {
    throw context.refusal('webhook_changed', `${options.webhookId} has changed since it was read`);
  }
  await transaction.query(sql.updateWebhookFields, {
    webhookId: options.webhookId,
    webhookName: fields.webhookName,
    webhookDescription: fields.webhookDescription ?? '',
    webhookUrl: fields.webhookUrl,
    subscribedEvents: fields.subscribedEvents,
    isRedacted,
    updatedAt: context.clock.now(),
  });
}

const secondOf = (time: Date) => Math.floor(time.getTime() / 1000);

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

/** The same with its row locked until the transaction ends. */
export async function lockedWebhook(
  transaction: Transaction,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<Webhook> {
  return webhookOf(context, await lockWebhook(transaction, context, ref));
}

/**
 * Stops notifications. Pending deliveries keep their order and wait until the webhook is enabled. Events raised meanwhile are
 * logged as skipped. Nothing changes for an inactive webhook.
 */
export async function disableWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef,
): Promise<void> {
  // Locked before the webhook's row: the engine uses the same order.
  await lockQueuesOf(transaction, options.ownerId);
  const webhook = await lockWebhook(transaction, context, options);
  const disabled = await moveWebhook(transaction, context, webhook, 'disable');
  if (disabled !== undefined) await transaction.query(sql.pauseDeliveries, { webhookId: options.webhookId });
}

/**
 * Starts notifications of an inactive or paused webhook. Waiting deliveries are tried at once. `replaySince` also sends
 * everything again that was skipped or failed since that time. A thousand deliveries are moved at once, the others by
 * `runHousekeeping`.
 */
export async function enableWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef & { readonly replaySince?: Date | undefined },
): Promise<void> {
  await lockQueuesOf(transaction, options.ownerId);
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
 * Pauses a webhook after lasting failure. The delivery engine calls it under the lock of the delivery queues. Undefined,
 * without a change, when the webhook was not active.
 */
export async function pauseWebhook(
  transaction: Transaction,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<KeylessWebhook | undefined> {
  const webhook = await lockWebhook(transaction, context, ref);
  const paused = await moveWebhook(transaction, context, webhook, 'pause');
  if (paused === undefined) return undefined;
  await transaction.query(sql.pauseDeliveries, { webhookId: ref.webhookId });
  return keylessOf(paused);
}

/**
 * Makes a new key. The old one is invalid at once, or signs too for `overlapSeconds` (0 to 86,400).
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

/** Removes a webhook permanently. Its pending deliveries are skipped. */
export async function removeWebhook(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef,
): Promise<void> {
  await lockQueuesOf(transaction, options.ownerId);
  const webhook = await lockWebhook(transaction, context, options);
  await moveWebhook(transaction, context, webhook, 'remove');
  await beginSweep(transaction, context, { ...options, sweep: { kind: 'drop' } });
}

/**
 * Locks the delivery queues of an owner, and of those in the same part, until the transaction ends. Take it before the row of
 * any webhook or delivery: the engine uses the same order.
 */
export async function lockQueuesOf(transaction: Transaction, ownerId: string): Promise<void> {
  await transaction.query(sql.lockDeliveriesOfOwner, { merchantId: ownerId });
}

/** One webhook of the owner, its row locked until the transaction ends; or webhook_not_found. */
export async function lockWebhook(
  transaction: Transaction,
  context: OutboxContext,
  ref: WebhookRef,
): Promise<WebhookRow> {
  const [row] = await transaction.query(sql.lockWebhookRow, {
    merchantId: ref.ownerId,
    webhookId: ref.webhookId,
  });
  if (row === undefined) throw context.refusal('webhook_not_found', ref.webhookId);
  return row;
}

/** Makes a move of the webhook machine. Undefined when the status does not change. */
async function moveWebhook(
  transaction: Transaction,
  { clock }: OutboxContext,
  webhook: WebhookRow,
  trigger: WebhookTrigger,
): Promise<WebhookRow | undefined> {
  // A check constraint of the schema guarantees the type.
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
