import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { plainLook } from '@florin/protocol/brand-look.ts';
import { newId } from '@florin/protocol/id.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { permissions } from '@florin/protocol/permission.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { buildServer } from '#http/server.ts';
import { listApiKeys, revokeApiKey } from '#merchants/api-key.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from './harness/merchant-fixture.ts';
import {
  entries,
  kinds,
  type Request,
  type Row,
  requestOf,
  rows,
  type Things,
} from './harness/merchant-routes.ts';
import { openShop, type Shop } from './harness/shop.ts';

let world: MerchantWorld;
let own: Shop;
let foreign: Things;

before(async () => {
  world = await MerchantWorld.open();
  const [first, second] = [await openShop(world), await openShop(world)];
  own = first;
  foreign = second.things;
});
after(() => world.close());

/** The kinds of things that a request names. */
function namesIn(request: Request): (keyof Things)[] {
  const text = JSON.stringify(request);
  return (Object.keys(kinds) as (keyof Things)[]).filter((name) => text.includes(own.things[name]));
}

async function answer(request: Request, authorization: string | undefined, server = world.server) {
  const reply = await server.inject({
    method: request.method,
    url: `/payment/v1${request.path}`,
    headers: authorization === undefined ? {} : { authorization },
    ...(request.body === undefined ? {} : { payload: request.body }),
  });
  return { status: reply.statusCode, headers: Object.keys(reply.headers).sort(), ...reply.json<Answer>() };
}

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly error?: { readonly requestId: string };
}

test('every route of the merchant API has a row, and a row without a route is reported', () => {
  assert.deepEqual(Object.keys(rows).sort(), Object.keys(merchantApi.routes).sort());
});

test('every route requires the permissions of its row, and only capabilities are public', () => {
  for (const { name, row, route } of entries) {
    assert.deepEqual([name, route.permissions], [name, row.permissions]);
    assert.equal(row.permissions.length === 0, name === 'getCapabilities');
  }
});

async function keyThat(state: 'revoked' | 'expired'): Promise<string> {
  const merchantId = await world.addMerchant();
  if (state === 'expired') return world.addKey(merchantId, { permissions, expiresAt: world.clock.now() });
  const key = await world.addKey(merchantId);
  const [summary] = await listApiKeys(world.database.db, merchantId);
  await world.database.db.transaction((transaction) =>
    revokeApiKey(transaction, summary?.keyId ?? '', world.clock.now()),
  );
  return key;
}

const invalid: [string, number, () => Promise<string | undefined>][] = [
  ['no key', 200101, async () => undefined],
  ['a malformed header', 200101, async () => `bearer ${own.key}`],
  ['an unknown key', 200102, async () => 'Bearer sk_live_0000000000000000000000000000000000000000000000000'],
  ['a revoked key', 200102, async () => `Bearer ${await keyThat('revoked')}`],
  ['an expired key', 200102, async () => `Bearer ${await keyThat('expired')}`],
];
for (const [what, code, header] of invalid) {
  test(`${what} gets ${code} on every route, for every id`, async () => {
    const authorization = await header();
    for (const entry of entries.filter(({ row }) => row.permissions.length > 0)) {
      const texts = new Set<string>();
      for (const things of [own.things, foreign]) {
        const reply = await answer(requestOf(entry, things), authorization);
        assert.deepEqual([entry.name, reply.status, reply.code], [entry.name, 401, code]);
        texts.add(reply.message);
      }
      assert.equal(texts.size, 1);
    }
  });
}

/** Routes that a key gets past the doorman of, asked about nothing that exists. */
async function openTo(key: string): Promise<string[]> {
  const nothing = unknownThings();
  const open: string[] = [];
  for (const entry of entries) {
    const request = { ...requestOf(entry, nothing), ...(entry.route.method === 'GET' ? {} : { body: {} }) };
    const reply = await answer(request, `Bearer ${key}`);
    if (reply.status === 403) {
      assert.deepEqual(
        [entry.name, reply.code, reply.message, reply.data],
        [entry.name, 200103, `API key lacks permission: ${entry.row.permissions.join(' or ')}`, null],
      );
    } else {
      assert.equal(reply.status, 200, `${entry.name}: ${reply.message}`);
      open.push(entry.name);
    }
  }
  return open;
}

