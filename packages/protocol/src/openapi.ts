import { deprecationHeaders, deprecationText } from './deprecation.ts';
import { type ErrorName, errorCatalogue } from './error.ts';
import { failureExample, type OperationExample, operationExamples } from './example.ts';
import { eventExample } from './example-event.ts';
import { errorsOf, needsKey, statusOf, takesIdempotencyKey } from './openapi-errors.ts';
import { eventSchemas } from './openapi-events.ts';
import { failureRefs, failureSchemas } from './openapi-failures.ts';
import { type Json, type JsonObject, namedSchemas, plainSchema } from './openapi-schema.ts';
import type { Route, RouteStep, RouteTable } from './route.ts';

const keyScheme = 'apiKey';

/** The descriptions of the documents' headings. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Products: 'What a merchant sells. Prices are integers in Micro-USD.',
  Accounts: 'Wallets that settlements go to. The API reads them; the operator creates and removes them.',
  'Payment links': 'Reusable pages that sell products at fixed prices, or let the payer choose the amount.',
  Branding: 'How the hosted pages of a merchant look: a logo and a colour.',
  Sessions:
    'One attempt to be paid. The API, a payment link or the AI protocol creates it; reading it is the same for all.',
  Webhooks: 'Receivers of notifications, signed as Standard Webhooks prescribes.',
  Events: 'What happened, kept for 90 days.',
  Refunds: 'Money that goes back to its payer.',
  Exceptions: 'Payments that went wrong, and where their money is.',
  Reports: 'Payments, settlements, fees and refunds of a time, as a file.',
  Capabilities: 'Tokens, routes and fees of this installation. Public.',
  'AI protocol':
    'How an agent pays without an API key: it reads, signs EIP-712 messages with the payer’s wallet, and sends the ' +
    'transaction that it is given.',
  x402:
    'Links and sessions as resources of x402 version 2: a stock client asks, signs one EIP-3009 authorization, and gets ' +
    'a receipt. Only on installations that send payments at their own cost.',
};

/**
 * Builds the OpenAPI 3.1 document of one or more interfaces from their route tables. Refuses two operations with the
 * same id or the same method and path.
 * @example openApiDocument({ origin: 'https://pay.example.com', tables: [merchantApi, agentApi] })
 */
export function openApiDocument(options: { origin: string; tables: readonly RouteTable[] }): JsonObject {
  const { origin, tables } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version: 'v1',
      description:
        'Stablecoin payment collection. Amounts are integers in Micro-USD (1,000,000 = one US dollar). Business ' +
        'errors are HTTP 200 with a non-zero code, so test for code = 0. Only x402 answers them with HTTP statuses of their ' +
        'own. Timestamps are UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: 'Guides and reference', url: `${origin}/docs` },
    servers: [{ url: origin }],
    tags: tagsOf(tables),
    paths: pathsOf(origin, tables),
    webhooks: { event: { post: eventOperation(origin) } },
    components: {
      schemas: {
        ...Object.fromEntries(
          Object.entries(namedSchemas).map(([name, schema]) => [name, plainSchema(schema, name)]),
        ),
        ...eventSchemas(),
        ...failureSchemas(allErrorsOf(tables)),
      },
      securitySchemes: {
        [keyScheme]: {
          type: 'http',
          scheme: 'bearer',
          description:
            '`Authorization: Bearer <key>`, with exactly one space. Secret keys begin with `sk_live_`, restricted ' +
            'keys with `rk_live_`.',
        },
      },
      headers: {
        'Request-Id': {
          description: 'Identifies this answer in support and logs',
          schema: { type: 'string' },
        },
        'Retry-After': {
          description: 'Seconds to wait before the same request may succeed',
          schema: { type: 'string' },
        },
        'Idempotent-Replayed': {
          description:
            '`true` when this is the stored answer to an earlier request with the same Idempotency-Key',
          schema: { type: 'string' },
        },
      },
      parameters: { 'Idempotency-Key': idempotencyParameter },
    },
  };
}

