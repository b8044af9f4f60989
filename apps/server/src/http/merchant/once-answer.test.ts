import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { deleteOldAnswers } from '#merchants/idempotency.ts';
import { codes, OnceWorld, type Reply } from '../../../test/harness/once-world.ts';

const createPath = '/session/checkout/create';

const storedAnswers = statement({
  name: 'once_answer_test_answers',
  parameters: { idempotencyKey: 'text' },
  columns: { path: 'text', everything: 'text' },
  text: 'select path, k::text as everything from idempotency_keys k where idempotency_key = :idempotencyKey order by path',
});
const retireAccount = statement({
  name: 'once_answer_test_retire_account',
  parameters: { accountId: 'text' },
  columns: {},
  text: "update accounts set status = 'removed' where account_id = :accountId",
});

let once: OnceWorld;
before(async () => {
  once = await OnceWorld.open();
});
after(() => once.close());

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
  const metadata = '{"__proto__":1,"b":1.0,"a":"\\u00e4","b":[]}';
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
