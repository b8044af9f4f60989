import {
  findWebhook,
  type ResendRequest,
  resendDeliveries,
  resendDelivery,
  sendTestEvent,
} from '@florin/outbox';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { eventFixture } from '@florin/protocol/event-fixture.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { deliveryDetail } from '#webhooks/delivery-detail.ts';
import { listDeliveries } from '#webhooks/delivery-log.ts';
import { outboxContext, type WebhookContext } from '#webhooks/outbox-context.ts';
import { shownUrl } from '#webhooks/webhook.ts';
import { type RouteCall, success } from '../route-handler.ts';
import { shownText } from './events.ts';
import type { MerchantCaller, MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Deliveries of webhooks: send a test, list, read, resend. */
export function addDeliveryRoutes(
  add: MerchantRoutes,
  deps: WebhookContext & { readonly origin: string },
): void {
  const outbox = outboxContext(deps);

  add.change(routes.testWebhook, async ({ body, caller: { merchantId: ownerId } }, transaction) => {
    const { webhookId, eventType: type = 'webhook.test' } = body;
    const { webhookName } = await findWebhook(transaction, outbox, { ownerId, webhookId });
    const isFixture = type !== 'webhook.test';
    const data = isFixture
      ? eventFixture(type, deps.origin)
      : { message: `A test of the webhook ${webhookName}` };
    const event = { type, dataJson: JSON.stringify(data), isFixture };
    return sendTestEvent(transaction, outbox, { ownerId, webhookId, event });
  });

  add.list(routes.listDeliveries, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, deliveries } = await listDeliveries(db, outbox, { ...params, ...query, merchantId });
    return { ...place, page: params.page, size: params.size, deliveries };
  });

  add.read(routes.getDelivery, async ({ params: { deliveryId }, caller }, db) => {
    const shown = await deliveryDetail(db, deps, { merchantId: caller.merchantId, deliveryId });
    const { permissions } = caller;
    return {
      ...shown,
      attempts: shown.attempts.map(({ request, ...attempt }) => ({
        ...attempt,
        request: { ...request, url: shownUrl(request.url, permissions) },
      })),
      body: permissions.has('events:read') ? shownText(caller, shown.body) : '',
    };
  });

  add.change(routes.resendDeliveries, async ({ body, caller: { merchantId } }, transaction) => ({
    ...success,
    ...(await resendDeliveries(transaction, outbox, resendRequestOf(body, merchantId))),
  }));

  add.action(routes.resendDelivery, ({ body, caller: { merchantId: ownerId } }, transaction) =>
    resendDelivery(transaction, outbox, { ownerId, deliveryId: body.deliveryId }),
  );
}

/** Refuses a request that names neither an event nor a webhook with a time, or both (400101). */
function resendRequestOf(
  body: RouteCall<typeof routes.resendDeliveries, MerchantCaller>['body'],
  ownerId: string,
): ResendRequest {
  const { webhookId, eventId, since, until, statuses, after } = body;
  if (eventId !== undefined) {
    if (since !== undefined || until !== undefined) throw fieldRefusal('since', 'does not go with eventId');
    return { ownerId, eventId, webhookId, statuses, after };
  }
  if (webhookId === undefined) throw fieldRefusal('webhookId', 'is missing: give it, or eventId');
  if (since === undefined) throw fieldRefusal('since', 'is missing');
  return {
    ownerId,
    webhookId,
    since: new Date(since * 1000),
    until: until === undefined ? undefined : new Date(until * 1000),
    statuses,
    after,
  };
}
