import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { deprecationHeaders, leastOverlapSeconds } from '@florin/protocol/deprecation.ts';
import { systemRandom } from '#outside/random.ts';
import { json, recordingLog, toyServer } from '../../test/harness/toy-server.ts';
import { supersetEnvelope } from './envelope.ts';
import { buildServer } from './server.ts';

// proves S7.1
test('a success is wrapped in the envelope, and raw JSON stays byte for byte', async () => {
  const server = await toyServer();
  const sent = '{ "name":"a", "extra": {"a":2,"big":12345678901234567890,"e":"\\u0041"} }';
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

// proves W1.4
test('every answer of a deprecated operation names its deprecation and end; other answers do not', async () => {
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

// proves W1.4
test('no operation ends within twelve months of its deprecation', async () => {
  const [sinceSeconds, instead] = [1_798_761_600, ''];
  const declared = (endsAtSeconds: number) => deprecationHeaders({ sinceSeconds, endsAtSeconds, instead });
  const least = sinceSeconds + leastOverlapSeconds;
  assert.equal(declared(least)['sunset'], 'Sun, 02 Jan 2028 00:00:00 GMT');
  assert.throws(() => declared(least - 1), RangeError);
  assert.throws(() => declared(least + 0.5), RangeError);
});

// proves S4.28
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

// proves S7.1, S7.2, W1.24
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
      remedy: 'Check the ids.',
      docUrl: 'https://pay.example.com/docs/errors/100301',
      requestId: reply.headers['request-id'],
    },
  });
});

// proves W7.7
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
  // proves W1.24, W7.7
  [
    'a refused connection',
    () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  ],
  ['a shutdown of the server', () => Object.assign(new Error('terminating'), { code: '57P01' })],
  ['a connection lost', () => new Error('Connection terminated unexpectedly')],
];
for (const [rule, fail] of outages) {
  test(`${rule} is answered as retryable, by the effect of the route`, async () => {
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
    assert.deepEqual([read.headers['retry-after'], created.headers['retry-after']], ['5', '5']);
  });
}

// proves W7.7
test('a wrong column is a bug, not an outage', async () => {
  const server = await toyServer({ fail: () => Object.assign(new Error('no column'), { code: '42703' }) });
  assert.equal((await server.inject({ url: '/v1/toy/1' })).json().code, 999999);
});

test('every request has a line in the log, or every so many; probes have none, and failures always', async () => {
  const lines: unknown[] = [];
  const log = {
    info: (_event: string, fields: Record<string, unknown> = {}) =>
      lines.push([fields['route'], fields['status']]),
    warn: () => {},
    error: () => {},
  };
  const logged = async (requestLogShare: number | undefined, fail?: () => unknown) => {
    lines.length = 0;
    const server = await toyServer({ log, requestLogShare, ...(fail === undefined ? {} : { fail }) });
    for (const url of ['/v1/toy/1', '/health/live', '/v1/toy/2', '/health/ready'])
      await server.inject({ url });
    return [...lines];
  };
  const one = ['/v1/toy/:toyId', 200];
  assert.deepEqual(await logged(undefined), [one, one]);
  assert.deepEqual(await logged(0.5), [one]);
  assert.deepEqual(await logged(0), []);
  const bug = ['/v1/toy/:toyId', 500];
  assert.deepEqual(await logged(0, () => new TypeError('x')), [bug, bug]);
});

test('liveness is always 200, and readiness follows the service', async () => {
  const server = await toyServer();
  const [live, ready] = await Promise.all([server.inject('/health/live'), server.inject('/health/ready')]);
  assert.deepEqual([live.statusCode, live.json()], [200, { status: 'ok' }]);
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [503, { status: 'not_ready', checks: { database: 'unreachable' } }],
  );
});

const broken: [rule: string, bytes: string, status: string, code: number, message: string][] = [
  // proves W1.25
  ['bytes that are no HTTP request', 'NONSENSE\r\n\r\n', '400 Bad Request', 400100, 'Not an HTTP request'],
  // proves W1.6
  [
    'addresses that are too long',
    `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    '431 Request Header Fields Too Large',
    400101,
    'The address and headers are too large',
  ],
  // proves W1.6
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    400101,
    'The address and headers are too large',
  ],
];
for (const [rule, bytes, status, code, message] of broken) {
  test(`${rule} get the envelope too`, async () => {
    const server = await toyServer();
    await server.listen({ port: 0, host: '127.0.0.1' });
    try {
      const port = Number(new URL(server.listeningOrigin).port);
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
        let received = '';
        socket.on('data', (chunk) => {
          received += chunk.toString();
        });
        // A close with unread bytes resets the connection; only the bytes before it count.
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(received));
      });
      assert.ok(answer.startsWith(`HTTP/1.1 ${status}\r\n`), answer);
      assert.match(answer, /\r\nRequest-Id: req_/);
      const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
      assert.deepEqual([body.code, body.message], [code, message]);
    } finally {
      await server.close();
    }
  });
}

test('a client has the address that a trusted proxy saw, and one peer that is not trusted is told to the log', async () => {
  const warned: unknown[] = [];
  const server = await buildServer({
    log: { ...recordingLog(), warn: (event, fields) => void warned.push([event, fields?.['peer']]) },
    random: systemRandom,
    origin: 'https://pay.example.com',
    trustedProxies: ['127.0.0.1'],
    ready: async () => ({ ready: true, checks: {} }),
    doors: [async (scope) => void scope.get('/peer', async ({ ip }) => ip)],
  });
  const seen = async (forwarded: string | undefined, remoteAddress = '127.0.0.1') =>
    (
      await server.inject({
        url: '/peer',
        remoteAddress,
        headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      })
    ).body;
  const addresses = {
    '203.0.113.9': '203.0.113.9',
    '198.51.100.7, 203.0.113.9': '203.0.113.9',
    'garbage, 203.0.113.9': '203.0.113.9',
    '203.0.113.9, garbage': '127.0.0.1',
    '203.0.113.9:1234': '127.0.0.1',
    garbage: '127.0.0.1',
    ',': '127.0.0.1',
    '2001:db8::7': '2001:db8::7',
  };
  const found = Object.keys(addresses).map(async (forwarded) => [forwarded, await seen(forwarded)] as const);
  assert.deepEqual(Object.fromEntries(await Promise.all(found)), addresses);
  assert.equal(await seen(undefined, '192.0.2.4'), '192.0.2.4');
  assert.deepEqual(warned, []);
  assert.equal(await seen('203.0.113.9', '192.0.2.4'), '192.0.2.4');
  await seen('203.0.113.9', '192.0.2.5');
  assert.deepEqual(warned, [['http.proxy_not_trusted', '192.0.2.4']]);
});
