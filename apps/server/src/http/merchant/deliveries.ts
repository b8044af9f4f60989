import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { deliveryDetail } from '#webhooks/delivery-detail.ts';
import { listDeliveries } from '#webhooks/delivery-log.ts';
import { resendDeliveries, resendDelivery } from '#webhooks/resend.ts';
import { sendTestEvent } from '#webhooks/test-event.ts';
import type { WebhookDeps } from '#webhooks/webhook.ts';
import { success } from '../route-handler.ts';
import { shownText } from './events.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Deliveries of webhooks: send a test, list, read, resend. */
export function addDeliveryRoutes(
  add: MerchantRoutes,
  deps: Pick<WebhookDeps, 'clock' | 'random'> & { readonly origin: string },
): void {
  add.change(routes.testWebhook, ({ body, caller: { merchantId } }, transaction) => {
    const { webhookId, eventType = 'webhook.test' } = body;
    const fixture = { type: eventType, origin: deps.origin };
    return sendTestEvent(transaction, deps, { merchantId, webhookId }, fixture);
  });

  add.read(routes.listDeliveries, async ({ params, caller: { merchantId } }, db) => {
    const { webhookId, page, size } = params;
    const { total, deliveries } = await listDeliveries(db, { merchantId, webhookId, page, size });
    return { total, page, size, hasMore: hasMore(total, params), deliveries };
  });

  add.read(routes.getDelivery, async ({ params: { deliveryId }, caller }, db) => {
    const shown = await deliveryDetail(db, deps, { merchantId: caller.merchantId, deliveryId });
    return { ...shown, body: caller.permissions.has('events:read') ? shownText(caller, shown.body) : '' };
  });

  add.change(routes.resendDeliveries, async ({ body, caller: { merchantId } }, transaction) => ({
    ...success,
    ...(await resendDeliveries(transaction, deps, { ...body, merchantId })),
  }));

  add.change(routes.resendDelivery, async ({ body, caller: { merchantId } }, transaction) => {
    await resendDelivery(transaction, deps, { merchantId, deliveryId: body.deliveryId });
    return success;
  });
}
