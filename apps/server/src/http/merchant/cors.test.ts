import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { type ApiKeyRequest, listApiKeys, revokeApiKey } from '#merchants/api-key.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

const shop = 'https://shop.example.com';
const evil = 'https://evil.example.com';
const corsHeaders = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
] as const;

let world: MerchantWorld;
let merchantId: string;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
});
after(() => world.close());

interface Answer {
  readonly status: number;
  readonly code: number | undefined;
  readonly message: string;
  /** The CORS headers; omits absent ones. */
  readonly cors: Record<string, unknown>;
  readonly vary: unknown;
}

async function send(
  method: 'GET' | 'POST' | 'OPTIONS',
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const reply = await world.server.inject({ method, url: `/payment/v1${path}`, headers });
  const body = reply.body === '' ? undefined : (JSON.parse(reply.body) as { code: number; message: string });
  const present = corsHeaders.filter((name) => reply.headers[name] !== undefined);
  return {
    status: reply.statusCode,
    code: body?.code,
    message: body?.message ?? '',
    cors: Object.fromEntries(present.map((name) => [name, reply.headers[name]])),
    vary: reply.headers['vary'],
  };
}

function preflight(path: string, origin: string, method = 'POST'): Promise<Answer> {
  return send('OPTIONS', path, {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
  });
}

function bearer(key: string, origin?: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, ...(origin === undefined ? {} : { origin }) };
}

const storefront = (origins: string[]): Omit<ApiKeyRequest, 'merchantId' | 'kind'> => ({
  preset: 'storefront',
  origins,
});

// proves W5.3
test('a page of a listed origin may ask, and reads answers, refusals included', async () => {
  const key = await world.addKey(merchantId, storefront([shop, 'http://localhost:5173']));
  const allowed = {
    'access-control-allow-origin': shop,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key',
    'access-control-max-age': '7200',
  };
  const asked = await preflight('/session/checkout/create', shop);
  assert.deepEqual(asked, { status: 204, code: undefined, message: '', cors: allowed, vary: 'Origin' });
  const read = await send('POST', '/product/list/by/ids', {
    ...bearer(key, shop),
    'content-type': 'application/json',
  });
  const readable = { 'access-control-allow-origin': shop };
  assert.deepEqual([read.status, read.code, read.cors, read.vary], [400, 400100, readable, 'Origin']);
  const refused = await send('GET', '/account/list', bearer(key, shop));
  assert.deepEqual([refused.status, refused.code, refused.cors], [403, 200103, readable]);
  const page = await send('GET', '/product/list/1/10', bearer(key, 'http://localhost:5173'));
  assert.deepEqual(
    [page.status, page.code, page.cors],
    [200, 0, { 'access-control-allow-origin': 'http://localhost:5173' }],
  );
});

// proves W5.3, W5.11
test('a page of an unlisted origin gets no CORS headers, and its request is refused with the reason', async () => {
  const key = await world.addKey(merchantId, storefront([shop]));
  assert.deepEqual((await preflight('/session/checkout/create', evil)).cors, {});
  for (const origin of [evil, 'null', `${shop}.evil.example`, shop.toUpperCase(), undefined]) {
    const answer = await send('GET', '/product/list/1/10', bearer(key, origin));
    assert.deepEqual([answer.status, answer.code, answer.cors], [403, 200103, {}], String(origin));
    assert.match(answer.message, /: the key is bound to web origins, and the request/);
  }
});

// proves W5.4
test('answers to a key without origins have no CORS headers', async () => {
  const key = await world.addKey(merchantId, { preset: 'read_only' });
  const answer = await send('GET', '/product/list/1/10', bearer(key, evil));
  assert.deepEqual([answer.status, answer.code, answer.cors], [200, 0, {}]);
});

// proves W5.4
test('no page can read a refusal from before the key check', async () => {
  for (const authorization of [undefined, 'Bearer', 'Bearer sk_live_unknown']) {
    const given: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await send('GET', '/product/list/1/10', { ...given, origin: evil });
    assert.deepEqual([answer.status, answer.cors], [401, {}], authorization);
  }
});

// proves W5.4
test('a secret key is refused in browsers', async () => {
  const key = await world.addKey(merchantId);
  const answer = await send('GET', '/product/list/1/10', bearer(key, shop));
  assert.deepEqual([answer.status, answer.code, answer.cors], [403, 200103, {}]);
  assert.match(answer.message, /: a secret key is for servers/);
  assert.equal((await send('GET', '/product/list/1/10', bearer(key))).code, 0);
});

// proves W5.3
test('an origin stops counting once its last key is revoked or has expired', async () => {
  const origin = 'https://gone.example.com';
  const owner = await world.addMerchant();
  await world.addKey(owner, storefront([origin]));
  await world.addKey(owner, { ...storefront([origin]), expiresAt: new Date(world.clock.time + 1_000) });
  const isAllowed = async () => Object.keys((await preflight('/product/create', origin)).cors).length > 0;
  assert.equal(await isAllowed(), true);
  const lasting = (await listApiKeys(world.database.db, owner)).find((key) => key.expiresAt === undefined);
  await world.database.db.transaction((transaction) =>
    revokeApiKey(transaction, lasting?.keyId ?? '', world.clock.now()),
  );
  assert.equal(await isAllowed(), true);
  world.clock.time += 1_000;
  assert.equal(await isAllowed(), false);
});

test('every route with a key answers preflights with its own methods, and other OPTIONS requests are not allowed', async () => {
  await world.addKey(merchantId, storefront([shop]));
  for (const route of Object.values(merchantApi.routes)) {
    if (route.permissions.length === 0) continue;
    const path = route.path.replaceAll(/:\w+/g, '1');
    const answer = await preflight(path, shop, route.method);
    assert.equal(answer.status, 204, path);
    assert.ok(String(answer.cors['access-control-allow-methods']).split(', ').includes(route.method), path);
    const bare = await send('OPTIONS', path, { origin: shop });
    assert.deepEqual([bare.status, bare.code], [405, 405000], path);
  }
});

test('every page may read public routes, and no answer combines a star with credentials', async () => {
  const answer = await send('GET', '/capabilities/all', { origin: evil });
  assert.deepEqual([answer.code, answer.cors], [0, { 'access-control-allow-origin': '*' }]);
});
