import Type, { type TSchema } from 'typebox';
import { account } from './account.ts';
import { capabilities } from './capability.ts';
import { type ErrorName, errorCatalogue } from './error.ts';
import { lineItem, productData } from './line-item.ts';
import { link, linkCreateBody, linkCreated, linkDetail, settlementTokenInfo } from './link.ts';
import { product, productCreateBody } from './product.ts';
import type { Route, RouteTable } from './route.ts';
import { session, sessionCreateBody, sessionView } from './session.ts';
import { transaction } from './transaction.ts';
import { webhook, webhookCreateBody } from './webhook.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** `error` of every failed answer. */
const errorInfo = Type.Object({
  slug: Type.String({ description: 'Name of the error; stable, unlike the message' }),
  param: Type.String({ description: 'Path of the field that the error is about, else empty' }),
  retryable: Type.Boolean({ description: 'Whether the same request may succeed later' }),
  docUrl: Type.String(),
  requestId: Type.String({ description: 'The Request-Id of this answer' }),
});

const failed = Type.Object({
  code: Type.Integer({ description: 'Never 0' }),
  message: Type.String(),
  data: Type.Unknown({ description: 'null, or help that a program can use' }),
  error: errorInfo,
});

/** Schemas that documents refer to by name instead of repeating them. */
const namedSchemas: Readonly<Record<string, TSchema>> = {
  Account: account,
  Capabilities: capabilities,
  Failure: failed,
  LineItem: lineItem,
  PaymentLink: link,
  PaymentLinkCreated: linkCreated,
  PaymentLinkCreateRequest: linkCreateBody,
  PaymentLinkDetail: linkDetail,
  Product: product,
  ProductCreateRequest: productCreateBody,
  ProductData: productData,
  Session: session,
  SessionCreateRequest: sessionCreateBody,
  SessionView: sessionView,
  SettlementTokenInfo: settlementTokenInfo,
  Transaction: transaction,
  Webhook: webhook,
  WebhookCreateRequest: webhookCreateBody,
};

const nameOf = new Map<unknown, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]));

const keyScheme = 'apiKey';

/**
 * Builds the OpenAPI 3.1 document of one or more interfaces from their route tables. Refuses two operations of the
 * same id or the same method and path.
 *
 * @example openApiDocument({ origin: 'https://pay.example.com', tables: [merchantApi, agentApi] })
 */
export function openApiDocument(options: { origin: string; tables: readonly RouteTable[] }): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  const operationIds = new Set<string>();
  for (const table of options.tables) {
    for (const [operationId, route] of Object.entries(table.routes)) {
      const path = table.basePath + route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
      const method = route.method.toLowerCase();
      const operations = paths[path] ?? {};
      if (operations[method] !== undefined) throw new Error(`two operations at ${route.method} ${path}`);
      if (operationIds.has(operationId)) throw new Error(`two operations have the id ${operationId}`);
      operationIds.add(operationId);
      operations[method] = operationOf(table, operationId, route);
      paths[path] = operations;
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version: 'v1',
      description:
        'Stablecoin payment collection. Amounts are integers in Micro-USD (1,000,000 = one US dollar). Business ' +
        'errors are HTTP 200 with a non-zero code: test for code = 0. Timestamps are UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.origin }],
    tags: tagsOf(options.tables),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, plainSchema(schema, name)]),
      ),
      securitySchemes: {
        [keyScheme]: {
          type: 'http',
          scheme: 'bearer',
          description: '`Authorization: Bearer <key>`, with exactly one space.',
        },
      },
      headers: {
        'Request-Id': {
          description: 'Identifies this answer in support and logs',
          schema: { type: 'string' },
        },
      },
    },
  };
}

function tagsOf(tables: readonly RouteTable[]): Json {
  const tags = tables.flatMap((table) => Object.values(table.routes).map((route) => route.tag));
  return [...new Set(tags)].map((name) => ({ name }));
}

function operationOf(table: RouteTable, operationId: string, route: Route): JsonObject {
  const needsKey = table.security === 'api_key' && route.permissions.length > 0;
  const scopes = needsKey ? ` Permission: ${route.permissions.join(' or ')}.` : '';
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    description: `${route.description ?? `${route.summary}.`}${scopes}`,
    security: needsKey ? [{ [keyScheme]: [] }] : [],
    ...(route.params === undefined ? {} : { parameters: parametersOf(route.params) }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: plainSchema(route.body) } },
          },
        }),
    responses: responsesOf(table, route, needsKey),
  };
}

