// What the SDK calls the schemas of the wire.
import { brandingUpdateBody } from '@florin/protocol/branding.ts';
import { eventTypes } from '@florin/protocol/event.ts';
import { linkUpdateBody } from '@florin/protocol/link.ts';
import { nameOfSchema } from '@florin/protocol/openapi-schema.ts';
import { productUpdateBody } from '@florin/protocol/product.ts';
import { refundFilter } from '@florin/protocol/refund-api.ts';
import { reportCreateBody } from '@florin/protocol/report-api.ts';
import { listCursor, successReply } from '@florin/protocol/schema.ts';
import { session, sessionCreateBody, sessionStatuses } from '@florin/protocol/session.ts';
import { sessionRoutes } from '@florin/protocol/session-api.ts';
import { sessionSearchBody } from '@florin/protocol/session-search.ts';
import { subscriptionText, webhook, webhookUpdateBody } from '@florin/protocol/webhook.ts';
import type { NameOf, WireSchema } from './sdk-types.ts';

const pageSize = { type: 'integer', description: 'Entries of one page: 1 to 100, the default' };
/** Entries of a list, as its methods take them. */
export const listFilter = { ...listCursor, properties: { ...listCursor.properties, size: pageSize } };
/** Sessions have a list for each status; one method of the SDK reads them all. */
const sessionFilter = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: sessionStatuses },
    ...sessionRoutes.listSessions.query?.properties,
    size: pageSize,
  },
};

/** Schemas that only the SDK names. */
export const ownNames: Readonly<Record<string, object>> = {
  ListFilter: listFilter,
  BrandingUpdateRequest: brandingUpdateBody,
  PaymentLinkUpdateRequest: linkUpdateBody,
  ProductUpdateRequest: productUpdateBody,
  RefundFilter: { ...refundFilter, properties: { ...refundFilter.properties, size: pageSize } },
  ReportCreateRequest: reportCreateBody,
  SessionFilter: sessionFilter,
  SessionSearchRequest: sessionSearchBody,
  Success: successReply,
  WebhookUpdateRequest: webhookUpdateBody,
};

/** Names that the types refer to and that are still without a declaration. */
export const wanted = new Map<string, WireSchema>();

/** Whole numbers with a meaning, by what their descriptions say. */
const numbers: readonly (readonly [RegExp, string])[] = [
  [/\bMicro-USD\b/, 'Usd'],
  [/^1: yes; 0: no/, '0 | 1'],
  [/^1: the merchant pays the fee; 2: /, '1 | 2'],
];

/** Types that the SDK writes by hand. */
const handWritten = new Map<unknown, string>([
  [subscriptionText, 'EventSubscription'],
  [webhook.properties.subscribedEvents.items, 'EventSubscription'],
  [session.properties.metadata, 'SessionMetadata'],
  [sessionCreateBody.properties.metadata, 'GivenMetadata'],
]);

/** The type of a schema, where it has a name. */
export const nameOf: NameOf = (schema) => {
  const { type, description = '' } = schema;
  const [, number] = numbers.find(([pattern]) => type === 'integer' && pattern.test(description)) ?? [];
  const written = number ?? handWritten.get(schema);
  if (written !== undefined) return written;
  if (schema.enum !== undefined && schema.enum.length === eventTypes.length) return 'EventType';
  const name = Object.keys(ownNames).find((each) => ownNames[each] === schema) ?? nameOfSchema(schema);
  if (name !== undefined) wanted.set(name, schema);
  return name === 'Event' ? 'FlorinEvent' : name;
};
