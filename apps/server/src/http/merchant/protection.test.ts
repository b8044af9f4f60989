import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { batched, type Database, openDatabase, statement } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import type { FastifyInstance } from 'fastify';
import { schema } from '#db/schema.ts';
import { type ApiKeyRequest, findApiKeys, listApiKeys, revokeApiKey } from '#merchants/api-key.ts';
import { keyUseRecorder } from '#merchants/api-key-limits.ts';
import { systemRandom } from '#outside/random.ts';
import { groupInserter } from '#sessions/session-insert.ts';
import { silentLog } from '#telemetry/log.ts';
import { localLimits } from '../../../test/harness/local-limits.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { defaultRateLimits } from '../rate-limit.ts';
import { buildServer } from '../server.ts';
import type { MerchantDoorContext } from './context.ts';
import { merchantDoor } from './merchant-door.ts';

const spentByKey = statement({
  name: 'protection_test_spent',
  parameters: { keyId: 'text' },
  columns: { counted: 'int8?', created: 'int8' },
  text: `select (select amount from api_key_spending where key_id = :keyId) as counted,
     (select coalesce(sum(amount), 0)::bigint from sessions
      where merchant_id = (select merchant_id from api_keys where key_id = :keyId)) as created`,
});

let world: MerchantWorld;
const closing: (() => Promise<void>)[] = [];

/** A process of the service, with its own pool and queues over the world's database. */
async function replica(extra: Partial<MerchantDoorContext> = {}): Promise<FastifyInstance> {
  const db: Database = openDatabase({ schema, url: world.database.url, connections: 4 });
  const limits = { maxSize: 128, maxInFlight: 2, maxWaiting: 10_000 };
  const server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      merchantDoor({
        ...world.deps,
        db,
        insertSession: groupInserter(db, world.deps),
        lookupApiKey: batched((hashes: readonly Buffer[]) => findApiKeys(db, hashes), limits),
        ...extra,
      }),
    ],
  });
  closing.push(async () => {
    await server.close();
    await db.close();
  });
  return server;
}

before(async () => {
  world = await MerchantWorld.open();
});
after(async () => {
  for (const close of closing) await close();
  await world.close();
});

interface Shop {
  readonly merchantId: string;
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
}

async function openShop(limits: Omit<ApiKeyRequest, 'merchantId' | 'kind'> = {}): Promise<Shop> {
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const request = { permissions: ['accounts:read', 'checkout_sessions:write'], ...limits } as const;
  const key = await world.addKey(merchantId, request);
  const [summary] = await listApiKeys(world.database.db, merchantId);
  return { merchantId, accountId, key, keyId: summary?.keyId ?? '' };
}

interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly remoteAddress?: string;
}

async function list(server: FastifyInstance, key: string, options: SendOptions = {}) {
  const { headers, ...rest } = options;
  const reply = await server.inject({
    url: '/payment/v1/account/list',
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...rest,
  });
  return { status: reply.statusCode, headers: reply.headers, ...reply.json<{ code: number }>() };
}

