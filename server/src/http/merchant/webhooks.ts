import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import {
  createWebhook,
  disableWebhook,
  enableWebhook,
  listWebhooks,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
  type WebhookDeps,
  webhookDetail,
} from '#webhooks/webhook.ts';
import { type AddRoute, success } from '../route-handler.ts';

const { routes } = merchantApi;

/** Webhooks: register, change, list and read. Signing keys are shown to keys that may read webhook secrets. */
export function addWebhookRoutes(addRoute: AddRoute<ApiKeyIdentity>, db: Database, deps: WebhookDeps): void {
  const maySeeKeys = (caller: ApiKeyIdentity) => caller.permissions.has('webhook_secrets:read');

  addRoute(routes.createWebhook, ({ body, caller: { merchantId } }) =>
    db.transaction((transaction) => createWebhook(transaction, deps, { merchantId, body })),
  );

  addRoute(routes.updateWebhook, async ({ body, caller: { merchantId } }) => {
    const request = { merchantId, webhookId: body.webhookId, body };
    await db.transaction((transaction) => updateWebhook(transaction, deps, request));
    return success;
  });

  addRoute(routes.disableWebhook, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => disableWebhook(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.enableWebhook, async ({ body: { webhookId, replaySince }, caller: { merchantId } }) => {
    const since = replaySince === undefined ? undefined : new Date(replaySince * 1000);
    const request = { merchantId, webhookId, replaySince: since };
    await db.transaction((transaction) => enableWebhook(transaction, deps, request));
    return success;
  });

  addRoute(routes.refreshWebhookKey, async ({ body, caller: { merchantId } }) => {
    const request = { merchantId, webhookId: body.webhookId, overlapSeconds: body.overlapSeconds ?? 0 };
    await db.transaction((transaction) => refreshWebhookKey(transaction, deps, request));
    return success;
  });

  addRoute(routes.removeWebhook, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => removeWebhook(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.listWebhooks, async ({ caller }) => ({
    webhooks: await listWebhooks(db, deps, { merchantId: caller.merchantId, showKeys: maySeeKeys(caller) }),
  }));

  addRoute(routes.getWebhook, ({ params, caller }) =>
    webhookDetail(db, deps, {
      merchantId: caller.merchantId,
      webhookId: params.webhookId,
      showKey: maySeeKeys(caller),
    }),
  );
}
