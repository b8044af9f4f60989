import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { removeEventsBatch } from '@florin/outbox';
import { statement, withSystemScope } from '@florin/pg';
import pg from 'pg';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { schema } from '#db/schema.ts';
import { deleteOldAnswers } from '#merchants/idempotency.ts';
import { codes, OnceWorld, type Reply } from '../../../test/harness/once-world.ts';

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

const retireAccount = statement({
  name: 'once_test_retire_account',
  parameters: { accountId: 'text' },
  text: "update accounts set status = 'removed' where account_id = :accountId",
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

test('a stored answer stays valid even when the request would now be refused', async () => {
  const own = await once.openShop();
  const options = { key: own.key };
  const createKey = once.freshKey();
  const removeKey = once.freshKey();
  const body = once.sessionBody({ expirationTime: once.world.clock.time / 1000 + 1800 }, own);
  const created = await once.post(createPath, body, createKey, options);
  const removed = await once.post('/product/remove', { productId: own.productId }, removeKey, options);
  assert.deepEqual([created.code, removed.code], [0, 0]);
  once.world.clock.time += 3_600_000;
  assert.deepEqual(await once.post(createPath, body, createKey, options), { ...created, replayed: 'true' });
  assert.deepEqual(await once.post('/product/remove', { productId: own.productId }, removeKey, options), {
    ...removed,
    replayed: 'true',
  });
});

test('a session that loses its account at the last moment stores no answer', async () => {
  const own = await once.openShop();
  const server = await once.replica(async () => {
    await once.world.database.db.query(retireAccount, { accountId: own.accountId });
  });
  const key = once.freshKey();
  const reply = await once.post(createPath, once.sessionBody({}, own), key, { key: own.key, server });
  assert.deepEqual(codes(reply), [200, 100402]);
  assert.deepEqual(await once.world.database.db.query(storedAnswers, { idempotencyKey: key }), []);
});

// proves W1.21
test('one key of two merchants, or on two paths, is two keys', async () => {
  const other = await once.openShop();
  const key = once.freshKey();
  const bodies: [string, unknown, string][] = [
    [createPath, once.sessionBody(), once.shop.key],
    [createPath, once.sessionBody({}, other), other.key],
    ['/product/create', { name: 'Bowl', commonPrices: [5] }, once.shop.key],
    ['/product/archive', { productId: other.productId }, other.key],
    ['/product/unarchive', { productId: other.productId }, other.key],
  ];
  for (const [path, body, apiKey] of bodies) {
    const reply = await once.post(path, body, key, { key: apiKey });
    assert.deepEqual([path, reply.code, reply.replayed], [path, 0, undefined]);
  }
  assert.equal(
    (await once.world.database.db.query(storedAnswers, { idempotencyKey: key })).length,
    bodies.length,
  );
});

// proves W1.21
test('a key has 1 to 255 characters, and is checked after the API key', async () => {
  const body = { name: 'Pan', commonPrices: [5] };
  assert.equal((await once.post('/product/create', body, 'k'.repeat(255))).code, 0);
  for (const wrong of ['k'.repeat(256), '']) {
    const reply = await once.post('/product/create', body, wrong);
    assert.deepEqual(
      [...codes(reply), reply.message],
      [200, 400101, 'Invalid field: Idempotency-Key must have 1 to 255 characters'],
    );
    assert.equal((await once.post('/product/create', body, wrong, { key: 'sk_live_x' })).code, 200102);
  }
});

// proves W1.17
test('a repeat gets the first answer byte for byte, even after the session changed', async () => {
  const key = once.freshKey();
  const metadata = '{"__proto__":1,"b":1.0,"a":"\\u00e4 🍵","b":[],"}}":"}}"}';
  const body = `${JSON.stringify(once.sessionBody()).slice(0, -1)},"metadata":${metadata}}`;
  const created = await once.post(createPath, body, key);
  assert.deepEqual([created.code, created.text.includes(`"metadata":${metadata}`)], [0, true]);
  const { sessionId } = created.data;
  assert.equal((await once.post('/session/checkout/cancel', { sessionId }, once.freshKey())).code, 0);
  assert.deepEqual(await once.post(createPath, body, key), { ...created, replayed: 'true' });
});

test('a repeat gets the complete answer even if the event was shortened, limited to the key’s fields', async () => {
  const productData = { productName: 'Tea', productDescription: '茶'.repeat(1000) };
  const item = { itemType: 'one_time', quantity: 1, unitPrice: 10, productData };
  const lineItems = Array.from({ length: 20 }, () => item);
  const restricted = await once.world.addKey(once.shop.merchantId, {
    permissions: ['checkout_sessions:write'],
  });
  for (const [body, apiKey] of [
    [once.sessionBody({ lineItems }), once.shop.key],
    [once.sessionBody(), restricted],
  ] as const) {
    const key = once.freshKey();
    const created = await once.post(createPath, body, key, { key: apiKey });
    assert.deepEqual([created.code, created.replayed], [0, undefined]);
    assert.deepEqual(await once.post(createPath, body, key, { key: apiKey }), {
      ...created,
      replayed: 'true',
    });
  }
});

test('no secret of an answer is stored in clear with its key', async () => {
  const webhook = {
    webhookName: 'Orders',
    webhookUrl: 'https://hooks.example.com/orders',
    subscribedEvents: ['*'],
  };
  for (const [path, body, secrets] of [
    [createPath, once.sessionBody(), ['clientCode', 'sessionId']],
    ['/webhook/create', webhook, ['key', 'webhookId']],
  ] as const) {
    const key = once.freshKey();
    const { data } = await once.post(path, body, key);
    const [row] = await once.world.database.db.query(storedAnswers, { idempotencyKey: key });
    assert.equal(row?.path, path);
    for (const name of secrets) {
      assert.equal(row?.everything.includes(Buffer.from(data[name]).toString('hex')), false);
      assert.equal(row?.everything.includes(data[name]), false);
    }
  }
});

test('another restricted key cannot get a stored answer, and a secret key can', async () => {
  const restricted = { permissions: ['checkout_sessions:write'] } as const;
  const [first, second] = [
    await once.world.addKey(once.shop.merchantId, restricted),
    await once.world.addKey(once.shop.merchantId, restricted),
  ];
  const secret = await once.world.addKey(once.shop.merchantId);
  const key = once.freshKey();
  const created = await once.post(createPath, once.sessionBody(), key, { key: first });
  assert.equal(created.data.clientCode, '****');
  assert.deepEqual(await once.post(createPath, once.sessionBody(), key, { key: first }), {
    ...created,
    replayed: 'true',
  });
  assert.deepEqual(
    codes(await once.post(createPath, once.sessionBody(), key, { key: second })),
    [422, 400401],
  );
  assert.equal((await once.post(createPath, once.sessionBody(), key, { key: secret })).text, created.text);
});

// proves W1.20
test('answers are kept for 30 days, then deleted in batches, and their keys are new again', async () => {
  const { db } = once.world.database;
  const keptMs = 30 * 24 * 3_600_000;
  await deleteOldAnswers(db, new Date(once.world.clock.time + 2 * keptMs), 100_000);
  const keys = [once.freshKey(), once.freshKey(), once.freshKey()];
  const first: Reply[] = [];
  for (const key of keys) first.push(await once.post(createPath, once.sessionBody(), key));
  once.world.clock.time += keptMs;
  assert.equal(await deleteOldAnswers(db, once.world.clock.now(), 2), 0);
  await db.transaction((transaction) => removeEventsBatch(transaction, once.world.clock.now(), 100_000));
  assert.equal((await once.post(createPath, once.sessionBody(), keys[0] ?? '')).text, first[0]?.text);
  once.world.clock.time += 1;
  assert.deepEqual(
    [
      await deleteOldAnswers(db, once.world.clock.now(), 2),
      await deleteOldAnswers(db, once.world.clock.now(), 2),
      await deleteOldAnswers(db, once.world.clock.now(), 2),
    ],
    [2, 1, 0],
  );
  const again = await once.post(createPath, once.sessionBody(), keys[0] ?? '');
  assert.deepEqual([again.code, again.replayed, again.text === first[0]?.text], [0, undefined, false]);
});