function parametersOf(params: NonNullable<Route['params']>): Json {
  return Object.entries(params.properties).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: plainSchema(schema),
  }));
}

const keyErrors: ReadonlySet<ErrorName> = new Set([
  'authorization_header_malformed',
  'api_key_invalid',
  'api_key_forbidden',
]);

const outageErrors = { query: 'query_failed', create: 'create_failed', update: 'update_failed' } as const;
const bodyErrors = ['json_malformed', 'body_too_large', 'media_type_unsupported', 'field_invalid'] as const;

function responsesOf(table: RouteTable, route: Route, needsKey: boolean): JsonObject {
  const slugs = new Set<ErrorName>([
    ...table.errors.filter((slug) => needsKey || !keyErrors.has(slug)),
    ...(route.body === undefined ? [] : bodyErrors),
    ...route.errors,
    outageErrors[route.effect],
  ]);
  const byStatus = Map.groupBy(slugs, (slug) => errorCatalogue[slug].http);
  const business = byStatus.get(200) ?? [];
  const responses: Record<string, Json> = {
    '200': answer(
      business.length === 0 ? 'Success.' : `Success, or one of: ${codesText(business)}.`,
      business.length === 0
        ? successSchema(table, route)
        : { oneOf: [successSchema(table, route), failureRef] },
    ),
  };
  for (const [status, names] of [...byStatus].filter(([http]) => http !== 200).sort(([a], [b]) => a - b)) {
    responses[String(status)] = answer(codesText(names), failureRef);
  }
  return responses;
}

const failureRef: JsonObject = { $ref: '#/components/schemas/Failure' };

function codesText(slugs: readonly ErrorName[]): string {
  return slugs
    .map((slug) => errorCatalogue[slug])
    .sort((left, right) => left.code - right.code)
    .map(({ code, text }) => `${code} ${text}`)
    .join('; ');
}

function answer(description: string, schema: JsonObject): JsonObject {
  return {
    description,
    headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
    content: { 'application/json': { schema } },
  };
}

function successSchema(table: RouteTable, route: Route): JsonObject {
  const data = plainSchema(route.reply);
  const wrapped: JsonObject = {
    type: 'object',
    required: ['code', 'message', 'data'],
    properties: { code: { type: 'integer', const: 0 }, message: { type: 'string' }, data },
  };
  // The members of the view stand beside the envelope as well.
  return table.shape === 'superset' ? { allOf: [wrapped, data] } : wrapped;
}

/** Drops what only this code knows from a schema, and refers to named schemas; `self` keeps a name's own body. */
function plainSchema(schema: unknown, self?: string): JsonObject {
  const name = nameOf.get(schema);
  if (name !== undefined && name !== self) return { $ref: `#/components/schemas/${name}` };
  const plain = plainValue(schema);
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw new Error('a schema is an object');
  return plain as JsonObject;
}

function plainValue(value: unknown): Json {
  if (Array.isArray(value)) return value.map((entry) => plainMember(entry));
  if (typeof value === 'object' && value !== null) {
    const constants = constantsOf(value);
    if (constants !== undefined) return constants;
    const members: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value)) {
      if (key === 'format' && member === 'text') continue;
      if (key === 'format' && member === 'https-url') {
        members['format'] = 'uri';
        members['pattern'] = '^https://';
      } else members[key] = plainMember(member);
    }
    return members;
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null)
    return value;
  throw new TypeError(`not a JSON value in a schema: ${typeof value}`);
}

function plainMember(value: unknown): Json {
  return nameOf.has(value) ? plainSchema(value) : plainValue(value);
}

/** A union of constants of one type is an enum, which every reader of OpenAPI understands. */
function constantsOf(schema: object): JsonObject | undefined {
  if (!('anyOf' in schema) || !Array.isArray(schema.anyOf)) return undefined;
  const branches: { const?: Json; type?: string }[] = schema.anyOf;
  const type = branches[0]?.type;
  if (type === undefined || !branches.every((branch) => branch.const !== undefined && branch.type === type)) {
    return undefined;
  }
  const { anyOf: _, ...rest } = schema as { anyOf: unknown; description?: string };
  return { ...(rest as JsonObject), type, enum: branches.map((branch) => branch.const ?? null) };
}
