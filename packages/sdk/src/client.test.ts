import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Florin, FlorinError, type FlorinOptions, type Usd, usd } from './florin.ts';
import { failure, hangUp, openTestService, success } from './service.fixture.ts';

/** The error of a call that has to fail. */
async function errorOf(call: Promise<unknown>): Promise<FlorinError> {
  const error = await call.then(
    () => assert.fail('it did not throw'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FlorinError, String(error));
  return error;
}

const body = { name: 'Tea', commonPrices: [usd('1')] };
const inFlight = failure(409, 400402, 'idempotency_in_flight', {
  retryable: true,
  headers: { 'retry-after': '1' },
});

test('a request has the key, the body and an Idempotency-Key, and the answer is its data', async () => {
  await using service = await openTestService(success({ productId: 'prd_1' }));
  assert.deepEqual(await service.florin.products.create(body), { productId: 'prd_1' });
  const [request] = service.seen;
  assert.deepEqual(
    [request?.method, request?.path, request?.body],
    ['POST', '/payment/v1/product/create', body],
  );
  const {
    authorization,
    'idempotency-key': key,
    'content-type': type,
    'user-agent': agent,
  } = request?.headers ?? {};
  assert.deepEqual([authorization, key, type], ['Bearer sk_live_test', 'made-1', 'application/json']);
  assert.match(agent ?? '', /^florin-sdk\/\d/);
});

test('an Idempotency-Key is made once for a call, kept over its retries, and replaced by the caller’s own', async () => {
  await using service = await openTestService(hangUp, inFlight, success({}), success({}), success({}));
  const { products } = service.florin;
  await products.create(body);
  await products.create(body);
  await products.create(body, { idempotencyKey: 'order A-1042' });
  assert.deepEqual(
    service.seen.map(({ headers }) => headers['idempotency-key']),
    ['made-1', 'made-1', 'made-1', 'made-2', 'order A-1042'],
  );
});

test('reads have no Idempotency-Key, whatever their method', async () => {
  await using service = await openTestService(success([]));
  await service.florin.products.listByIds(['prd_1'], { idempotencyKey: 'unused' });
  await service.florin.accounts.list().page();
  assert.deepEqual(
    service.seen.map(({ method, headers }) => [method, 'idempotency-key' in headers]),
    [
      ['POST', false],
      ['GET', false],
    ],
  );
});

test('closed connections, 409 in flight, 429, 5xx and what the service calls retryable are tried again', async () => {
  const failures = [
    hangUp,
    inFlight,
    failure(429, 900101, 'rate_limited', { retryable: true }),
    failure(500, 999999, 'internal', { retryable: true }),
    failure(200, 900201, 'create_failed', { retryable: true }),
    failure(503, 900401, 'chain_unavailable', { retryable: true }),
  ];
  await using service = await openTestService(
    ...failures,
    (response) => response.writeHead(502).end('<html>'),
    success({}),
  );
  await service.client({ maxRetries: 7 }).products.create(body);
  assert.equal(service.seen.length, 8);
});

test('waits double up to eight seconds with half by chance, and Retry-After makes them longer', async () => {
  await using service = await openTestService(hangUp, inFlight, hangUp, hangUp, hangUp, hangUp, success({}));
  await service.client({ maxRetries: 6 }).products.create(body);
  assert.deepEqual(service.waits, [375, 1_000, 1_500, 3_000, 6_000, 6_000]);
});

test('a Retry-After of more than a minute is not waited for', async () => {
  const headers = { 'retry-after': '61' };
  await using service = await openTestService(
    failure(429, 900101, 'rate_limited', { retryable: true, headers }),
  );
  assert.equal((await errorOf(service.florin.products.create(body))).slug, 'rate_limited');
  assert.deepEqual([service.seen.length, service.waits], [1, []]);
});

test('after two retries the last error is thrown, and with maxRetries 0 the first one', async () => {
  await using service = await openTestService(hangUp);
  assert.equal((await errorOf(service.florin.products.create(body))).slug, 'connection_failed');
  assert.equal(service.seen.length, 3);
  await errorOf(service.florin.products.create(body, { maxRetries: 0 }));
  assert.equal(service.seen.length, 4);
});

test('a refusal is thrown at once with everything that the service says of it', async () => {
  await using service = await openTestService(failure(200, 100201, 'session_not_found'));
  const error = await errorOf(service.florin.sessions.retrieve('sess_1'));
  const { slug, code, param, retryable, remedy, docUrl, requestId, httpStatus, message, data } = error;
  assert.deepEqual(
    { slug, code, param, retryable, remedy, docUrl, requestId, httpStatus, message, data },
    {
      slug: 'session_not_found',
      code: 100201,
      param: 'lineItems[0]',
      retryable: false,
      remedy: 'Do it.',
      docUrl: 'https://pay.example.com/docs/errors/100201',
      requestId: 'req_1',
      httpStatus: 200,
      message: 'Text: detail (100201)',
      data: null,
    },
  );
  assert.equal(service.seen.length, 1);
});

test('an error that is newer than this version keeps its code and its slug', async () => {
  await using service = await openTestService(failure(200, 100299, 'session_frozen'));
  const { slug, unknownSlug, code } = await errorOf(service.florin.sessions.retrieve('sess_1'));
  assert.deepEqual([slug, unknownSlug, code], ['unknown', 'session_frozen', 100299]);
});

test('an answer that is not the service’s is no success', async () => {
  for (const [status, text] of [
    [200, '<html>'],
    [200, '{"code":"0"}'],
    [404, '{"code":0,"data":{}}'],
    [302, ''],
  ] as const) {
    await using service = await openTestService((response) =>
      response.writeHead(status, { location: 'https://example.com/' }).end(text),
    );
    const { slug, httpStatus, message } = await errorOf(service.florin.sessions.retrieve('sess_1'));
    assert.deepEqual([slug, httpStatus, service.seen.length], ['answer_invalid', status, 1]);
    assert.match(message, /^http:\/\/127\.0\.0\.1:\d+\/payment\/v1\/session\/\S+ answers HTTP \d+ without /);
  }
});

test('a call that gets no answer in time is tried again, then times out', async () => {
  await using service = await openTestService(() => {});
  const error = await errorOf(service.florin.sessions.retrieve('sess_1', { timeoutMs: 30, maxRetries: 1 }));
  assert.deepEqual([error.slug, error.retryable, service.waits.length], ['timed_out', true, 1]);
});

test('the caller’s signal ends a call at once, also between two tries', async () => {
  await using service = await openTestService(() => {});
  const stop = new AbortController();
  const reading = service.florin.sessions.retrieve('sess_1', { signal: stop.signal });
  stop.abort();
  assert.equal((await errorOf(reading)).slug, 'aborted');
  await using busy = await openTestService(failure(429, 900101, 'rate_limited', { retryable: true }));
  const { signal } = stop;
  assert.equal((await errorOf(busy.florin.sessions.retrieve('sess_1', { signal }))).slug, 'aborted');
});

test('a missing key, a missing address and an id that is missing are refused before anything is sent', async () => {
  assert.throws(
    () => new Florin(undefined, { baseUrl: 'https://pay.example.com' }),
    /the API key is missing/,
  );
  assert.throws(
    () => new Florin('sk_live_a\n', { baseUrl: 'https://pay.example.com' }),
    /this is no API key/,
  );
  for (const baseUrl of ['', 'pay.example.com', 'ftp://pay.example.com', 'https://pay.example.com/?a=1'])
    assert.throws(() => new Florin('sk_live_a', { baseUrl }), /baseUrl is the address/);
  await using service = await openTestService(success({}));
  const session: unknown = { sessionId: 'sess_1' };
  for (const id of ['', session as string])
    assert.equal((await errorOf(service.florin.sessions.retrieve(id))).param, 'sessionId');
  assert.equal(service.seen.length, 0);
});

test('a key goes by plain http to this machine alone, unless a private network is trusted', async () => {
  for (const host of [
    'pay.example.com',
    '10.0.0.7:4000',
    'localhost.example.com',
    '127.example.com',
    '[::ffff:7f00:1]',
    'localhost.',
  ])
    assert.throws(() => new Florin('sk_live_a', { baseUrl: `http://${host}` }), {
      slug: 'argument_invalid',
      param: 'baseUrl',
      message: `http would show the key to everyone on the way to ${host}: give https://${host}, or allowInsecureHttp in a private network`,
    });
  const baseUrl = 'http://florin:4000';
  const given: unknown = 'yes';
  const allowInsecureHttp = given as boolean;
  assert.throws(() => new Florin('sk_live_a', { baseUrl, allowInsecureHttp }), { param: 'baseUrl' });
  for (const host of ['localhost:4000', '127.0.0.1', '127.8.0.9', '[::1]:4000'])
    assert.ok(new Florin('sk_live_a', { baseUrl: `http://${host}` }));
  const urls: string[] = [];
  const { fetch } = globalThis;
  const florin = new Florin('sk_live_a', {
    ...{ baseUrl, allowInsecureHttp: true },
    fetch: async (url) => {
      urls.push(String(url));
      return fetch('data:application/json,{"code":0,"data":{}}');
    },
  });
  await florin.capabilities.retrieve();
  assert.deepEqual(urls, ['http://florin:4000/payment/v1/capabilities/all']);
});

test('an option that is not known or cannot be right is refused before anything is sent', async () => {
  const baseUrl = 'https://pay.example.com';
  const wrong: readonly (readonly [options: unknown, param: string])[] = [
    [undefined, 'baseUrl'],
    [null, 'baseUrl'],
    [{ baseUrl, maxRetry: 3 }, 'maxRetry'],
    [{ baseUrl, maxRetries: Number.NaN }, 'maxRetries'],
    [{ baseUrl, maxRetries: 0.5 }, 'maxRetries'],
    [{ baseUrl, timeoutMs: 0 }, 'timeoutMs'],
    [{ baseUrl, timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs'],
  ];
  for (const [options, param] of wrong)
    assert.throws(() => new Florin('sk_live_a', options as FlorinOptions), {
      slug: 'argument_invalid',
      param,
    });
  await using service = await openTestService(success({}));
  const { products, sessions } = service.florin;
  for (const [options, param] of [
    [Object({ idempotency_key: 'A-1' }), 'idempotency_key'],
    [{ maxRetries: -1 }, 'maxRetries'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
    // As programs in JavaScript give it: a key or a time alone.
    [JSON.parse('"A-1"'), 'options'],
    [JSON.parse('300'), 'options'],
  ] as const) {
    const { slug, param: named } = await errorOf(products.create(body, options));
    assert.deepEqual([slug, named], ['argument_invalid', param]);
  }
  const price = 1n as unknown as Usd;
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const call of [
    products.create({ ...body, commonPrices: [price] }),
    products.create({ ...body, ...circle }),
    sessions.retrieve('\ud800'),
    sessions.retrieve(null as unknown as string),
  ])
    assert.equal((await errorOf(call)).slug, 'argument_invalid');
  assert.throws(() => sessions.list(JSON.parse('20')), { slug: 'argument_invalid', param: 'filter' });
  const { message } = await errorOf(sessions.retrieve({ sessionId: 'sess_1' } as unknown as string));
  assert.equal(message, 'sessionId is an object: give its sessionId alone');
  assert.equal(service.seen.length, 0);
});

test('an Idempotency-Key that a header cannot carry is refused at once, and others are sent as they are', async () => {
  await using service = await openTestService(success({}));
  const sale = { settlementToken: 'base::usdc', lineItems: [{ name: 'Tea', price: usd('1') }] };
  const wrong = ['注文-1', 'é', 'A\n1', 'A\u00001', ' A', 'A ', '', 'A'.repeat(256)];
  for (const idempotencyKey of wrong)
    for (const call of [
      service.florin.products.create(body, { idempotencyKey }),
      service.florin.checkout.sessions.create(sale, { idempotencyKey }),
    ]) {
      const { slug, param } = await errorOf(call);
      assert.deepEqual([slug, param], ['argument_invalid', 'idempotencyKey'], JSON.stringify(idempotencyKey));
    }
  assert.equal(service.seen.length, 0);
  const right = ['A', 'return 7', '!~', 'A'.repeat(255)];
  for (const idempotencyKey of right) await service.florin.products.create(body, { idempotencyKey });
  assert.deepEqual(
    service.seen.map(({ headers }) => headers['idempotency-key']),
    right,
  );
});

test('an id cannot leave its place in the path', async () => {
  await using service = await openTestService(success({}));
  await service.florin.sessions.retrieve('../refund/list?x=1#');
  assert.equal(service.seen[0]?.path, '/payment/v1/session/..%2Frefund%2Flist%3Fx%3D1%23');
});

test('an address may end with a slash, or with the path of the merchant API', async () => {
  await using service = await openTestService(success({}));
  const { fetch } = globalThis;
  const urls: string[] = [];
  for (const end of ['', '/', '/payment/v1', '/payment/v1/']) {
    const florin = service.client({
      baseUrl: `https://pay.example.com${end}`,
      fetch: async (url) => {
        urls.push(String(url));
        return fetch(`data:application/json,{"code":0,"data":{}}`);
      },
    });
    await florin.capabilities.retrieve();
  }
  assert.deepEqual(urls, Array(4).fill('https://pay.example.com/payment/v1/capabilities/all'));
});
