import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement, withSystemScope } from '@florin/pg';
import pg from 'pg';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { schema } from '#db/schema.ts';
import { codes, OnceWorld } from '../../../test/harness/once-world.ts';

const createPath = '/session/checkout/create';

const storedAnswers = statement({
  name: 'once_test_answers',
  parameters: { idempotencyKey: 'text' },
  columns: { path: 'text', everything: 'text' },
  text: 'select path, k::text as everything from idempotency_keys k where idempotency_key = :idempotencyKey order by path',
});
const countSessions = statement({
  name: 'once_test_sessions',
  parameters: { merchantId: 'text' },
  columns: { sessions: 'int8', events: 'int8' },
  text: `select (select count(*) from sessions where merchant_id = :merchantId) as sessions,
     (select count(*) from events where merchant_id = :merchantId and event_type = 'session.created') as events`,
});

let once: OnceWorld;
before(async () => {
  once = await OnceWorld.open();
});
after(() => once.close());

const requests: [string, string, () => object, object][] = [
  // proves W1.17
  ['a session', createPath, () => once.sessionBody({ metadata: { b: 1, a: [] } }), { feeModel: 2 }],
  // proves W1.17, W1.18
  ['a product', '/product/create', () => ({ name: 'Cup', commonPrices: [5] }), { name: 'Other' }],
  [
    'a list of products',
    '/product/list/by/ids',
    () => ({ productIds: [once.shop.productId] }),
    { productIds: [] },
  ],
];

for (const [what, path, body, change] of requests) {
  test(`a repeated request for ${what} gets the stored answer, byte for byte, and is marked as replayed`, async () => {
    const key = once.freshKey();
    const first = await once.post(path, body(), key);
    const again = await once.post(path, body(), key, { server: once.replicas[1] });
    assert.deepEqual([...codes(first), first.replayed], [200, 0, undefined]);
    assert.deepEqual(again, { ...first, replayed: 'true' });
  });

  test(`a key for ${what} with another body is 422, and changes nothing`, async () => {
    const key = once.freshKey();
    const first = await once.post(path, body(), key);
    const before = await once.world.database.db.query(countSessions, { merchantId: once.shop.merchantId });
    const reused = await once.post(path, { ...body(), ...change }, key);
    assert.deepEqual([...codes(reused), reused.replayed], [422, 400401, undefined]);
    assert.deepEqual(
      await once.world.database.db.query(countSessions, { merchantId: once.shop.merchantId }),
      before,
    );
    assert.deepEqual(await once.post(path, body(), key), { ...first, replayed: 'true' });
  });

  test(`50 identical concurrent requests for ${what} have one effect`, async () => {
    const own = await once.openShop();
    const request = path === createPath ? once.sessionBody({}, own) : body();
    const key = once.freshKey();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        once.post(path, request, key, { key: own.key, server: once.replicas[index % 2] }),
      ),
    );
    const answered = replies.filter((reply) => reply.status === 200);
    assert.ok(answered.length > 0);
    assert.equal(new Set(answered.map((reply) => reply.text)).size, 1);
    assert.equal(answered.filter((reply) => reply.replayed === undefined).length, 1);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      assert.deepEqual([...codes(reply), reply.retryAfter], [409, 400402, '1']);
    }
    if (path === createPath) {
      assert.equal(answered.length, 50);
      assert.deepEqual(await once.world.database.db.query(countSessions, { merchantId: own.merchantId }), [
        { sessions: 1n, events: 1n },
      ]);
    }
    assert.equal((await once.world.database.db.query(storedAnswers, { idempotencyKey: key })).length, 1);
  });
}

test('different sessions with different keys are all stored, in any batch', async () => {
  const own = await once.openShop();
  const keys = Array.from({ length: 40 }, () => once.freshKey());
  const send = () =>
    Promise.all(
      [...keys, ...keys.toReversed()].map((key, index) =>
        once.post(createPath, once.sessionBody({ metadata: { key } }, own), key, {
          key: own.key,
          server: once.replicas[index % 2],
        }),
      ),
    );
  const [first, second] = [await send(), await send()];
  assert.equal(new Set([...first, ...second].map((reply) => reply.text)).size, 40);
  assert.deepEqual(new Set([...first, ...second].map((reply) => reply.code)), new Set([0]));
  assert.deepEqual(await once.world.database.db.query(countSessions, { merchantId: own.merchantId }), [
    { sessions: 40n, events: 40n },
  ]);
});

