import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { ofMerchantRoutes } from '@florin/protocol/dashboard-api.ts';
import { newId } from '@florin/protocol/id.ts';
import { memberRoles, needsFreshProof, type Role, rolePermissions } from '@florin/protocol/member-role.ts';
import type { Route } from '@florin/protocol/route.ts';
import { staffRoutes } from '@florin/protocol/staff-api.ts';
import { systemRandom } from '#outside/random.ts';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { isDeepRun } from '../../../test/harness/deep-only.ts';
import { nothing, requestFor, staffRequestFor } from '../../../test/harness/member-requests.ts';
import { entries, type Request } from '../../../test/harness/merchant-routes.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';

const insertStaff = statement({
  name: 'roles_test_insert_staff',
  parameters: { userId: 'text' },
  text: 'insert into staff (user_id, created_at) values (:userId, now())',
});

let world: DashboardWorld;
let own: Shop;
let foreign: Shop;
const browsers = new Map<Role, Browser>();

before(async () => {
  world = await DashboardWorld.open();
  own = await openShop(world.merchants);
  foreign = await openShop(world.merchants);
  const server = await world.serve('local');
  for (const role of [...memberRoles, 'staff'] as const) {
    const { userId, email } = await world.addPerson(role === 'staff' ? [] : [[own.merchantId, role]]);
    if (role === 'staff') await world.merchants.database.db.query(insertStaff, { userId });
    const browser = new Browser(server);
    assert.equal((await browser.post('/sign-in/password', { email, password })).code, 0);
    browser.merchantId = own.merchantId;
    browsers.set(role, browser);
  }
});
after(() => world.close());

function browserOf(role: Role): Browser {
  const browser = browsers.get(role);
  if (browser === undefined) throw new Error(`no ${role} has signed in`);
  return browser;
}

const routes: readonly [string, Route][] = Object.entries<Route>(ofMerchantRoutes);
const classOf = (route: Route) => `${route.method} ${route.permissions} ${needsFreshProof(route)}`;
/** One for each way in which permissions open routes; all in the deep run. */
const sampled = isDeepRun
  ? routes
  : [...Map.groupBy(routes, ([, route]) => classOf(route)).values()].flatMap((alike) => alike.slice(0, 1));

const send = (browser: Browser, { method, path, body }: Request) =>
  browser.send(method, path, body === undefined ? {} : { body });

for (const role of [...memberRoles, 'staff'] as const) {
  test(`${role}: every operation is open exactly where the table says`, async () => {
    const open: string[] = [];
    // The roles that may do most and least walk them all.
    const walked = ['owner', 'viewer'].includes(role) ? routes : sampled;
    for (const [name, route] of walked) {
      const reply = await send(browserOf(role), requestFor(name, route, nothing));
      if (reply.code === 200205) assert.equal(reply.status, 403);
      else {
        assert.equal(reply.status, 200, `${name}: ${reply.message}`);
        open.push(name);
      }
    }
    const held = rolePermissions[role];
    const allowed = walked.filter(([, { permissions }]) => permissions.some((each) => held.has(each)));
    assert.deepEqual(
      open,
      allowed.map(([name]) => name),
    );
  });
}

test('a path that no operation has is unknown, for every method', async () => {
  for (const method of ['GET', 'POST'] as const) {
    const { status, code } = await browserOf('owner').send(method, '/nothing/here', {
      headers: { accept: 'text/html' },
    });
    assert.deepEqual([status, code], [404, 404000]);
  }
});

const ofStaff: readonly [string, Route][] = Object.entries<Route>(staffRoutes);
test('operations of the installation are open to staff alone', async () => {
  for (const role of [...memberRoles, 'staff'] as const) {
    const walked = isDeepRun || ['owner', 'staff'].includes(role) ? ofStaff : ofStaff.slice(0, 3);
    for (const [name, route] of walked) {
      const { code } = await send(browserOf(role), staffRequestFor(name, route));
      assert.deepEqual([role, name, code === 200205], [role, name, role !== 'staff']);
      assert.notEqual(code, 999_999);
    }
  }
});

test('changes of the installation need a proof from the last five minutes', async () => {
  world.merchants.clock.time += 5 * 60_000;
  for (const [name, route] of ofStaff) {
    const { code } = await send(browserOf('staff'), staffRequestFor(name, route));
    assert.deepEqual([name, code === 200204], [name, route.method === 'POST']);
  }
  world.merchants.clock.time -= 5 * 60_000;
});

test('a person acts for no merchant but their own, whatever their role there', async () => {
  for (const role of memberRoles) {
    const { cookies } = browserOf(role);
    const browser = new Browser(await world.serve('local'));
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    for (const merchantId of [foreign.merchantId, newId('merchant', systemRandom.bytes)]) {
      browser.merchantId = merchantId;
      const isWhole = role === 'owner' && (isDeepRun || merchantId === foreign.merchantId);
      for (const [name, route] of isWhole ? routes : routes.slice(0, 3)) {
        const reply = await send(browser, requestFor(name, route, foreign.things));
        assert.deepEqual([role, name, reply.status, reply.code], [role, name, 403, 200205]);
      }
    }
  }
});