function unknownThings(): Things {
  const ids = Object.entries(kinds).map(([name, kind]) => [name, newId(kind, systemRandom.bytes)]);
  return Object.fromEntries(ids) as unknown as Things;
}

const namesWhere = (holds: (row: Row) => boolean) =>
  entries.filter(({ row }) => row.permissions.length === 0 || holds(row)).map(({ name }) => name);

for (const permission of permissions) {
  test(`a key with only ${permission} reaches only the routes of ${permission}`, async () => {
    const key = await world.addKey(own.merchantId, { permissions: [permission] });
    assert.deepEqual(
      await openTo(key),
      namesWhere((row) => row.permissions.includes(permission)),
    );
  });
}

test('a key without permissions reaches only public routes', async () => {
  assert.deepEqual(await openTo(await world.addKey(own.merchantId, { permissions: [] })), [
    'getCapabilities',
  ]);
});

test('a read_only key reaches every read and no write', async () => {
  assert.deepEqual(
    await openTo(await world.addKey(own.merchantId, { preset: 'read_only' })),
    namesWhere((row) => row.permissions.every((permission) => permission.endsWith(':read'))),
  );
});

test('a secret key reaches every route', async () => {
  assert.deepEqual(
    await openTo(own.key),
    namesWhere(() => true),
  );
});

/** Whether an answer tells of nothing: a refusal, lists without entries, or fields that are all empty. */
function isNothing({ code, data }: Answer): boolean {
  if (code !== 0) return true;
  const parts: unknown[] = Array.isArray(data) ? [data] : Object.values(data as object);
  // A look that was never changed has the page's own corners and font.
  const usual: Readonly<Record<string, unknown>> = plainLook;
  if (Object.entries(data as object).every(([name, part]) => part === '' || part === usual[name]))
    return true;
  const lists = parts.filter((part) => Array.isArray(part));
  return lists.length > 0 && lists.every((list) => list.length === 0);
}

// PostgreSQL gets another merchant than the statements: rows that it hides pass every condition of the statements.
// Runs before the requests below, which change things.
test('in the scope of another merchant no route returns or changes anything', async () => {
  const stranger = world.deps.db.inScope(await world.addMerchant());
  const server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor({ ...world.deps, db: { inScope: () => stranger } })],
  });
  try {
    for (const entry of entries.filter(({ row }) => row.permissions.length > 0)) {
      const reply = await answer(requestOf(entry, own.things), `Bearer ${own.key}`, server);
      assert.ok(isNothing(reply), `${entry.name}: ${JSON.stringify(reply.data)}`);
    }
  } finally {
    await server.close();
  }
});

for (const entry of entries) {
  test(`${entry.name}: another merchant's object gets the answer of an unknown one, and one's own is returned`, async () => {
    const request = requestOf(entry, own.things);
    for (const name of namesIn(request)) {
      const unknownId = newId(kinds[name], systemRandom.bytes);
      const answers = [];
      for (const id of [foreign[name], unknownId]) {
        const reply = await answer(requestOf(entry, { ...own.things, [name]: id }), `Bearer ${own.key}`);
        const { error, ...rest } = reply;
        answers.push(
          JSON.parse(JSON.stringify({ ...rest, error: { ...error, requestId: '' } }).replaceAll(id, 'ID')),
        );
      }
      assert.deepEqual(answers[0], answers[1], name);
      if (entry.row.leavesOut === true) assert.deepEqual([answers[0].code, answers[0].data], [0, []]);
      else assert.notEqual(answers[0].code, 0, name);
    }
    const reply = await answer(request, `Bearer ${own.key}`);
    assert.deepEqual([reply.status, reply.code, reply.message], [200, 0, 'success']);
    // No answer contains anything of another merchant.
    const text = JSON.stringify(reply.data);
    assert.deepEqual(
      Object.values(foreign).filter((id: string) => text.includes(id)),
      [],
    );
  });
}