const idempotencyParameter: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a retry safe: for 30 days the same key with the same body gets the first request’s answer. At ' +
    'most 255 characters, for example a UUID.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '5f0a8a34-3c1f-4f0e-9d0b-6a2f1d0c7e11',
};

function pathsOf(origin: string, tables: readonly RouteTable[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  const operationIds = new Set<string>();
  for (const table of tables) {
    for (const [operationId, route] of Object.entries(table.routes)) {
      const path = table.basePath + route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
      const method = route.method.toLowerCase();
      const operations = paths[path] ?? {};
      if (operations[method] !== undefined) throw new Error(`two operations at ${route.method} ${path}`);
      if (operationIds.has(operationId)) throw new Error(`two operations have the id ${operationId}`);
      operationIds.add(operationId);
      operations[method] = operationOf(origin, table, operationId, route);
      paths[path] = operations;
    }
  }
  return paths;
}

function tagsOf(tables: readonly RouteTable[]): Json {
  const tags = tables.flatMap((table) => Object.values(table.routes).map((route) => route.tag));
  return [...new Set(tags)].map((name) => {
    const description = tagDescriptions[name];
    return description === undefined ? { name } : { name, description };
  });
}

/** The errors that any operation can answer, by rising code. */
function allErrorsOf(tables: readonly RouteTable[]): ErrorName[] {
  const slugs = new Set(
    tables.flatMap((table) => Object.values(table.routes).flatMap((route) => errorsOf(table, route))),
  );
  return [...slugs].sort((left, right) => errorCatalogue[left].code - errorCatalogue[right].code);
}

function operationOf(origin: string, table: RouteTable, operationId: string, route: Route): JsonObject {
  const hasKey = needsKey(table, route);
  const scopes = hasKey ? ` Permission: ${route.permissions.join(' or ')}.` : '';
  const example = operationExamples(origin)[operationId];
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    description: `${route.description ?? `${route.summary}.`}${scopes}${endOf(route)}`,
    ...(route.deprecation === undefined ? {} : { deprecated: true }),
    security: hasKey ? [{ [keyScheme]: [] }] : [],
    ...parametersOf(table, route, example),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: plainSchema(route.body),
                ...(example?.body === undefined ? {} : { example: example.body }),
              },
            },
          },
        }),
    responses: responsesOf(origin, table, [operationId, route], example),
    'x-errors': errorsOf(table, route).map((slug) => {
      const { code, retryable } = errorCatalogue[slug];
      return { code, slug, http: statusOf(table, slug), retryable };
    }),
  };
}

function endOf({ deprecation }: Route): string {
  return deprecation === undefined ? '' : ` ${deprecationText(deprecation)}`;
}

function parametersOf(table: RouteTable, route: Route, example: OperationExample | undefined): JsonObject {
  const parameters: Json[] = [
    ...parametersIn('path', route.params, example?.params ?? {}),
    ...parametersIn('query', route.query, example?.query ?? {}),
    ...parametersIn('header', route.headers, {}),
    ...(takesIdempotencyKey(table, route) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

function parametersIn(
  place: 'path' | 'query' | 'header',
  schema: Route['params'],
  examples: Readonly<Record<string, Json>>,
): Json[] {
  return Object.entries(schema?.properties ?? {}).map(([name, member]) => {
    const example = examples[name];
    return {
      name,
      in: place,
      required: place === 'path' || (schema?.required?.includes(name) ?? false),
      schema: plainSchema(member),
      ...(example === undefined ? {} : { example }),
    };
  });
}

function responsesOf(
  origin: string,
  table: RouteTable,
  [operationId, route]: readonly [string, Route],
  given: OperationExample | undefined,
): JsonObject {
  const data = given?.data;
  const byStatus = Map.groupBy(errorsOf(table, route), (slug) => statusOf(table, slug));
  const business = byStatus.get(200) ?? [];
  const success = data === undefined ? {} : { example: successBody(table.shape, data) };
  const headers = {
    ...(takesIdempotencyKey(table, route)
      ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } }
      : {}),
    ...endHeadersOf(route),
  };
  const responses: Record<string, Json> = {
    '200': answer(
      business.length === 0 ? 'Success.' : `Success, or one of: ${codesText(business)}.`,
      {
        // The title names the result in generated clients.
        schema: oneOf([
          {
            title: `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Success`,
            ...successSchema(table, route.reply),
          },
          ...failureRefs(business),
        ]),
        ...success,
      },
      headers,
    ),
  };
  for (const [status, step] of Object.entries(route.steps ?? {})) {
    responses[status] = stepAnswer(table, route, step, given?.steps?.[status]);
  }
  for (const [status, names] of [...byStatus].filter(([http]) => http !== 200).sort(([a], [b]) => a - b)) {
    const examples = Object.fromEntries(names.map((slug) => [slug, { value: failureExample(origin, slug) }]));
    const waits = [409, 429, 503].includes(status);
    responses[String(status)] = answer(
      codesText(names),
      { schema: oneOf(failureRefs(names)), examples },
      {
        ...(waits ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}),
        ...endHeadersOf(route),
      },
    );
  }
  return responses;
}