async function create(server: FastifyInstance, shop: Shop, unitPrice: number, idempotencyKey?: string) {
  const productData = { productName: 'Cup' };
  const reply = await server.inject({
    method: 'POST',
    url: '/payment/v1/session/checkout/create',
    headers: {
      authorization: `Bearer ${shop.key}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    payload: {
      accountId: shop.accountId,
      settlementToken: 'ethereum::usdc',
      lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice, productData }],
    },
  });
  return { status: reply.statusCode, ...reply.json<{ code: number; message: string }>() };
}

// proves W5.11
test('a key may be used only from its addresses; elsewhere it is as invalid as an unknown one', async () => {
  const { key } = await openShop({ ipAllowList: ['203.0.113.0/24'] });
  const server = await replica();
  const [inside, outside, unknown] = [
    await list(server, key, { remoteAddress: '203.0.113.9' }),
    await list(server, key, { remoteAddress: '203.0.114.9' }),
    await list(server, 'sk_live_unknown', { remoteAddress: '203.0.114.9' }),
  ];
  assert.equal(inside.code, 0);
  assert.deepEqual([outside.status, outside.code], [401, 200102]);
  assert.deepEqual({ ...outside, headers: {}, error: {} }, { ...unknown, headers: {}, error: {} });
});

test('an untrusted proxy cannot set the client address', async () => {
  const { key } = await openShop({ ipAllowList: ['203.0.113.0/24'] });
  const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
  assert.equal((await list(await replica(), key, { headers, remoteAddress: '198.51.100.1' })).code, 200102);
});

// proves W5.12
test('one session may reach its key’s limit and not exceed it', async () => {
  const shop = await openShop({ maxSessionAmount: microUsd(500) });
  const server = await replica();
  const replies = [];
  for (const keyed of [undefined, 'once']) {
    replies.push(await create(server, shop, 501, keyed), await create(server, shop, 500, keyed));
  }
  assert.deepEqual(
    replies.map(({ status, code }) => [status, code]),
    [
      [200, 100209],
      [200, 0],
      [200, 100209],
      [200, 0],
    ],
  );
  assert.match(replies[0]?.message ?? '', /: the API key's limit for one session is 500 Micro-USD$/);
});

// proves W5.12
test('100 concurrent sessions on two replicas never exceed the daily limit', async () => {
  const shop = await openShop({ maxDayAmount: microUsd(1_000) });
  const servers = [await replica(), await replica()];
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      create(servers[index % 2] as FastifyInstance, shop, 30, index % 4 < 2 ? undefined : `key-${index}`),
    ),
  );
  const codes = replies.map(({ code }) => code);
  assert.deepEqual(
    [codes.filter((code) => code === 0).length, codes.filter((code) => code === 100209).length],
    [33, 67],
  );
  assert.deepEqual(await world.database.db.query(spentByKey, { keyId: shop.keyId }), [
    { counted: 990n, created: 990n },
  ]);
  const last = await create(servers[0] as FastifyInstance, shop, 10);
  assert.equal(last.code, 0);
  assert.deepEqual(await world.database.db.query(spentByKey, { keyId: shop.keyId }), [
    { counted: 1_000n, created: 1_000n },
  ]);
});

test('a repeated request counts once towards the daily limit', async () => {
  const shop = await openShop({ maxDayAmount: microUsd(100) });
  const server = await replica();
  const replies = await Promise.all(Array.from({ length: 20 }, () => create(server, shop, 60, 'same')));
  assert.ok(replies.every(({ status }) => status === 200 || status === 409));
  assert.deepEqual(await world.database.db.query(spentByKey, { keyId: shop.keyId }), [
    { counted: 60n, created: 60n },
  ]);
});

test('a session takes the same statements with and without an idempotency key, and none for absent limits', async () => {
  const shop = await openShop({ maxSessionAmount: microUsd(500) });
  const asked: string[] = [];
  const { db } = world.database;
  const watched: Database = {
    ...db,
    query: (asking, ...values) => {
      asked.push(asking.name);
      return db.query(asking, ...values);
    },
    transaction: () => assert.fail('a transaction costs two round trips more'),
  };
  const server = await replica({
    db: watched,
    insertSession: groupInserter(watched, world.deps),
    lookupApiKey: async (hash) => (await findApiKeys(watched, [hash]))[0],
  });
  const costOf = async (idempotencyKey?: string) => {
    asked.length = 0;
    assert.equal((await create(server, shop, 10, idempotencyKey)).code, 0);
    return [...asked];
  };
  const plain = await costOf();
  assert.equal(plain.at(-1), 'sessions_insert');
  assert.deepEqual(await costOf('cost'), [...plain.slice(0, -1), 'sessions_insert_keyed']);
});

test('sessions with and without keys share a batch, and all are stored', async () => {
  const shop = await openShop();
  const server = await replica();
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      create(server, shop, 10, index % 3 === 0 ? `mixed-${index}` : undefined),
    ),
  );
  assert.deepEqual(new Set(replies.map(({ code }) => code)), new Set([0]));
  assert.deepEqual(await world.database.db.query(spentByKey, { keyId: shop.keyId }), [
    { counted: null, created: 600n },
  ]);
});

test('a key that is revoked on one replica is refused by the next request to another', async () => {
  const shop = await openShop();
  const [first, second] = [await replica(), await replica()];
  assert.deepEqual([(await list(first, shop.key)).code, (await list(second, shop.key)).code], [0, 0]);
  await world.database.db.transaction((transaction) =>
    revokeApiKey(transaction, shop.keyId, world.clock.now()),
  );
  const after = await Promise.all([first, second, first, second].map((server) => list(server, shop.key)));
  assert.deepEqual(
    after.map(({ status, code }) => [status, code]),
    Array<[number, number]>(4).fill([401, 200102]),
  );
});

test('using a key records the time; a refused use does not', async () => {
  const [used, refused] = [await openShop(), await openShop({ ipAllowList: ['203.0.113.1'] })];
  const writes: Promise<void>[] = [];
  const record = keyUseRecorder({ db: world.database.db, clock: world.clock, log: silentLog });
  const server = await replica({
    recordKeyUse: (keyId) => {
      const write = record(keyId);
      writes.push(write);
      return write;
    },
  });
  await list(server, used.key);
  await list(server, refused.key);
  await Promise.all(writes);
  const lastUse = async (shop: Shop) =>
    (await listApiKeys(world.database.db, shop.merchantId))[0]?.lastUsedAt;
  assert.deepEqual([await lastUse(used), await lastUse(refused)], [world.clock.now(), undefined]);
});

// proves W1.26
test('each key has its rates for reads, writes and lists, reported in headers', async () => {
  const [one, other] = [await openShop(), await openShop()];
  const server = await replica({ limits: localLimits(defaultRateLimits, world.clock) });
  const first = await list(server, one.key);
  assert.deepEqual(
    ['ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map(
      (name) => first.headers[name],
    ),
    ['20;w=1;burst=40', '40', '39', '1'],
  );
  const lists = await Promise.all(Array.from({ length: 41 }, () => list(server, one.key)));
  assert.deepEqual(
    lists
      .filter(({ code }) => code !== 0)
      .map(({ status, code, headers }) => [status, code, headers['retry-after']]),
    [
      [429, 900101, '1'],
      [429, 900101, '1'],
    ],
  );
  const detail = () =>
    server.inject({
      url: `/payment/v1/account/detail/${one.accountId}`,
      headers: { authorization: `Bearer ${one.key}` },
    });
  const reads = await Promise.all(Array.from({ length: 201 }, detail));
  assert.equal(reads.filter(({ statusCode }) => statusCode === 429).length, 1);
  const writes = await Promise.all(Array.from({ length: 101 }, () => create(server, one, 10)));
  assert.equal(writes.filter(({ status }) => status === 429).length, 1);
  assert.equal((await list(server, other.key)).code, 0);
  world.clock.time += 1_000;
  const later = await Promise.all(Array.from({ length: 21 }, () => list(server, one.key)));
  assert.equal(later.filter(({ status }) => status === 429).length, 1);
  const laterReads = await Promise.all(Array.from({ length: 101 }, detail));
  assert.equal(laterReads.filter(({ statusCode }) => statusCode === 429).length, 1);
  const laterWrites = await Promise.all(Array.from({ length: 51 }, () => create(server, one, 10)));
  assert.equal(laterWrites.filter(({ status }) => status === 429).length, 1);
});

test('failed authentications are limited by address, and valid keys still pass', async () => {
  const shop = await openShop();
  const server = await replica({ limits: localLimits(defaultRateLimits, world.clock) });
  const fail = async (remoteAddress: string) =>
    (await list(server, 'sk_live_guess', { remoteAddress })).status;
  for (let index = 0; index < 60; index += 1) assert.equal(await fail('198.51.100.1'), 401);
  assert.equal(await fail('198.51.100.1'), 429);
  assert.equal(await fail('198.51.100.2'), 401);
  assert.equal((await list(server, shop.key, { remoteAddress: '198.51.100.1' })).code, 0);
  world.clock.time += 1_000;
  assert.deepEqual([await fail('198.51.100.1'), await fail('198.51.100.1')], [401, 429]);
});

test('public routes are limited by address', async () => {
  const server = await replica({ limits: localLimits(defaultRateLimits, world.clock) });
  const read = async () => (await server.inject({ url: '/payment/v1/capabilities/all' })).statusCode;
  const replies = await Promise.all(Array.from({ length: 41 }, read));
  assert.equal(replies.filter((status) => status === 429).length, 1);
});
