import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { exampleOrigin, operationExamples } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { Route } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { deepOnly } from '../../../test/harness/deep-only.ts';

type Media = Record<
  string,
  { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }
>;

interface Parameter {
  $ref?: string;
  name?: string;
  in?: string;
  schema?: object;
  example?: unknown;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Media };
  responses: Record<string, { content?: Media }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  tags: { name: string; description?: string }[];
  components: { schemas: Record<string, object>; parameters: Record<string, Parameter> };
}

const tables = [merchantApi, agentApi, x402Api] as const;
const routes: [string, Route][] = tables.flatMap((table) => Object.entries<Route>(table.routes));
const document = JSON.parse(
  JSON.stringify(openApiDocument({ origin: exampleOrigin, tables })),
) as unknown as Document;
const operations = [document.paths, document.webhooks].flatMap((group) =>
  Object.values(group).flatMap((methods) => Object.values(methods)),
);

const ajv = new Ajv2020({
  inlineRefs: false,
  strict: true,
  strictTypes: false,
  formats: {
    uri: (text: string) => URL.canParse(text),
    'uri-template': (text: string) => URL.canParse(text),
  },
});
for (const keyword of ['components', 'discriminator']) ajv.addKeyword(keyword);
ajv.addSchema({ $id: 'florin:/document', components: document.components }, undefined, true, false);

const compiled = new Map<string, ValidateFunction>();

/** The schema errors of a value; none without errors. */
function complaints(schema: object, value: unknown): unknown {
  const anchored = JSON.stringify(schema).replaceAll('"#/', '"florin:/document#/');
  const validate = compiled.get(anchored) ?? ajv.compile(JSON.parse(anchored) as object);
  compiled.set(anchored, validate);
  validate(value);
  return validate.errors ?? [];
}

test('every operation has an example, and every example an operation', () => {
  assert.deepEqual(Object.keys(operationExamples(exampleOrigin)).sort(), routes.map(([id]) => id).sort());
});

test('every operation has a summary, a description that says more, and a described tag', () => {
  assert.deepEqual(
    routes.filter(([, route]) => route.description === undefined).map(([id]) => id),
    [],
  );
  assert.deepEqual(
    document.tags.filter(({ description }) => description === undefined),
    [],
  );
  for (const { operationId, summary, description, tags } of operations) {
    assert.ok(summary !== '' && description !== '' && tags.length === 1, operationId);
  }
});

test('every example of a request validates against its schema', () => {
  for (const { operationId, parameters = [], requestBody } of operations) {
    for (const { name, schema, example } of parameters.filter((each) => each.in === 'path')) {
      assert.deepEqual(complaints(schema ?? {}, example), [], `${operationId} ${name}`);
    }
    for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
      assert.notEqual(example, undefined, operationId);
      assert.deepEqual(complaints(schema, example), [], operationId);
    }
  }
});

test('every example of an answer validates against its schema, failures included', () => {
  for (const { operationId, responses } of operations) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const { schema, example, examples = {} } of Object.values(content)) {
        const values = [example, ...Object.values(examples).map(({ value }) => value)].filter(
          (value) => value !== undefined,
        );
        assert.ok(values.length > 0, `${operationId} ${status}`);
        for (const value of values)
          assert.deepEqual(complaints(schema, value), [], `${operationId} ${status}`);
      }
    }
  }
});

test('examples have no members that their schema does not describe', deepOnly, () => {
  const examples = operationExamples(exampleOrigin);
  const lenient = new Ajv2020({ strict: false, validateFormats: false });
  for (const [id, route] of routes) {
    const closed = JSON.parse(JSON.stringify(route.reply), (key, value: unknown) =>
      key !== 'properties' && isObjectSchema(value) ? { ...value, additionalProperties: false } : value,
    ) as object;
    const validate = lenient.compile(closed);
    validate(examples[id]?.data);
    assert.deepEqual(validate.errors ?? [], [], id);
  }
});

function isObjectSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}

