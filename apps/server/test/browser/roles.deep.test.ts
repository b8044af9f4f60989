import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import { statement } from '@florin/pg';
import { dashboardApi, merchantHeader, ofMerchantRoutes } from '@florin/protocol/dashboard-api.ts';
import { memberRoles, type Role, rolePermissions } from '@florin/protocol/member-role.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import type { Route } from '@florin/protocol/route.ts';
import { staffRoutes } from '@florin/protocol/staff-api.ts';
import { findFreePort } from '@florin/world';
import type { Browser as Chromium, Page } from 'playwright-core';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { invite } from '#members/invitation.ts';
import { addPerson, Browser, DashboardWorld, password, walletDelayMs } from '../harness/dashboard-world.ts';
import { nothing, requestFor, staffRequestFor } from '../harness/member-requests.ts';
import { linkFields } from '../harness/merchant-routes.ts';
import { addLateDeposit } from '../harness/payment-fixture.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { openChromium, openPage } from './chromium.ts';
import { type ActPlace, merchantPlaces, staffPlaces } from './role-places.ts';

/**
 * Every role against every act, in the dashboard itself. The permissions of routes say who may do what.
 * `role-places.ts` says where the dashboard offers each act, and a test fails for an act without a place.
 */

let world: DashboardWorld;
let shop: Shop;
let origin: string;
let chromium: Chromium;
/** Objects that the shop lacks. */
const more = { disabledLinkId: '', returnedExceptionId: '', spareAccountId: '' };
const pages = new Map<Role, Page>();

const roles: readonly Role[] = [...memberRoles, 'staff'];

const insertStaff = statement({
  name: 'deep_roles_insert_staff',
  parameters: { userId: 'text' },
  text: 'insert into staff (user_id, created_at) values (:userId, now())',
});

const insertHaltedChain = statement({
  name: 'deep_roles_insert_halted_chain',
  parameters: { chainId: 'int8', hash: 'text', at: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time,
     halted_reason, updated_at)
   values (:chainId, 20, :hash, :at, 16, :hash, :at, 'reorg below the final block 16', :at)`,
});

before(async () => {
  await buildPages();
  const port = await findFreePort();
  origin = `http://localhost:${port}`;
  world = await DashboardWorld.open(undefined, origin);
  const server = await world.serve('local', undefined, [dashboardPagesDoor(), world.previews()]);
  await server.listen({ host: 'localhost', port });
  shop = await openShop(world.merchants);
  chromium = await openChromium();
  const { db } = world.merchants.database;
  const { merchantId } = shop;

  const emails = new Map<Role, string>();
  // Owners recover others once there are two of them for the delay.
  world.merchants.clock.time -= walletDelayMs;
  await addPerson(db, world.options, { name: 'Second', memberships: [[merchantId, 'owner']] });
  for (const role of roles) {
    const memberships = role === 'staff' ? [] : ([[merchantId, role]] as const);
    const { userId, email } = await addPerson(db, world.options, { name: `One ${role}`, memberships });
    if (role === 'staff') await db.query(insertStaff, { userId });
    emails.set(role, email);
  }
  world.merchants.clock.time += walletDelayMs;
  const send = async (browser: Browser, path: string, body: object) => {
    const reply = await browser.send('POST', path, { body, headers: { origin } });
    assert.equal(reply.code, 0, `${path}: ${reply.message}`);
    return reply.data;
  };
  const enter = async (email: string) => {
    const browser = new Browser(server);
    await send(browser, '/sign-in/password', { email, password });
    browser.merchantId = merchantId;
    return browser;
  };
  await addObjects(await enter(emails.get('owner') ?? ''), send);
  await addInstallation(await enter(emails.get('staff') ?? ''), send);

  for (const role of roles) {
    const { page } = await openPage(chromium, { isApart: true });
    // A wallet, so that a refund can be signed. It is asked nothing here.
    await page.addInitScript('window.ethereum = { request: () => new Promise(() => {}), on() {} }');
    await page.goto(`${origin}/dashboard/sign-in`);
    await page.getByLabel('E-mail').fill(emails.get(role) ?? '');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Password', { exact: true }).press('Enter');
    await page.waitForURL(role === 'staff' ? '**/operator' : `**/${merchantId}`);
    pages.set(role, page);
  }
});
after(async () => {
  await chromium.close();
  await world.close();
});

type Send = (browser: Browser, path: string, body: object) => Promise<{ readonly [name: string]: string }>;

