import { findEvent } from '@florin/outbox';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Session } from '@florin/protocol/session.ts';
import type { Caller } from '#merchants/caller.ts';
import { listEvents } from '#webhooks/event-log.ts';
import { outboxContext, type WebhookContext } from '#webhooks/outbox-context.ts';
import { rawMember } from '../body.ts';
import { type RawJson, rawJson, writeJson } from '../raw-json.ts';
import type { MerchantRoutes } from './once.ts';
import { listReply, shownPortions } from './page.ts';

const { routes } = merchantApi;

/** The event log: list and read, with the exact bytes of the webhook. */
export function addEventRoutes(add: MerchantRoutes, deps: WebhookContext): void {
  const outbox = outboxContext(deps);

  add.list(routes.listEvents, async ({ params, query, caller }, db) => {
    const { total, hasMore, portions } = await listEvents(db, outbox, {
      merchantId: caller.merchantId,
      ...query,
      ...params,
    });
    const shown = shownPortions(portions, (body) => shownText(caller, body));
    return listReply({ total, ...params, hasMore }, 'events', shown);
  });

  add.read(routes.getEvent, async ({ params: { eventId }, caller }, db) => {
    const { body } = await findEvent(db, outbox, { ownerId: caller.merchantId, eventId });
    return shownTo(caller, body);
  });
}

/** Hides from a key the event fields that it cannot read in the session. The metadata stays byte for byte. */
export function shownText(caller: Pick<Caller, 'kind' | 'permissions'>, body: string): string {
  const showClientCode = caller.kind === 'secret';
  const showPayerEmail = caller.permissions.has('payer_pii:read');
  if (showClientCode && showPayerEmail) return body;
  const event: { data: { session?: Session } } = JSON.parse(body);
  const { session } = event.data;
  if (session === undefined) return body;
  const shown = {
    ...session,
    ...(showPayerEmail ? {} : { payerEmail: '' }),
    ...(showClientCode ? {} : { clientCode: '****', paymentUrl: session.paymentUrl.replace(/#.*$/, '') }),
    metadata: rawJson(metadataOf(body)),
  };
  return writeJson({ ...event, data: { ...event.data, session: shown } });
}

function metadataOf(body: string): string {
  const path = ['data', 'session', 'metadata'];
  const text = path.reduce<string | undefined>((json, name) => json && rawMember(json, name), body);
  if (text === undefined) throw new Error('an event about a session has no metadata');
  return text;
}

function shownTo(caller: Caller, body: string): RawJson {
  return rawJson(shownText(caller, body));
}
