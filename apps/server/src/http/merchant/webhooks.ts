import { merchantApi } from '@florin/protocol/merchant-api.ts';
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
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Webhooks: register, change, list and read. Signing keys are shown only to keys that may read webhook secrets. */
export function addWebhookRoutes(add: MerchantRoutes, deps: WebhookDeps): void {
  const maySeeKeys = (caller: ApiKeyIdentity) => caller.permissions.has('webhook_secrets:read');

  add.change(routes.createWebhook, ({ body, caller: { merchantId } }, transaction) =>
    createWebhook(transaction, deps, { merchantId, body }),
  );

  add.change(routes.updateWebhook, async ({ body, caller: { merchantId } }, transaction) => {
    const request = { merchantId, webhookId: body.webhookId, body };
    await updateWebhook(transaction, deps, request);
    return success;
  });

  add.change(routes.disableWebhook, async ({ body, caller: { merchantId } }, transaction) => {
    await disableWebhook(transaction, deps, { ...body, merchantId });
    return success;
  });

  add.change(
    routes.enableWebhook,
    async ({ body: { webhookId, replaySince }, caller: { merchantId } }, transaction) => {
      const since = replaySince === undefined ? undefined : new Date(replaySince * 1000);
      const request = { merchantId, webhookId, replaySince: since };
      await enableWebhook(transaction, deps, request);
      return success;
    },
  );

  add.change(routes.refreshWebhookKey, async ({ body, caller: { merchantId } }, transaction) => {
    const request = { merchantId, webhookId: body.webhookId, overlapSeconds: body.overlapSeconds ?? 0 };
    await refreshWebhookKey(transaction, deps, request);
    return success;
  });

  add.change(routes.removeWebhook, async ({ body, caller: { merchantId } }, transaction) => {
    await removeWebhook(transaction, deps, { ...body, merchantId });
    return success;
  });

  add.read(routes.listWebhooks, async ({ caller }, db) => ({
    webhooks: await listWebhooks(db, deps, { merchantId: caller.merchantId, showKeys: maySeeKeys(caller) }),
  }));

  add.read(routes.getWebhook, ({ params, caller }, db) =>
    webhookDetail(db, deps, {
      merchantId: caller.merchantId,
      webhookId: params.webhookId,
      showKey: maySeeKeys(caller),
    }),
  );
}
