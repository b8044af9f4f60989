import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Database } from '#db/database.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import type { Clock } from '#outside/clock.ts';
import { withoutSecrets } from '#webhooks/event-body.ts';
import { eventText, listEvents } from '#webhooks/event-log.ts';
import { type RawJson, rawJson } from '../raw-json.ts';
import type { MerchantRoutes } from './once.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** The log of events: list and read, in the very bytes that webhooks get. */
export function addEventRoutes(add: MerchantRoutes, db: Database, deps: { readonly clock: Clock }): void {
  add.read(routes.listEvents, async ({ params, query, caller }) => {
    const { total, bodies } = await listEvents(db, deps, {
      merchantId: caller.merchantId,
      ...query,
      ...params,
    });
    const events = bodies.map((body) => shownTo(caller, body));
    return { total, ...params, hasMore: hasMore(total, params), events };
  });

  add.read(routes.getEvent, async ({ params: { eventId }, caller }) =>
    shownTo(caller, await eventText(db, deps, { merchantId: caller.merchantId, eventId })),
  );
}

/** No key learns from an event what it may not see in the session itself. */
function shownTo(caller: ApiKeyIdentity, body: string): RawJson {
  const showClientCode = caller.kind === 'secret';
  const showPayerEmail = caller.permissions.has('payer_pii:read');
  if (showClientCode && showPayerEmail) return rawJson(body);
  return rawJson(withoutSecrets(body, { showClientCode, showPayerEmail }));
}
