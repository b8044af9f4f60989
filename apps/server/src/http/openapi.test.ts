import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { errorCatalogue } from '@florin/protocol/error.ts';
import { eventTypes } from '@florin/protocol/event.ts';
import { eventFixture } from '@florin/protocol/event-fixture.ts';
import { failureExample } from '@florin/protocol/example.ts';
import { eventExample } from '@florin/protocol/example-event.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { deepOnly } from '../../test/harness/deep-only.ts';

const origin = 'https://pay.example.com';
const document = JSON.parse(
  JSON.stringify(openApiDocument({ origin, tables: [merchantApi, agentApi, x402Api] })),
) as Document;

interface Operation {
  operationId: string;
  security: unknown[];
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>;
}

interface BodySchema {
  readonly properties?: Record<string, BodySchema>;
  readonly additionalProperties?: unknown;
  readonly items?: BodySchema;
  readonly anyOf?: readonly BodySchema[];
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

// proves S4.1, S9.1
test('the document has every route of every table under its path and method', () => {
  const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort();
  const declared = [merchantApi, agentApi, x402Api]
    .flatMap((table) =>
      Object.values(table.routes).map(
        ({ method, path }) => `${method} ${table.basePath}${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      ),
    )
    .sort();
  assert.deepEqual(described, declared);
  assert.deepEqual(
    [merchantApi, agentApi, x402Api].map(({ basePath }) => basePath),
    ['/payment/v1', '/aipay/api/v1', '/aipay/x402'],
  );
});

/** The places where a body accepts fields that the documents do not name. */
function openPlaces(schema: BodySchema, place: string): string[] {
  const own = schema.properties !== undefined && schema.additionalProperties !== false ? [place] : [];
  const members = Object.entries(schema.properties ?? {});
  return [
    ...own,
    ...members.flatMap(([name, member]) => openPlaces(member, `${place}.${name}`)),
    ...(schema.items === undefined ? [] : openPlaces(schema.items, `${place}[]`)),
    ...(schema.anyOf ?? []).flatMap((branch) => openPlaces(branch, place)),
  ];
}

// proves W1.30
test('no body accepts unnamed fields at any depth, except the metadata of a session', () => {
  const tables: RouteTable[] = [merchantApi, agentApi, x402Api];
  const places = tables.flatMap(({ routes }) =>
    Object.values(routes).flatMap(({ path, body }) => (body === undefined ? [] : openPlaces(body, path))),
  );
  assert.deepEqual(places, ['/session/checkout/create.metadata']);
});

test('operation ids are unique, and path parameters are all declared', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    assert.deepEqual(
      (operation.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => name),
      inPath,
    );
  }
});

test(
  'every schema is valid JSON Schema 2020-12 without formats of our own, and every reference resolves',
  deepOnly,
  () => {
    const ajv = new Ajv2020({
      inlineRefs: false,
      strict: true,
      strictTypes: false,
      formats: { uri: true, 'uri-template': true },
    });
    for (const keyword of ['components', 'discriminator']) ajv.addKeyword(keyword);
    ajv.addSchema({ $id: 'florin:/document', components: document.components }, undefined, true, false);
    const schemas = operations.flatMap(({ operation }) => [
      ...Object.values(operation.requestBody?.content ?? {}),
      ...Object.values(operation.responses).flatMap((response) => Object.values(response.content)),
    ]);
    assert.ok(schemas.length > 50);
    for (const { schema } of schemas) {
      const anchored = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"florin:/document#/')) as object;
      assert.doesNotThrow(() => ajv.compile(anchored));
    }
    for (const schema of Object.values(document.components.schemas)) {
      const anchored = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"florin:/document#/')) as object;
      assert.doesNotThrow(() => ajv.compile(anchored));
    }
  },
);

const components = new Ajv2020({ strict: false, validateFormats: false });
components.addSchema({ $id: 'florin:/document', components: document.components }, undefined, true, false);

/** Whether a component describes this answer or event. */
function isValid(component: string, value: unknown): boolean {
  const validate = components.getSchema(`florin:/document#/components/schemas/${component}`);
  return validate?.(value) === true;
}

test('the failures of an operation are those that it can answer, and code and slug of each belong together', () => {
  const read = operations.find(({ operation }) => operation.operationId === 'getSession');
  const schema = read?.operation.responses['200']?.content['application/json']?.schema as {
    oneOf: { title?: string; $ref?: string }[];
  };
  assert.deepEqual(
    schema.oneOf.map(({ title, $ref }) => title ?? $ref?.replace('#/components/schemas/', '')),
    ['GetSessionSuccess', 'SessionNotFoundFailure', 'FieldInvalidFailure', 'QueryFailedFailure'],
  );
  const failure = failureExample(origin, 'session_not_found');
  assert.deepEqual(
    ['Failure', 'SessionNotFoundFailure', 'SessionPaidFailure'].map((name) => isValid(name, failure)),
    [true, true, false],
  );
  assert.equal(isValid('Failure', { ...failure, code: errorCatalogue.session_paid.code }), false);
});

test('an event has the data of its type', () => {
  for (const type of eventTypes) {
    const event = { ...eventExample(origin), type, data: eventFixture(type, origin) };
    assert.equal(isValid('Event', event), true, type);
    assert.equal(isValid('Event', { ...event, data: { nothing: true } }), false, type);
  }
});

test('resources are defined once and referenced', () => {
  const text = JSON.stringify(document.paths);
  for (const name of ['Product', 'PaymentLink', 'PaymentLinkDetail', 'SessionView', 'Webhook', 'Account']) {
    assert.ok(text.includes(`"#/components/schemas/${name}"`), name);
  }
});

test('only public operations need no key, and the others declare 401 and 403', () => {
  for (const { path, operation } of operations) {
    const isPublic = path.startsWith('/aipay/') || path === '/payment/v1/capabilities/all';
    assert.deepEqual(operation.security, isPublic ? [] : [{ apiKey: [] }], path);
    assert.equal('401' in operation.responses && '403' in operation.responses, !isPublic, path);
  }
});

test('each operation lists its codes', () => {
  const cancel = document.paths['/payment/v1/session/checkout/cancel']?.['post'];
  assert.deepEqual(
    Object.entries(cancel?.responses ?? {}).map(([status, { description }]) => [status, description]),
    [
      [
        '200',
        'Success, or one of: 100201 Session not found; 100203 Session expired; 100204 Session already paid; ' +
          '100205 Session cancelled; 100207 Payment already signed; 400101 Invalid field; ' +
          '900202 Updating the record failed.',
      ],
      ['400', '400100 Malformed JSON'],
      ['401', '200101 Missing or malformed Authorization header; 200102 Invalid, expired or revoked API key'],
      ['403', '200103 API key lacks permission'],
      ['409', '400402 A request with this idempotency key is in flight'],
      ['413', '400110 Request body too large'],
      ['415', '400111 Unsupported media type'],
      ['422', '400401 Idempotency key reused with another body'],
      ['429', '900101 Too many requests'],
      ['500', '999999 Internal error'],
    ],
  );
});

test('two operations with one id are refused', () => {
  const again = { ...merchantApi, basePath: '/other' };
  assert.throws(
    () => openApiDocument({ origin, tables: [merchantApi, again] }),
    /two operations have the id/,
  );
});

// proves W1.4
test('documents mark a deprecated operation, with its headers; at present there is none', () => {
  assert.equal(JSON.stringify(document).includes('"deprecated":true'), false);
  const { getCapabilities } = merchantApi.routes;
  const deprecation = {
    sinceSeconds: 1_798_761_600,
    endsAtSeconds: 1_845_979_200,
    instead: 'Use version 2.',
  };
  const table = { ...merchantApi, routes: { getCapabilities: { ...getCapabilities, deprecation } } };
  const { paths } = JSON.parse(JSON.stringify(openApiDocument({ origin, tables: [table] })));
  const operation = paths['/payment/v1/capabilities/all'].get;
  assert.equal(operation.deprecated, true);
  assert.ok(
    operation.description.endsWith('Deprecated since 2027-01-01, and gone after 2028-06-30. Use version 2.'),
  );
  for (const [status, { headers }] of Object.entries<{ headers: Record<string, { example: string }> }>(
    operation.responses,
  )) {
    assert.deepEqual(
      [headers['Deprecation']?.example, headers['Sunset']?.example],
      ['@1798761600', 'Fri, 30 Jun 2028 12:00:00 GMT'],
      status,
    );
  }
});
