import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { deprecationHeaders, leastOverlapSeconds } from '@florin/protocol/deprecation.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { type Route, route } from '@florin/protocol/route.ts';
import { pageParams, successReply, text } from '@florin/protocol/schema.ts';
import Type from 'typebox';
import { systemRandom } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import { envelope, type ReplyShape, supersetEnvelope } from './envelope.ts';
import { rawJson } from './raw-json.ts';
import { requirePermission, routesOf, success } from './route-handler.ts';
import { buildServer } from './server.ts';

const base = { tag: 'Toys', permissions: [], errors: [], effect: 'query' } as const;

const toyBody = Type.Object(
  {
    name: text({ min: 1, max: 5 }),
    lines: Type.Optional(
      Type.Array(Type.Object({ price: Type.Integer({ minimum: 1 }) }, { additionalProperties: false })),
    ),
    site: Type.Optional(Type.Union([Type.Literal(''), Type.String({ format: 'https-url' })])),
    model: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
    extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

const toys = {
  echo: route({
    ...base,
    method: 'POST',
    path: '/toy/echo',
    summary: 'Echo',
    body: toyBody,
    reply: Type.Unknown(),
  }),
  list: route({
    ...base,
    method: 'GET',
    path: '/toy/list/:page/:size',
    summary: 'List',
    params: pageParams,
    reply: Type.Unknown(),
  }),
  one: route({ ...base, method: 'GET', path: '/toy/:toyId', summary: 'One', reply: successReply }),
  create: route({
    ...base,
    effect: 'create',
    method: 'POST',
    path: '/toy/create',
    summary: 'Create',
    body: toyBody,
    reply: successReply,
  }),
  guarded: route({
    ...base,
    permissions: ['products:read'],
    method: 'POST',
    path: '/toy/guarded',
    summary: 'Guarded',
    body: toyBody,
    reply: successReply,
  }),
  ending: route({
    ...base,
    method: 'GET',
    path: '/toy/ending/:page/:size',
    summary: 'Ending',
    params: pageParams,
    deprecation: {
      // 2027-01-01 at midnight, and 2028-06-30 at noon.
      sinceSeconds: 1_798_761_600,
      endsAtSeconds: 1_845_979_200,
      instead: 'Use /toy/list.',
    },
    reply: Type.Unknown(),
  }),
} as const satisfies Record<string, Route>;

function recordingLog(): Log & { readonly errors: unknown[] } {
  const errors: unknown[] = [];
  return { info: () => {}, warn: () => {}, error: (_event, error) => void errors.push(error), errors };
}

async function toyServer(options: { shape?: ReplyShape; fail?: () => unknown; log?: Log } = {}) {
  const fail = async (): Promise<never> => {
    throw options.fail?.() ?? new Refusal('product_not_found', 'prd_x');
  };
  return buildServer({
    log: options.log ?? recordingLog(),
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: false, checks: { database: 'unreachable' } }),
    doors: [
      (server) => {
        const addRoute = routesOf(server, {
          basePath: '/v1',
          shape: options.shape ?? envelope,
          authorize: (_request, declared) => requirePermission(declared, new Set()),
        });
        addRoute(toys.echo, async ({ body, bodyText }) => ({ body, sent: rawJson(bodyText) }));
        addRoute(toys.list, async ({ params }) => params);
        addRoute(toys.one, fail);
        addRoute(toys.create, fail);
        addRoute(toys.guarded, async () => success);
        addRoute(toys.ending, async ({ params }) => params);
      },
    ],
  });
}

const json = { 'content-type': 'application/json' };

test('a success is wrapped in the envelope, and raw JSON stays byte for byte', async () => {
  const server = await toyServer();
  const sent = '{ "name":"a", "extra": {"a":1,"a":2,"big":12345678901234567890,"e":"\\u0041"} }';
  const reply = await server.inject({ method: 'POST', url: '/v1/toy/echo', headers: json, payload: sent });
  assert.equal(reply.statusCode, 200);
  assert.equal(
    reply.body,
    `{"code":0,"message":"success","data":{"body":{"name":"a","extra":{"a":2,"big":12345678901234567000,"e":"A"}},"sent":${sent}}}`,
  );
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
  assert.match(String(reply.headers['request-id']), /^req_[0-9A-Za-z]{22}$/);
  assert.equal(reply.headers['cache-control'], 'no-store');
  assert.equal(reply.headers['x-content-type-options'], 'nosniff');
});