/** What the acts are about, beside the things of every shop. */
async function addObjects(owner: Browser, send: Send): Promise<void> {
  const { merchantId, things } = shop;
  const { db } = world.merchants.database;
  const product = { name: 'Old tea', commonPrices: [1_000_000] };
  const { productId } = await send(owner, '/product/create', product);
  await send(owner, '/product/archive', { productId });
  const { linkId = '' } = await send(owner, '/payment/link/create', linkFields(things));
  await send(owner, '/payment/link/disable', { linkId });
  more.disabledLinkId = linkId;
  const merchantShop = { key: shop.key, accountId: things.accountId };
  const returned = await addLateDeposit(world.merchants, merchantShop, 'return');
  more.returnedExceptionId = returned.exceptionId;
  await send(owner, '/webhook/test', { webhookId: things.spareWebhookId });
  await send(owner, '/webhook/disable', { webhookId: things.spareWebhookId });
  await send(owner, '/key/create', { kind: 'restricted', permissions: ['products:read'] });
  const accountAddress = `0x${'3'.repeat(40)}`;
  await send(owner, '/account/address', { accountId: things.accountId, accountAddress });
  more.spareAccountId = await world.merchants.addAccount(merchantId);
  await db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId, role: 'viewer', email: '', invitedBy: '' }),
  );
  const memberships = [[merchantId, 'viewer']] as const;
  await addPerson(db, world.options, { name: 'Vic', memberships });
  const { userId } = await addPerson(db, world.options, { name: 'Rae', memberships });
  await send(owner, '/member/recover', { userId });
}

/** What the acts of the operator are about. */
async function addInstallation(staff: Browser, send: Send): Promise<void> {
  const { merchantId = '' } = await send(staff, '/staff/merchant/create', { merchantName: 'Suspended' });
  await send(staff, '/staff/merchant/suspend', { merchantId, reason: 'a test' });
  await send(staff, '/staff/token/stop', { token: 'base::usdc', reason: 'a test' });
  const [chain] = world.merchants.deps.chains.all;
  assert.ok(chain !== undefined);
  const halted = { chainId: BigInt(chain.chainId), hash: `0x${'ab'.repeat(32)}`, at: new Date() };
  await world.merchants.database.db.query(insertHaltedChain, halted);
}

function pageOf(role: Role): Page {
  const page = pages.get(role);
  if (page === undefined) throw new Error(`no ${role} has signed in`);
  return page;
}

const mayDo = (role: Role, permissions: readonly MemberPermission[]) =>
  permissions.some((permission) => rolePermissions[role].has(permission));

async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`${origin}/dashboard/${path}`);
  await page.waitForLoadState('networkidle');
  // By its element: an open dialog hides the page's heading from roles.
  await page.locator('h1').first().waitFor();
}

/** Whether a place offers its act. Waits for what must be there, so that only what is really absent counts as absent. */
async function offers(page: Page, { opener, control }: ActPlace, isExpected: boolean): Promise<boolean> {
  const opening = opener?.(page);
  if (opening !== undefined) {
    if (isExpected) await opening.waitFor({ timeout: 15_000 }).catch(() => undefined);
    if ((await opening.count()) === 0) return false;
    await opening.click();
    if (!isExpected) await page.waitForTimeout(500);
  }
  const found = control(page);
  if (isExpected) await found.waitFor({ timeout: 15_000 }).catch(() => undefined);
  return (await found.count()) > 0;
}

/** The acts of a table that a role's dashboard offers, and those that the permissions allow. */
async function compareActs(
  role: Role,
  base: string,
  acts: readonly (readonly [name: string, route: Route, place: ActPlace])[],
): Promise<void> {
  const page = pageOf(role);
  const [offered, allowed]: [string[], string[]] = [[], []];
  /** The screen that the page shows, with nothing opened. */
  let shown = '';
  for (const [name, { permissions }, place] of acts) {
    const isAllowed = mayDo(role, permissions) && (place.onlyFor?.includes(role) ?? true);
    if (isAllowed) allowed.push(name);
    if (shown !== place.path) await visit(page, `${base}/${place.path}`);
    shown = place.opener === undefined ? place.path : '';
    if (await offers(page, place, isAllowed)) offered.push(name);
  }
  assert.deepEqual(offered, allowed);
}

