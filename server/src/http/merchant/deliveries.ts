import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import { listDeliveries, resendDelivery } from '#webhooks/delivery-log.ts';
import { sendTestEvent } from '#webhooks/test-event.ts';
import type { WebhookDeps } from '#webhooks/webhook.ts';
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Deliveries of webhooks: send a test, list, send again. */
export function addDeliveryRoutes(
  add: MerchantRoutes,
  db: Database,
  deps: Pick<WebhookDeps, 'clock' | 'random'>,
): void {
  add.change(routes.testWebhook, ({ body: { webhookId }, caller: { merchantId } }, transaction) =>
    sendTestEvent(transaction, deps, { merchantId, webhookId }),
  );

  add.read(routes.listDeliveries, async ({ params, caller: { merchantId } }) => {
    const { webhookId, page, size } = params;
    const { total, deliveries } = await listDeliveries(db, { merchantId, webhookId, page, size });
    return { total, page, size, hasMore: hasMore(total, params), deliveries };
  });

  add.change(routes.resendDelivery, async ({ body, caller: { merchantId } }, transaction) => {
    await resendDelivery(transaction, deps, { merchantId, deliveryId: body.deliveryId });
    return success;
  });
}