test('every answer of a deprecated operation says since when, and when it ends; others say nothing', async () => {
  const server = await toyServer();
  const told = async (url: string) => {
    const { statusCode, headers } = await server.inject({ url });
    return [statusCode, headers['deprecation'], headers['sunset']];
  };
  const ends = 'Fri, 30 Jun 2028 12:00:00 GMT';
  assert.deepEqual(await told('/v1/toy/ending/1/10'), [200, '@1798761600', ends]);
  assert.deepEqual(await told('/v1/toy/ending/0/10'), [200, '@1798761600', ends]);
  assert.deepEqual(await told('/v1/toy/list/1/10'), [200, undefined, undefined]);
});

test('no operation ends within twelve months of its deprecation', async () => {
  const [sinceSeconds, instead] = [1_798_761_600, ''];
  const declared = (endsAtSeconds: number) => deprecationHeaders({ sinceSeconds, endsAtSeconds, instead });
  const least = sinceSeconds + leastOverlapSeconds;
  assert.equal(declared(least)['sunset'], 'Sun, 02 Jan 2028 00:00:00 GMT');
  assert.throws(() => declared(least - 1), RangeError);
  assert.throws(() => declared(least + 0.5), RangeError);
});

test('the superset shape repeats the members of the view beside the envelope', async () => {
  const server = await toyServer({ shape: supersetEnvelope });
  const reply = await server.inject({ url: '/v1/toy/list/2/10' });
  assert.deepEqual(reply.json(), {
    code: 0,
    message: 'success',
    data: { page: 2, size: 10 },
    page: 2,
    size: 10,
  });
});

test('a refusal is HTTP 200 with its code, slug and request id', async () => {
  const server = await toyServer();
  const reply = await server.inject({ url: '/v1/toy/prd_x' });
  assert.equal(reply.statusCode, 200);
  assert.deepEqual(reply.json(), {
    code: 100301,
    message: 'Product not found: prd_x',
    data: null,
    error: {
      slug: 'product_not_found',
      param: '',
      retryable: false,
      docUrl: 'https://pay.example.com/docs/errors/100301',
      requestId: reply.headers['request-id'],
    },
  });
});

const post = (payload: string | Buffer, headers: Record<string, string> = json) =>
  ({ method: 'POST', url: '/v1/toy/echo', headers, payload }) as const;

