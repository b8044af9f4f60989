import {
  createWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  listWebhooks,
  lockedWebhook,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
  type WebhookFields,
} from '@florin/outbox';
import { Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { parseTimestamp } from '@florin/protocol/timestamp.ts';
import type { Caller } from '#merchants/caller.ts';
import { outboxContext } from '#webhooks/outbox-context.ts';
import { keyedWebhookView, webhookFields } from '#webhooks/webhook.ts';
import type { OperationContext } from './context.ts';
import type { MerchantRoutes } from './once.ts';
import { tellOfKey } from './tell-owners.ts';

const { routes } = merchantApi;

/** Webhooks: register, change, list and read. Signing keys are shown only to keys that may read webhook secrets. */
export function addWebhookRoutes(add: MerchantRoutes, deps: OperationContext): void {
  const outbox = outboxContext(deps);

  // Who may not see payers' addresses makes webhooks that do not get them.
  const redacted = ({ permissions }: Caller) => ({ isRedacted: !permissions.has('payer_pii:read') });

  add.change(routes.createWebhook, async (call, transaction) => {
    const { body, caller } = call;
    const { merchantId: ownerId } = caller;
    const fields = webhookFields(body, deps.addresses);
    const made = await createWebhook(transaction, outbox, { ownerId, fields, ...redacted(caller) });
    await tellOfKey(transaction, deps, call, {
      ...{ action: 'createWebhook', subject: made.webhookId, after: JSON.stringify(fields) },
    });
    // Shown this once to a key that may not read it later.
    return { ...keyedWebhookView(made, caller.permissions), key: made.key };
  });

  add.action(routes.updateWebhook, async (call, transaction) => {
    const { body, caller } = call;
    const { merchantId: ownerId } = caller;
    const fields = webhookFields(body, deps.addresses);
    const { webhookId, ifUpdateAt } = body;
    const ifUpdatedAt = ifUpdateAt === undefined ? undefined : parseTimestamp(ifUpdateAt);
    // Locked, so that what is compared here is what is replaced.
    const stored = await lockedWebhook(transaction, outbox, { ownerId, webhookId });
    if (caller.lacksProof === true && isRedirected(stored, fields))
      throw new Refusal('fresh_proof_required', 'another URL or other events need a recent proof');
    const change = { ownerId, webhookId, fields, ifUpdatedAt, ...redacted(caller) };
    await updateWebhook(transaction, outbox, change);
    const { webhookUrl, subscribedEvents } = stored;
    await tellOfKey(transaction, deps, call, {
      ...{ action: 'updateWebhook', subject: webhookId, after: JSON.stringify(fields) },
      before: JSON.stringify({ webhookUrl, subscribedEvents }),
    });
  });

  add.action(routes.disableWebhook, ({ body, caller: { merchantId: ownerId } }, transaction) =>
    disableWebhook(transaction, outbox, { ...body, ownerId }),
  );

  add.action(routes.enableWebhook, async ({ body, caller: { merchantId: ownerId } }, transaction) => {
    const { webhookId, replaySince: since } = body;
    const replaySince = since === undefined ? undefined : new Date(since * 1000);
    await enableWebhook(transaction, outbox, { ownerId, webhookId, replaySince });
  });

  add.action(routes.refreshWebhookKey, async ({ body, caller: { merchantId: ownerId } }, transaction) => {
    const { webhookId, overlapSeconds = 0 } = body;
    await refreshWebhookKey(transaction, outbox, { ownerId, webhookId, overlapSeconds });
  });

  add.action(routes.removeWebhook, ({ body, caller: { merchantId: ownerId } }, transaction) =>
    removeWebhook(transaction, outbox, { ...body, ownerId }),
  );

  add.read(routes.listWebhooks, async ({ caller }, db) => {
    const webhooks = await listWebhooks(db, outbox, caller.merchantId);
    return { webhooks: webhooks.map((webhook) => keyedWebhookView(webhook, caller.permissions)) };
  });

  add.read(routes.getWebhook, async ({ params: { webhookId }, caller }, db) =>
    keyedWebhookView(
      await findWebhook(db, outbox, { ownerId: caller.merchantId, webhookId }),
      caller.permissions,
    ),
  );
}

/** Whether events go somewhere else, or others go there. The order of subscriptions does not matter. */
function isRedirected(stored: WebhookFields, wanted: WebhookFields): boolean {
  const eventsOf = ({ subscribedEvents }: WebhookFields) => subscribedEvents.toSorted().join();
  return stored.webhookUrl !== wanted.webhookUrl || eventsOf(stored) !== eventsOf(wanted);
}