test('staff sees every merchant, and no merchant that is none', async () => {
  const browser = browserOf('staff');
  browser.merchantId = foreign.merchantId;
  const accounts = await browser.get('/account/list');
  assert.equal(accounts.data[0].accountId, foreign.things.accountId);
  browser.merchantId = newId('merchant', systemRandom.bytes);
  assert.equal((await browser.get('/account/list')).code, 200205);
  browser.merchantId = own.merchantId;
});

test('no operation shows or changes an object of another merchant', async () => {
  const browser = browserOf('owner');
  const ids: string[] = Object.values(foreign.things);
  for (const [name, route] of routes) {
    const request = requestFor(name, route, foreign.things);
    const reply = await send(browser, request);
    const isNamed = ids.some((id) => JSON.stringify(request).includes(id));
    const leavesOut = entries.find((each) => each.name === name)?.row.leavesOut === true;
    if (isNamed && !leavesOut) assert.notEqual(reply.code, 0, name);
    assert.deepEqual(
      ids.filter((id) => JSON.stringify(reply.data ?? '').includes(id)),
      [],
      name,
    );
  }
  const keys = (await world.merchants.send('GET', '/webhook/list', { key: foreign.key })).data;
  assert.equal(keys.webhooks.length, 2);
});

test('a request that names no merchant, or no id of one, is refused', async () => {
  const browser = browserOf('owner');
  for (const merchantId of ['', 'mer_1', '*', `${own.merchantId},${foreign.merchantId}`]) {
    browser.merchantId = merchantId;
    assert.deepEqual([merchantId, (await browser.get('/account/list')).code], [merchantId, 400101]);
  }
  browser.merchantId = own.merchantId;
});

test('sensitive operations need a proof from the last five minutes, and only those do', async () => {
  const browser = browserOf('owner');
  const sensitive = routes.filter(([, route]) => needsFreshProof(route));
  const refused = async (walked = isDeepRun ? routes : sensitive) => {
    const names: string[] = [];
    for (const [name, route] of walked) {
      const reply = await send(browser, requestFor(name, route, nothing));
      if (reply.code === 200204) names.push(name);
    }
    return names;
  };
  world.merchants.clock.time += 5 * 60_000 - 1;
  assert.deepEqual(await refused(), []);
  world.merchants.clock.time += 1;
  assert.deepEqual(
    await refused(routes),
    sensitive.map(([name]) => name),
  );
  const { webhookId } = own.things;
  const keyOf = async () => (await browser.get(`/webhook/detail/${webhookId}`)).data.key;
  assert.match(await keyOf(), /^whsec_\*{4}.{4}$/);
  assert.equal((await browser.post('/me/prove', { password: 'wrong horse battery' })).code, 200202);
  assert.equal((await browser.post('/me/prove', { password })).code, 0);
  assert.deepEqual(await refused(), []);
  assert.match(await keyOf(), /^whsec_[A-Za-z0-9+/]{43}=$/);
});

test('a member makes no key that can do more than the member', async () => {
  const developer = browserOf('developer');
  await developer.post('/me/prove', { password });
  const create = (body: object) => developer.post('/key/create', body);
  assert.equal((await create({ kind: 'secret' })).code, 200205);
  assert.equal((await create({ kind: 'restricted', permissions: ['refunds:write'] })).code, 200205);
  assert.equal((await create({ kind: 'restricted', permissions: ['members:write'] })).code, 400101);
  assert.equal((await create({ kind: 'secret', permissions: ['products:read'] })).code, 400101);
  const made = await create({
    kind: 'restricted',
    permissions: ['products:read'],
    maxSessionAmount: 5_000_000,
  });
  const { keyId, key } = made.data;
  assert.equal((await world.merchants.send('GET', '/product/list/1/1', { key })).code, 0);
  const { keys } = (await developer.get('/key/list')).data;
  const listed = keys.find((each: { keyId: string }) => each.keyId === keyId);
  assert.deepEqual(
    [listed.permissions, listed.maxSessionAmount, listed.last4],
    [['products:read'], 5_000_000, key.slice(-4)],
  );
  assert.equal((await developer.post('/key/disable', { keyId })).code, 0);
  assert.equal((await world.merchants.send('GET', '/product/list/1/1', { key })).code, 200102);
  const [other] = (await browserOf('owner').get('/key/list')).data.keys;
  const stranger = new Browser(await world.serve('local'));
  const { email } = await world.addPerson([[foreign.merchantId, 'owner']]);
  await stranger.post('/sign-in/password', { email, password });
  stranger.merchantId = foreign.merchantId;
  assert.equal((await stranger.post('/key/disable', { keyId: other.keyId })).code, 100806);
});

test('a member makes a key for a browser, which works from its origins alone until it is revoked', async () => {
  const owner = browserOf('owner');
  await owner.post('/me/prove', { password });
  const [origin, other] = ['https://tea.example.com', 'https://other.example.com'];
  const { code, message, data } = await owner.post('/key/create', {
    ...{ kind: 'restricted', permissions: ['products:read'], origins: [origin, 'https://cups.example.com'] },
  });
  assert.equal(code, 0, message);
  const { keyId, key } = data;
  const readFrom = async (from: string) =>
    (await world.merchants.send('GET', '/product/list/1/1', { key, headers: { origin: from } })).code;
  assert.deepEqual([await readFrom(origin), await readFrom(other)], [0, 200103]);
  assert.equal((await owner.post('/key/disable', { keyId })).code, 0);
  assert.equal(await readFrom(origin), 200102);
});