/** One of several schemas; one alone needs no composition. */
function oneOf(schemas: readonly JsonObject[]): JsonObject {
  const [first, ...others] = schemas;
  return first === undefined || others.length > 0 ? { oneOf: schemas } : first;
}

/** The headers that announce an operation's end. */
function endHeadersOf({ deprecation }: Route): JsonObject {
  if (deprecation === undefined) return {};
  const { deprecation: since = '', sunset = '' } = deprecationHeaders(deprecation);
  return {
    Deprecation: { description: 'Deprecated since (RFC 9745)', schema: { type: 'string' }, example: since },
    Sunset: {
      description: 'May be removed from then on (RFC 8594)',
      schema: { type: 'string' },
      example: sunset,
    },
  };
}

function stepAnswer(table: RouteTable, route: Route, step: RouteStep, example: Json | undefined): JsonObject {
  const schema =
    step.body === undefined ? successSchema(table, step.reply ?? route.reply) : plainSchema(step.body);
  const headers = Object.entries(step.headers).map(([name, description]): [string, Json] => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const content = example === undefined ? { schema } : { schema, example };
  return answer(step.description, content, Object.fromEntries(headers));
}

/** The whole body of a successful answer, in its interface's shape. */
export function successBody(shape: RouteTable['shape'], data: Json): JsonObject {
  const wrapped = { code: 0, message: 'success', data };
  if (shape === 'envelope') return wrapped;
  if (!isObject(data)) throw new TypeError('a superset reply needs an object');
  return { ...wrapped, ...data };
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function codesText(slugs: readonly ErrorName[]): string {
  return slugs
    .map((slug) => errorCatalogue[slug])
    .map(({ code, text }) => `${code} ${text}`)
    .join('; ');
}

function answer(description: string, content: JsonObject, headers: JsonObject): JsonObject {
  return {
    description,
    headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' }, ...headers },
    content: { 'application/json': content },
  };
}

function successSchema(table: RouteTable, reply: Route['reply']): JsonObject {
  const data = plainSchema(reply);
  const wrapped: JsonObject = {
    type: 'object',
    required: ['code', 'message', 'data'],
    properties: { code: { type: 'integer', const: 0 }, message: { type: 'string' }, data },
  };
  // The view's members repeat beside the envelope.
  return table.shape === 'superset' ? { allOf: [wrapped, data] } : wrapped;
}

/** What a receiver gets: the same envelope for every event type. */
function eventOperation(origin: string): JsonObject {
  return {
    operationId: 'receiveEvent',
    tags: ['Webhooks'],
    summary: 'A notification, as it is posted to a webhook',
    description:
      `Signed by the headers webhook-id, webhook-timestamp and webhook-signature; see ${origin}/docs/webhooks. Any ` +
      '2xx status within 15 seconds counts as received; anything else is retried.',
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Event' },
          example: eventExample(origin),
        },
      },
    },
    responses: { '2XX': { description: 'Received.' } },
  };
}
