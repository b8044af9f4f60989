import { eventPatterns, eventTypes } from '@florin/protocol/event.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import fc from 'fast-check';
import { type ByName, type JsonSchema, valuesOf } from './schema-arbitrary.ts';

/** One operation of the merchant API by its id. */
export interface Operation {
  readonly id: string;
  readonly route: Route;
}

export const operations: readonly Operation[] = Object.entries(merchantApi.routes).map(([id, route]) => ({
  id,
  route,
}));

/** Kinds of ids that requests name. */
export const idKinds = [
  'account',
  'product',
  'link',
  'session',
  'webhook',
  'event',
  'delivery',
  'refund',
  'report',
  'exception',
] as const;
export type IdKind = (typeof idKinds)[number];

/** A placeholder for an id that is known only when the request is sent; the number selects one of its kind. */
export function idToken(kind: IdKind): fc.Arbitrary<string> {
  return fc.nat({ max: 999 }).map((number) => `@@${kind}:${number}@@`);
}

export const idTokenPattern = /@@([a-z]+):(\d+)@@/g;

/** The time of the fixture's clock, in Unix seconds. */
const nowSeconds = Date.UTC(2030, 0, 1) / 1000;

const eventName = fc.constantFrom<string>(...eventTypes, ...eventPatterns);
const settlementToken = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('ethereum::usdc', 'base::usdc') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('ethereum::usdt', 'ethereum::nope', 'nochain::usdc', 'usdc', '::'),
  },
);

/** Members whose schema is less strict than the operation. */
const byName: ByName = {
  accountId: fc.constant('@@account:2@@'),
  productId: idToken('product'),
  linkId: idToken('link'),
  sessionId: idToken('session'),
  webhookId: idToken('webhook'),
  deliveryId: idToken('delivery'),
  eventId: idToken('event'),
  refundId: idToken('refund'),
  reportId: idToken('report'),
  exceptionId: idToken('exception'),
  productIds: fc.array(idToken('product'), { maxLength: 12 }),
  settlementToken,
  subscribedEvents: fc.array(eventName, { minLength: 1, maxLength: 5 }),
  webhookUrl: fc.constantFrom(
    'https://hooks.example.com/florin',
    'https://hooks.example.com:8443/a?b=c#d',
    'https://8.8.8.8/',
    'https://127.0.0.1/',
    'https://日本.example/',
  ),
  expirationTime: fc.integer({ min: nowSeconds + 1_800, max: nowSeconds + 30 * 86_400 }),
  replaySince: fc.integer({ min: nowSeconds - 86_400, max: nowSeconds }),
  after: idToken('event'),
  type: eventName,
  // This installation hosts no images.
  ...Object.fromEntries(['logoUrl', 'darkLogoUrl', 'iconUrl'].map((name) => [name, fc.constant('')])),
  // No random time is that of the change before; the rules of each operation have those that are.
  ifUpdateAt: fc.constant(undefined),
  page: fc.integer({ min: 1, max: 4 }),
  size: fc.constantFrom(1, 2, 10, 100),
};

const count = fc.integer({ min: 1, max: 20 });
const unitPrice = fc.integer({ min: 1_000_000, max: 90_000_000 });
const productItem = fc.record(
  { itemType: fc.constant('product'), productId: idToken('product'), quantity: count, unitPrice },
  { requiredKeys: ['itemType', 'productId', 'unitPrice'] },
);
const userPricedItem = fc.record(
  {
    itemType: fc.constant('user_priced'),
    productId: fc.oneof(fc.constant(''), idToken('product')),
    quantity: fc.constant(1),
    unitPrice: fc.constant(0),
  },
  { requiredKeys: ['itemType'] },
);

type Body = Record<string, unknown>;

/** Line items that fit the type of the link. */
function linkBody(schema: JsonSchema): fc.Arbitrary<unknown> {
  const items = fc.array(productItem, { minLength: 1, maxLength: 3 });
  return fc.tuple(valuesOf(schema, byName), items, userPricedItem).map(([body, fixed, custom]) => ({
    ...(body as Body),
    lineItems: (body as Body)['linkType'] === 'fixed' ? fixed : [custom],
  }));
}

function sessionBody(schema: JsonSchema): fc.Arbitrary<unknown> {
  const item = schema.properties?.['lineItems']?.items;
  const productData = item?.properties?.['productData'];
  if (productData === undefined) throw new Error('items of a session have no productData');
  const oneTime = fc.record({
    itemType: fc.constant('one_time'),
    quantity: count,
    unitPrice,
    productData: valuesOf(productData, byName),
  });
  const items = fc.array(fc.oneof(productItem, oneTime), { minLength: 1, maxLength: 4 });
  return fc
    .tuple(valuesOf(schema, byName), items)
    .map(([body, lineItems]) => ({ ...(body as Body), lineItems }));
}

const reportBody = fc.record({
  type: fc.constantFrom('settlements', 'payments', 'fees', 'refunds'),
  format: fc.constantFrom('csv', 'json'),
  from: fc.integer({ min: 0, max: nowSeconds - 86_400 }),
  to: fc.integer({ min: nowSeconds - 86_399, max: nowSeconds }),
});

/** An event, or a webhook with a period. */
const resendBody = fc.oneof(
  fc.record({ eventId: idToken('event'), webhookId: idToken('webhook') }, { requiredKeys: ['eventId'] }),
  fc.record({ webhookId: idToken('webhook'), since: fc.integer({ min: 0, max: nowSeconds }) }),
);

/** Bodies that an operation accepts, according to its schema and the kind of its items. */
export function bodyOf({ id, route }: Operation): fc.Arbitrary<unknown> | undefined {
  if (route.body === undefined) return undefined;
  const schema = route.body as JsonSchema;
  if (id === 'createLink' || id === 'updateLink') return linkBody(schema);
  if (id === 'createCheckoutSession') return sessionBody(schema);
  if (id === 'createReport') return reportBody;
  if (id === 'resendDeliveries') return resendBody;
  return valuesOf(schema, byName);
}

/** Valid values of an operation's path parameters. */
export function paramsOf({ route }: Operation): fc.Arbitrary<Record<string, string | number>> {
  if (route.params === undefined) return fc.constant({});
  return valuesOf(route.params as JsonSchema, byName) as fc.Arbitrary<Record<string, string | number>>;
}

/** Valid values of an operation's query parameters. */
export function queryOf({ route }: Operation): fc.Arbitrary<Record<string, string>> {
  if (route.query === undefined) return fc.constant({});
  return valuesOf(route.query as JsonSchema, byName) as fc.Arbitrary<Record<string, string>>;
}

/** The path below the base path, with every parameter percent-encoded. Placeholders of ids stay readable. */
export function pathOf(
  route: Route,
  params: Readonly<Record<string, string | number>>,
  query: Readonly<Record<string, string>> = {},
): string {
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encoded(String(params[name] ?? '')));
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function encoded(text: string): string {
  return text.startsWith('@@') ? text : encodeURIComponent(text.toWellFormed());
}