// proves W1.17
test('the spelling of a body does not matter', async () => {
  const key = once.freshKey();
  const first = await once.post('/product/create', '{"name":"Pot","commonPrices":[5]}', key);
  const spelled = '{ "commonPrices" : [5.0], "name":"\\u0050ot" }';
  assert.deepEqual(await once.post('/product/create', spelled, key), { ...first, replayed: 'true' });
});

// proves W1.18
test('numbers that a double confuses are different bodies, and so are repeated keys', async () => {
  const withMetadata = (text: string) =>
    JSON.stringify(once.sessionBody()).replace(/}$/, `,"metadata":${text}}`);
  const key = once.freshKey();
  const first = await once.post(createPath, withMetadata('{"id":12345678901234567890,"rate":1.0}'), key);
  assert.equal(first.code, 0);
  const again = withMetadata('{"rate":1e0, "id":1234567890123456789e1}');
  assert.deepEqual(await once.post(createPath, again, key), { ...first, replayed: 'true' });
  for (const other of [
    '{"id":12345678901234567891,"rate":1.0}',
    '{"id":12345678901234567890,"rate":1.00000000000000000001}',
    '{"id":1,"id":12345678901234567890,"rate":1.0}',
  ]) {
    assert.deepEqual(codes(await once.post(createPath, withMetadata(other), key)), [422, 400401], other);
  }
});

// proves W1.19
test('a repeat during its request is 409 with Retry-After, and later gets the answer', async () => {
  const key = once.freshKey();
  const body = { productId: once.shop.productId, name: 'Tea', commonPrices: [10] };
  const blocker = new pg.Client({ connectionString: withSystemScope(once.world.database.url, schema) });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select 1 from products where product_id = $1 for update', [once.shop.productId]);
  const sent = [
    once.post('/product/update', body, key),
    once.post('/product/update', body, key, { server: once.replicas[1] }),
  ];
  // One of them waits for the product; the other need not wait for it.
  const second = await Promise.race(sent);
  await blocker.query('commit');
  await blocker.end();
  assert.deepEqual([second.status, second.code, second.retryAfter], [409, 400402, '1']);
  const answer = (await Promise.all(sent)).find(({ status }) => status === 200) ?? second;
  assert.deepEqual(codes(answer), [200, 0]);
  assert.deepEqual(await once.post('/product/update', body, key), { ...answer, replayed: 'true' });
});

test('a holder that dies frees its key', async () => {
  const key = once.freshKey();
  const holder = new pg.Client({ connectionString: withSystemScope(once.world.database.url, schema) });
  holder.on('error', () => {});
  await holder.connect();
  await holder.query('begin');
  await holder.query(
    `select ${awaitLockOf('idempotencyKey', "concat_ws(' ', $1::text, $2::text, $3::text)")}`,
    [once.shop.merchantId, '/product/create', key],
  );
  const body = { name: 'Jug', commonPrices: [5] };
  assert.deepEqual(codes(await once.post('/product/create', body, key)), [409, 400402]);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const killer = new pg.Client({ connectionString: withSystemScope(once.world.database.url, schema) });
  await killer.connect();
  await killer.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
  await killer.end();
  const reply = await once.post('/product/create', body, key);
  assert.deepEqual([...codes(reply), reply.replayed], [200, 0, undefined]);
});

// proves W1.20
test('a refused request is not stored, and may be sent again', async () => {
  const own = await once.openShop();
  const { productId } = own;
  const options = { key: own.key };
  const [createKey, removeKey] = [once.freshKey(), once.freshKey()];
  await once.post('/product/archive', { productId }, once.freshKey(), options);
  const refused = await once.post(createPath, once.sessionBody({}, own), createKey, options);
  assert.deepEqual(codes(refused), [200, 100304]);
  assert.equal(
    (await once.post('/product/remove', { productId: 'prd_none' }, removeKey, options)).code,
    100301,
  );
  assert.deepEqual(await once.world.database.db.query(storedAnswers, { idempotencyKey: createKey }), []);
  assert.deepEqual(await once.world.database.db.query(storedAnswers, { idempotencyKey: removeKey }), []);
  await once.post('/product/unarchive', { productId }, once.freshKey(), options);
  const created = await once.post(createPath, once.sessionBody({}, own), createKey, options);
  assert.deepEqual([created.code, created.replayed], [0, undefined]);
});