test('every POST of the merchant API accepts an Idempotency-Key, and no other operation does', () => {
  const takers = operations.filter(({ parameters = [] }) =>
    parameters.some(({ $ref }) => $ref === '#/components/parameters/Idempotency-Key'),
  );
  const posts = Object.entries<Route>(merchantApi.routes).filter(([, { method }]) => method === 'POST');
  assert.deepEqual(takers.map(({ operationId }) => operationId).sort(), posts.map(([id]) => id).sort());
});

/** The specification's own list: these endpoints stay, regardless of additions. */
const specified = `
POST /product/create
POST /product/update
GET /product/list/:page/:size
POST /product/list/by/ids
POST /product/archive
POST /product/unarchive
POST /product/remove
GET /account/detail/:accountId
GET /account/list
POST /payment/link/create
POST /payment/link/update
POST /payment/link/disable
POST /payment/link/enable
GET /payment/link/:linkId
GET /payment/link/list/:page/:size
POST /session/checkout/create
POST /session/checkout/cancel
GET /session/:sessionId
GET /session/list/all/:page/:size
GET /session/list/paid/:page/:size
GET /session/list/settling/:page/:size
GET /session/list/completed/:page/:size
GET /session/list/cancelled/:page/:size
GET /session/list/settlement/pending/:page/:size
POST /webhook/create
POST /webhook/update
GET /webhook/list
GET /webhook/detail/:webhookId
POST /webhook/disable
POST /webhook/enable
POST /webhook/key/refresh
POST /webhook/remove`;
const specifiedForAgents = `
GET /payment/link/:linkId
POST /payment/session/create
GET /session/:sessionId
POST /payment/prepare`;

// proves S4.1
test('every endpoint of the specification exists under its method and path', () => {
  for (const [table, text] of [
    [merchantApi, specified],
    [agentApi, specifiedForAgents],
  ] as const) {
    const declared = new Set(
      Object.values<Route>(table.routes).map(({ method, path }) => `${method} ${path}`),
    );
    assert.deepEqual(
      text
        .trim()
        .split('\n')
        .filter((endpoint) => !declared.has(endpoint)),
      [],
    );
  }
});

// proves S1.4
test('no operation changes collection accounts', () => {
  const changing = Object.values<Route>(merchantApi.routes).filter(
    ({ tag, path, method }) => (tag === 'Accounts' || path.startsWith('/account/')) && method !== 'GET',
  );
  assert.deepEqual(changing, []);
});

// proves S1.5
test('the AI protocol requires no key, and a signature for each change', () => {
  assert.equal(agentApi.security, 'none');
  for (const [id, { method, effect, permissions, body }] of Object.entries<Route>(agentApi.routes)) {
    assert.deepEqual(permissions, [], id);
    const { required = [] } = (body ?? {}) as { required?: readonly string[] };
    assert.deepEqual(
      [effect !== 'query', required.includes('signature')],
      Array(2).fill(method === 'POST'),
      id,
    );
  }
});

/** Clients are generated from these names: a published id stays. */
const publishedIds = [
  'archiveProduct',
  'cancelCheckoutSession',
  'createCheckoutSession',
  'createLink',
  'createPaymentSession',
  'createProduct',
  'createWebhook',
  'disableLink',
  'disableWebhook',
  'enableLink',
  'enableWebhook',
  'getAccount',
  'getCapabilities',
  'getLink',
  'getPaymentLink',
  'getPaymentSession',
  'getSession',
  'getWebhook',
  'listAccounts',
  'listCancelledSessions',
  'listCompletedSessions',
  'listExpiredSessions',
  'listInitializedSessions',
  'listLinks',
  'listPaidSessions',
  'listProducts',
  'listProductsByIds',
  'listSessions',
  'listSettlementPendingSessions',
  'listSettlingSessions',
  'listWebhooks',
  'preparePayment',
  'refreshWebhookKey',
  'removeProduct',
  'removeWebhook',
  'unarchiveProduct',
  'updateLink',
  'updateProduct',
  'updateWebhook',
];

test('operation ids stay as published', () => {
  const ids = new Set(routes.map(([id]) => id));
  assert.deepEqual(
    publishedIds.filter((id) => !ids.has(id)),
    [],
  );
});
