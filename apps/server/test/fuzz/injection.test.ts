import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { buildServer } from '#http/server.ts';
import { systemRandom } from '#outside/random.ts';
import { logCorpus, sqlCorpus } from './corpus.ts';
import { type Operation, operations, pathOf } from './operation.ts';
import type { FuzzRequest } from './request.ts';
import { sampleBodies, textPlacesOf, withText } from './sample-body.ts';
import type { JsonSchema } from './schema-arbitrary.ts';
import { fuzzFactor } from './seed.ts';
import { type Exchange, Target } from './target.ts';

let target: Target;
before(async () => {
  target = await Target.open();
});
after(() => target.close());

const json = { 'content-type': 'application/json' };
const samplePath: Readonly<Record<string, string>> = {
  accountId: '@@account:2@@',
  linkId: '@@link:2@@',
  sessionId: '@@session:2@@',
  webhookId: '@@webhook:2@@',
  eventId: '@@event:2@@',
  refundId: '@@refund:2@@',
  reportId: '@@report:2@@',
  page: '1',
  size: '10',
};

/** One text field of one operation, and the request with a given text in it. */
interface TextField {
  readonly operation: Operation;
  readonly name: string;
  request(text: string): FuzzRequest;
}

function bodyFields(operation: Operation): TextField[] {
  const { id, route } = operation;
  const sample = sampleBodies[id];
  if (sample === undefined) return [];
  return textPlacesOf(sample).map((place) => ({
    operation,
    name: place.join('.'),
    request: (text) => ({
      method: route.method,
      path: route.path,
      headers: json,
      payload: JSON.stringify(withText(sample, place, text)),
    }),
  }));
}

function addressFields(operation: Operation): TextField[] {
  const { route } = operation;
  const field = (name: string, path: (text: string) => string): TextField => ({
    operation,
    name,
    request: (text) => ({ method: route.method, path: path(text), headers: {}, payload: undefined }),
  });
  const params = Object.entries<JsonSchema>(route.params?.properties ?? {})
    .filter(([, schema]) => schema.type === 'string')
    .map(([name]) => name);
  const query = Object.keys(route.query?.properties ?? {});
  return [
    ...params.map((name) => field(`:${name}`, (text) => pathOf(route, { ...samplePath, [name]: text }))),
    ...query.map((name) => field(`?${name}`, (text) => pathOf(route, samplePath, { [name]: text }))),
  ];
}

const textFields = operations.flatMap((operation) => [...bodyFields(operation), ...addressFields(operation)]);

async function judged(request: FuzzRequest): Promise<Exchange> {
  const exchange = await target.send(request);
  assert.deepEqual(target.judge(exchange), [], `${JSON.stringify(exchange.sent)} -> ${exchange.text}`);
  return exchange;
}

/** The stored form of the object that a request has created or replaced. */
async function stored(operation: Operation, exchange: Exchange): Promise<string> {
  const body = JSON.parse(String(exchange.sent.payload)) as Record<string, string>;
  const get = async (path: string) =>
    (await judged({ method: 'GET', path, headers: {}, payload: undefined })).text;
  switch (operation.id) {
    case 'updateProduct': {
      const payload = JSON.stringify({ productIds: [body['productId']] });
      return (await judged({ method: 'POST', path: '/product/list/by/ids', headers: json, payload })).text;
    }
    case 'updateLink':
      return get(`/payment/link/${body['linkId']}`);
    case 'updateBranding':
      return get('/branding/detail');
    case 'updateWebhook':
      return get(`/webhook/detail/${body['webhookId']}`);
    case 'createWebhook': {
      // The limit is ten.
      const { webhookId } = (JSON.parse(exchange.text) as { data: { webhookId: string } }).data;
      const payload = JSON.stringify({ webhookId });
      await judged({ method: 'POST', path: '/webhook/remove', headers: json, payload });
      return exchange.text;
    }
    default:
      return exchange.text;
  }
}

/**
 * A time that must equal the stored one takes no other text, and would refuse the rest of a sample. So would an exception
 * in `createRefund`; other samples have one.
 */
const guardFields = new Set(['ifUpdateAt', 'ifMerchantName', 'exceptionId']);

/** The names of all texts in a schema. */
function textNamesOf(schema: JsonSchema, name: string): string[] {
  if (guardFields.has(name)) return [];
  if (schema.type === 'string' && schema.const === undefined) return [name];
  const members = Object.entries(schema.properties ?? {});
  return [
    ...members.flatMap(([key, member]) => textNamesOf(member, key)),
    ...(schema.anyOf ?? []).flatMap((branch) => textNamesOf(branch, name)),
    ...(schema.items === undefined ? [] : textNamesOf(schema.items, '0')),
  ];
}

