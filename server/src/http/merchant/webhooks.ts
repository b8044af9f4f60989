import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import { createWebhook, listWebhooks, type WebhookDeps, webhookDetail } from '#webhooks/webhook.ts';
import type { AddRoute } from '../route-handler.ts';

const { routes } = merchantApi;

/** Webhooks: register, list and read. Signing keys are shown to keys that may read webhook secrets. */
export function addWebhookRoutes(addRoute: AddRoute<ApiKeyIdentity>, db: Database, deps: WebhookDeps): void {
  const maySeeKeys = (caller: ApiKeyIdentity) => caller.permissions.has('webhook_secrets:read');

  addRoute(routes.createWebhook, ({ body, caller: { merchantId } }) =>
    db.transaction((transaction) => createWebhook(transaction, deps, { merchantId, body })),
  );

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
