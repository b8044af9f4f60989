import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import type { Clock } from '#outside/clock.ts';
import { withoutSecrets } from '#webhooks/event-body.ts';
import { eventText, listEvents } from '#webhooks/event-log.ts';
import { type RawJson, rawJson } from '../raw-json.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore, listReply, shownPortions } from './page.ts';

const { routes } = merchantApi;

/** The log of events: list and read, in the very bytes that webhooks get. */
export function addEventRoutes(add: MerchantRoutes, deps: { readonly clock: Clock }): void {
  add.read(routes.listEvents, async ({ params, query, caller }, db) => {
    const { total, portions } = await listEvents(db, deps, {
      merchantId: caller.merchantId,
      ...query,
      ...params,
    });
    const shown = shownPortions(portions, (body) => shownText(caller, body));
    return listReply({ total, ...params, hasMore: hasMore(total, params) }, 'events', shown);
  });

  add.read(routes.getEvent, async ({ params: { eventId }, caller }, db) =>
    shownTo(caller, await eventText(db, deps, { merchantId: caller.merchantId, eventId })),
  );
}

/** No key learns from an event what it may not see in the session itself. */
export function shownText(caller: ApiKeyIdentity, body: string): string {
  const showClientCode = caller.kind === 'secret';
  const showPayerEmail = caller.permissions.has('payer_pii:read');
  if (showClientCode && showPayerEmail) return body;
  return withoutSecrets(body, { showClientCode, showPayerEmail });
}

function shownTo(caller: ApiKeyIdentity, body: string): RawJson {
  return rawJson(shownText(caller, body));
}