const refusals: {
  rule: string;
  request: object;
  status: number;
  code: number;
  message: RegExp;
  param?: string;
}[] = [
  {
    rule: 'an unknown path',
    request: { url: '/v1/nothing' },
    status: 404,
    code: 404000,
    message: /Unknown route: GET \/v1\/nothing/,
  },
  {
    rule: 'an unknown path with any body',
    request: { method: 'POST', url: '/nothing', payload: 'x', headers: { 'content-type': 'text/plain' } },
    status: 404,
    code: 404000,
    message: /Unknown route/,
  },
  {
    rule: 'a path that cannot be decoded',
    request: { url: '/v1/toy/%zz' },
    status: 404,
    code: 404000,
    message: /Unknown route/,
  },
  {
    rule: 'another method on a known path',
    request: { method: 'GET', url: '/v1/toy/echo' },
    status: 405,
    code: 405000,
    message: /GET; allowed: POST/,
  },
  {
    rule: 'another method with any body',
    request: { method: 'PUT', url: '/v1/toy/abc', payload: 'x', headers: { 'content-type': 'text/plain' } },
    status: 405,
    code: 405000,
    message: /PUT; allowed: GET, HEAD/,
  },
  {
    rule: 'a POST without a body',
    request: { method: 'POST', url: '/v1/toy/echo' },
    status: 400,
    code: 400100,
    message: /the body is empty/,
  },
  {
    rule: 'an empty JSON body',
    request: { method: 'POST', url: '/v1/toy/echo', headers: json },
    status: 400,
    code: 400100,
    message: /the body is empty/,
  },
  {
    rule: 'a body without a content type',
    request: post('{"name":"a"}', { 'content-type': '' }),
    status: 415,
    code: 400111,
    message: /Unsupported media type/,
  },
  {
    rule: 'a body of another type',
    request: post('name=a', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 415,
    code: 400111,
    message: /Unsupported media type/,
  },
  {
    rule: 'a compressed body',
    request: post('{"name":"a"}', { ...json, 'content-encoding': 'gzip' }),
    status: 415,
    code: 400111,
    message: /Content-Encoding/,
  },
  {
    rule: 'a body that is not JSON',
    request: post('{"name":'),
    status: 400,
    code: 400100,
    message: /the body is not JSON/,
  },
  {
    rule: 'invalid UTF-8',
    request: post(Buffer.from([0x7b, 0xff, 0x7d])),
    status: 400,
    code: 400100,
    message: /not valid UTF-8/,
  },
  {
    rule: 'nesting beyond 16',
    request: post(`{"extra":${'['.repeat(16)}${']'.repeat(16)}}`),
    status: 400,
    code: 400100,
    message: /nested deeper than 16/,
  },
  {
    rule: 'a body over 256 KiB',
    request: post(JSON.stringify({ name: 'x'.repeat(256 * 1024) })),
    status: 413,
    code: 400110,
    message: /at most 262144 bytes/,
  },
  {
    rule: 'a body that is no object',
    request: post('[]'),
    status: 200,
    code: 400101,
    message: /^Invalid field: body must be an object$/,
    param: 'body',
  },
  {
    rule: 'a missing field',
    request: post('{}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: name is required$/,
    param: 'name',
  },
  {
    rule: 'an unknown field',
    request: post('{"name":"a","nme":1}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: nme is not a known field$/,
    param: 'nme',
  },
  {
    rule: 'an unknown nested field',
    request: post('{"name":"a","lines":[{"price":1,"cost":2}]}'),
    status: 200,
    code: 400101,
    message: /lines\[0\]\.cost is not a known field/,
    param: 'lines[0].cost',
  },
  {
    rule: '__proto__ as a field',
    request: post('{"name":"a","__proto__":{"site":"x"}}'),
    status: 200,
    code: 400101,
    message: /__proto__ is not a known field/,
    param: '__proto__',
  },
  {
    rule: 'an inherited name for a required field',
    request: post('{"__proto__":{"name":"a"}}'),
    status: 200,
    code: 400101,
    message: /name is required/,
    param: 'name',
  },
  {
    rule: 'a number out of range',
    request: post('{"name":"a","lines":[{"price":0}]}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: lines\[0\]\.price must be at least 1$/,
    param: 'lines[0].price',
  },
  {
    rule: 'a fraction for an integer',
    request: post('{"name":"a","lines":[{"price":1.5}]}'),
    status: 200,
    code: 400101,
    message: /must be an integer/,
    param: 'lines[0].price',
  },
  {
    rule: 'a text that is too long in code points',
    request: post('{"name":"😀😀😀😀😀😀"}'),
    status: 200,
    code: 400101,
    message: /name must have at most 5 characters/,
    param: 'name',
  },
  {
    rule: 'NUL in a text',
    request: post('{"name":"a\\u0000"}'),
    status: 200,
    code: 400101,
    message: /name must be text without NUL/,
    param: 'name',
  },
  {
    rule: 'a lone surrogate',
    request: post('{"name":"\\ud800"}'),
    status: 200,
    code: 400101,
    message: /unpaired surrogates/,
    param: 'name',
  },
  {
    rule: 'a URL with credentials',
    request: post('{"name":"a","site":"https://u:p@x.com"}'),
    status: 200,
    code: 400101,
    message: /site must be "" or an https URL/,
    param: 'site',
  },
  {
    rule: 'a choice outside the list',
    request: post('{"name":"a","model":3}'),
    status: 200,
    code: 400101,
    message: /model must be 1 or 2/,
    param: 'model',
  },
  {
    rule: 'page 0',
    request: { url: '/v1/toy/list/0/10' },
    status: 200,
    code: 400101,
    message: /page must be at least 1/,
    param: 'page',
  },
  {
    rule: 'size 101',
    request: { url: '/v1/toy/list/1/101' },
    status: 200,
    code: 400101,
    message: /size must be at most 100/,
    param: 'size',
  },
  {
    rule: 'a page that is not plain digits',
    request: { url: '/v1/toy/list/1e3/10' },
    status: 200,
    code: 400101,
    message: /page must be an integer/,
    param: 'page',
  },
  {
    rule: 'a missing permission',
    request: { method: 'POST', url: '/v1/toy/guarded' },
    status: 403,
    code: 200103,
    message: /products:read/,
  },
];

for (const { rule, request, status, code, message, param = '' } of refusals) {
  test(`${rule} is refused with ${code}`, async () => {
    const server = await toyServer();
    const reply = await server.inject(request);
    const answer = reply.json();
    assert.deepEqual(
      { status: reply.statusCode, code: answer.code, data: answer.data, param: answer.error.param },
      { status, code, data: null, param },
    );
    assert.match(answer.message, message);
    assert.equal(answer.error.requestId, reply.headers['request-id']);
    assert.equal(reply.headers['cache-control'], 'no-store');
    if (status === 405) assert.ok(String(reply.headers['allow']).length > 0);
  });
}

test('five astral characters fit a text of five', async () => {
  const server = await toyServer();
  const reply = await server.inject(post('{"name":"😀😀😀😀😀"}'));
  assert.equal(reply.json().code, 0);
});

test('a bug is answered generically and logged in full', async () => {
  const log = recordingLog();
  const bug = new Error('select secret from somewhere');
  const server = await toyServer({ log, fail: () => bug });
  const reply = await server.inject({ url: '/v1/toy/1' });
  const answer = reply.json();
  assert.deepEqual(
    [reply.statusCode, answer.code, answer.message, answer.data, answer.error.slug],
    [500, 999999, 'Internal error', null, 'internal'],
  );
  assert.deepEqual(log.errors, [bug]);
});

const outages: [string, () => Error][] = [
  [
    'a refused connection',
    () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  ],
  ['a shutdown of the server', () => Object.assign(new Error('terminating'), { code: '57P01' })],
  ['a connection lost', () => new Error('Connection terminated unexpectedly')],
];
for (const [rule, fail] of outages) {
  test(`${rule} is answered as retryable, by what the route does`, async () => {
    const server = await toyServer({ fail });
    const read = await server.inject({ url: '/v1/toy/1' });
    const created = await server.inject({
      method: 'POST',
      url: '/v1/toy/create',
      headers: json,
      payload: '{"name":"a"}',
    });
    assert.deepEqual(
      [read.json().code, read.json().error.retryable, created.json().code, created.json().error.retryable],
      [900203, true, 900201, true],
    );
  });
}

test('a wrong column is a bug, not an outage', async () => {
  const server = await toyServer({ fail: () => Object.assign(new Error('no column'), { code: '42703' }) });
  assert.equal((await server.inject({ url: '/v1/toy/1' })).json().code, 999999);
});

test('liveness is always 200, readiness follows what the service says', async () => {
  const server = await toyServer();
  const [live, ready] = await Promise.all([server.inject('/health/live'), server.inject('/health/ready')]);
  assert.deepEqual([live.statusCode, live.json()], [200, { status: 'ok' }]);
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [503, { status: 'not_ready', checks: { database: 'unreachable' } }],
  );
});

const broken: [rule: string, bytes: string, status: string, code: number][] = [
  ['bytes that are no HTTP request', 'NONSENSE\r\n\r\n', '400 Bad Request', 400100],
  [
    'addresses that are too long',
    `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    '431 Request Header Fields Too Large',
    400101,
  ],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    400101,
  ],
];
for (const [rule, bytes, status, code] of broken) {
  test(`${rule} get the envelope too`, async () => {
    const server = await toyServer();
    await server.listen({ port: 0, host: '127.0.0.1' });
    try {
      const port = Number(new URL(server.listeningOrigin).port);
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
        let received = '';
        socket.on('data', (chunk) => {
          received += chunk.toString();
        });
        socket.on('end', () => resolve(received));
        socket.on('error', reject);
      });
      assert.ok(answer.startsWith(`HTTP/1.1 ${status}\r\n`), answer);
      assert.match(answer, /\r\nRequest-Id: req_/);
      assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).code, code);
    } finally {
      await server.close();
    }
  });
}