function actsOf<Name extends string>(
  routes: Readonly<Record<Name, Route>>,
  places: Partial<Record<Name, ActPlace | string>>,
): readonly (readonly [string, Route, ActPlace | string | undefined])[] {
  return Object.entries<Route>(routes)
    .filter(([, { effect }]) => effect !== 'query')
    .map(([name, route]) => [name, route, places[name as Name]] as const);
}

const isPlaced = (
  act: readonly [string, Route, ActPlace | string | undefined],
): act is readonly [string, Route, ActPlace] => typeof act[2] === 'object';

test('every act of the API has its place in the dashboard, or a reason to have none', () => {
  const all = [
    ...actsOf(ofMerchantRoutes, merchantPlaces({ ...more, things: shop.things })),
    ...actsOf(staffRoutes, staffPlaces),
  ];
  assert.ok(all.length > 50, `${all.length} acts`);
  assert.deepEqual(
    all.flatMap(([name, , place]) => (place === undefined ? [name] : [])),
    [],
  );
});

for (const role of roles) {
  test(`${role}: each of a merchant's screens offers exactly the acts that the permissions allow`, async () => {
    await compareActs(
      role,
      shop.merchantId,
      actsOf(ofMerchantRoutes, merchantPlaces({ ...more, things: shop.things })).filter(isPlaced),
    );
  });
}

test('the operator’s screens offer every act to staff, and say to members that there is nothing', async () => {
  await compareActs('staff', 'operator', actsOf(staffRoutes, staffPlaces).filter(isPlaced));
  for (const role of memberRoles)
    for (const path of new Set(Object.values(staffPlaces).map((place) => place.path))) {
      await visit(pageOf(role), `operator/${path}`);
      await pageOf(role).getByRole('heading', { name: 'There is nothing here' }).waitFor();
    }
});

/** Path and permission of each of a merchant's screens, as their own files say. */
function screensOfMerchant(): { path: string; permission: MemberPermission | undefined }[] {
  const source = new URL('../../../dashboard/src/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^[\w-]+\/screen\.ts$/.test(file),
  );
  const screens = files.flatMap((file) => {
    const text = readFileSync(new URL(file, source), 'utf8');
    const path = /\bpath: '([\w-]*)'/.exec(text)?.[1];
    const permission = /\bpermission: '([\w:]+)'/.exec(text)?.[1] as MemberPermission | undefined;
    return path === undefined ? [] : [{ path, permission }];
  });
  assert.ok(screens.length >= 15, `${screens.length} screens`);
  return screens;
}

test('a screen that the role does not open says so, and stands in no navigation', async () => {
  for (const role of roles) {
    const page = pageOf(role);
    for (const { path, permission } of screensOfMerchant()) {
      const isOpen = permission === undefined || mayDo(role, [permission]);
      await visit(page, `${shop.merchantId}/${path}`);
      const closed = page.getByRole('heading', { name: 'Your role does not open this screen' });
      const address = `/dashboard/${shop.merchantId}${path === '' ? '' : `/${path}`}`;
      const link = page.getByRole('navigation', { name: 'Screens' }).locator(`a[href="${address}"]`);
      assert.deepEqual(
        [role, path, (await closed.count()) === 0, (await link.count()) > 0],
        [role, path, isOpen, isOpen],
      );
    }
  }
});

test('the door refuses each role what its screens do not offer', async () => {
  for (const role of roles) {
    const requests = [
      ...Object.entries<Route>(ofMerchantRoutes).map(([name, route]) => ({
        ...{ name, isOpen: mayDo(role, route.permissions), ...requestFor(name, route, nothing) },
      })),
      ...Object.entries<Route>(staffRoutes).map(([name, route]) => ({
        ...{ name, isOpen: mayDo(role, route.permissions), ...staffRequestFor(name, route) },
      })),
    ].filter(({ isOpen }) => !isOpen);
    const header = { [merchantHeader]: shop.merchantId };
    const given = JSON.stringify({ requests, header, basePath: dashboardApi.basePath });
    const codes = await pageOf(role).evaluate(`(async ({ requests, header, basePath }) => {
      const codes = [];
      for (const { method, path, body } of requests) {
        const headers = body === undefined ? header : { ...header, 'content-type': 'application/json' };
        const answer = await fetch(basePath + path, { method, headers, body: body && JSON.stringify(body) });
        codes.push((await answer.json()).code);
      }
      return codes;
    })(${given})`);
    assert.deepEqual(
      [role, codes],
      [role, requests.map(() => 200205)],
      requests.map(({ name }) => name).join(', '),
    );
  }
});