test('the samples contain every text field of every operation', () => {
  const missing = operations.flatMap(({ id, route }) => {
    if (route.body === undefined) return [];
    const known = new Set(textPlacesOf(sampleBodies[id]).map((place) => place.at(-1)));
    return textNamesOf(route.body as JsonSchema, '')
      .filter((name) => !known.has(name))
      .map((name) => `${id}.${name}`);
  });
  assert.deepEqual(missing, []);
});

/**
 * `npm test` puts every sixteenth text into each field, so that each text reaches many fields. A longer run puts all
 * texts.
 */
const portion = fuzzFactor === 1 ? 16 : 1;
const textsFor = (corpus: readonly string[], fieldIndex: number): readonly string[] =>
  corpus.filter((_, index) => (fieldIndex + index) % portion === 0);

test('SQL in any text is stored unchanged or refused, and damages no table and no row', async (t) => {
  const before = await target.journal.tables();
  let requests = 0;
  let kept = 0;
  for (const [index, field] of textFields.entries()) {
    for (const text of textsFor(sqlCorpus, index)) {
      const exchange = await judged(field.request(text));
      requests += 1;
      if (field.operation.route.effect === 'query' || !exchange.text.startsWith('{"code":0,')) continue;
      kept += 1;
      const shown = await stored(field.operation, exchange);
      assert.ok(
        // A name loses the spaces around it.
        shown.includes(JSON.stringify(text)) || shown.includes(JSON.stringify(text.trim())),
        `${field.operation.id} ${field.name}: ${text} -> ${shown}`,
      );
    }
  }
  t.diagnostic(
    `${sqlCorpus.length} texts in ${textFields.length} fields: ${requests} requests, ${kept} stored verbatim`,
  );
  const after = await target.journal.tables();
  assert.deepEqual(Object.keys(after), Object.keys(before));
  const lost = Object.entries(before).filter(([table, rows]) => (after[table] ?? 0) < rows);
  assert.deepEqual(lost, []);
  assert.ok(kept > 1_000 / portion);
});

test('SQL in headers changes nothing', async () => {
  const names = ['idempotency-key', 'user-agent', 'x-forwarded-for', 'origin'];
  const texts = sqlCorpus.filter((candidate) => /^[ -~]+$/.test(candidate));
  for (const [index, text] of texts.entries()) {
    // In `npm test` each text is in one of them.
    for (const name of names.filter((_, at) => fuzzFactor > 1 || at === index % names.length)) {
      const payload = JSON.stringify(sampleBodies['listProductsByIds']);
      await judged({
        method: 'POST',
        path: '/product/list/by/ids',
        headers: { ...json, [name]: text },
        payload,
      });
    }
    const headers = { authorization: `Bearer sk_live_${text}` };
    const refused = await target.send({ method: 'GET', path: '/account/list', headers, payload: undefined });
    assert.deepEqual([refused.status, refused.changes], [401, []]);
  }
});

test('the log has one line per request with the pattern of its path, and nothing that a client sent', async () => {
  const lines: [string, Record<string, unknown>][] = [];
  const log = {
    info: (event: string, fields: Record<string, unknown> = {}) => void lines.push([event, fields]),
    warn: (event: string, fields: Record<string, unknown> = {}) => void lines.push([event, fields]),
    error: (event: string, error: unknown) => void lines.push([event, { error }]),
  };
  const { deps } = target.world;
  const server = await buildServer({
    log,
    random: systemRandom,
    origin: deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor(deps)],
  });
  const patterns = new Set(['', ...operations.map(({ route }) => merchantApi.basePath + route.path)]);
  let requests = 0;
  for (const [index, field] of textFields.entries()) {
    for (const text of textsFor(logCorpus, index)) {
      const { method, path, headers, payload } = field.request(text);
      await server.inject({
        method,
        url: merchantApi.basePath + target.resolve(path),
        headers: {
          ...headers,
          authorization: `Bearer ${target.own.key}`,
          'user-agent': encodeURIComponent(text),
          'x-request-id': encodeURIComponent(text),
        },
        ...(payload === undefined ? {} : { payload: target.resolve(String(payload)) }),
      });
      requests += 1;
    }
  }
  await server.close();
  assert.equal(lines.length, requests);
  for (const [event, fields] of lines) {
    assert.equal(event, 'http_request');
    assert.deepEqual(Object.keys(fields).sort(), ['durationMs', 'method', 'requestId', 'route', 'status']);
    assert.ok(patterns.has(String(fields['route'])));
    assert.match(JSON.stringify(fields), /^[ -~]+$/);
    assert.ok(!JSON.stringify(fields).includes('forged'));
  }
});
