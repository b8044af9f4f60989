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
import type { Browser as Chromium, Locator, Page } from 'playwright-core';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { invite } from '#members/invitation.ts';
import { addPerson, Browser, DashboardWorld, password, walletDelayMs } from '../harness/dashboard-world.ts';
import { nothing, requestFor, staffRequestFor } from '../harness/member-requests.ts';
import { linkFields } from '../harness/merchant-routes.ts';
import { addLateDeposit } from '../harness/payment-fixture.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { openChromium, openPage } from './chromium.ts';

/**
 * Every role against every act, in the dashboard itself. The permissions of routes say who may do what. `places` says
 * where the dashboard offers each act, and refuses to compile without a new one.
 */

type MerchantAct = keyof typeof ofMerchantRoutes;
type StaffAct = keyof typeof staffRoutes;

/** Where an act is offered: a screen, what opens the place there, and the control that begins the act. */
interface Place {
  readonly path: string;
  /** Clicked first, where it is there. */
  readonly opener?: (page: Page) => Locator;
  readonly control: (page: Page) => Locator;
  /** A rule beside the table of permissions. */
  readonly onlyFor?: readonly Role[];
}

const button = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole('main')
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first();
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name, exact: true });
const inSheet = (name: string) => (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const firstRow = (page: Page) => page.getByRole('main').locator('tbody tr button').first();

let world: DashboardWorld;
let shop: Shop;
let origin: string;
let chromium: Chromium;
/** Objects that the shop lacks. */
const more = { disabledLinkId: '', returnedExceptionId: '' };
const pages = new Map<Role, Page>();

const product = button('Acts for Tea');
const webhookMore = button('More');
const member = button('Acts for Vic');

/** Where each act of a merchant is offered; a text says why the dashboard has no place for it. */
function merchantPlaces(): Partial<Record<MerchantAct, Place | string>> {
  const { things } = shop;
  const hook = `webhooks/${things.webhookId}`;
  const wallet = `wallets/${things.accountId}`;
  const link = `links/${things.linkId}`;
  const late = `exceptions?exception=${things.lateExceptionId}`;
  return {
    createProduct: { path: 'products', control: button('Create a product') },
    updateProduct: { path: 'products', opener: product, control: item('Edit') },
    archiveProduct: { path: 'products', opener: product, control: item('Archive') },
    removeProduct: { path: 'products', opener: product, control: item('Delete') },
    unarchiveProduct: {
      ...{ path: 'products?status=archived', opener: button('Acts for Old tea'), control: item('Unarchive') },
    },
    updateBranding: { path: 'branding', control: button('Save') },
    createLink: { path: 'links', control: button('Create a link') },
    updateLink: { path: link, control: button('Edit') },
    disableLink: { path: link, control: button('Disable') },
    deleteLink: { path: link, opener: button('More acts'), control: item('Delete') },
    enableLink: { path: `links/${more.disabledLinkId}`, control: button('Enable') },
    createCheckoutSession: 'programs make sessions; people make links',
    cancelCheckoutSession: { path: `payments/${things.sessionId}`, control: button('Cancel') },
    createRefund: { path: `payments/${things.paidSessionId}`, control: button('Refund') },
    cancelRefund: { path: `refunds/${things.waitingRefundId}`, control: button('Withdraw refund') },
    withdrawSignedRefund: 'the same button, once a wallet was asked',
    startRefundSigning: { path: `refunds/${things.waitingRefundId}`, control: button('Connect and sign') },
    reportRefundSigning: 'follows the start of the signing by itself',
    endRefundSigning: 'follows the start of the signing by itself',
    resolveException: {
      ...{ path: `exceptions?exception=${more.returnedExceptionId}`, control: inSheet('Mark as resolved') },
    },
    acceptException: { path: late, control: inSheet('Accept') },
    refundException: { path: late, control: inSheet('Return') },
    createReport: { path: 'reports', control: button('Download') },
    createWebhook: { path: 'webhooks', control: button('Add a webhook') },
    updateWebhook: { path: hook, control: button('Edit') },
    testWebhook: { path: hook, control: button('Send a test') },
    refreshWebhookKey: { path: hook, control: button('Replace') },
    resendDeliveries: { path: hook, opener: webhookMore, control: item('Send again since a time') },
    disableWebhook: { path: hook, opener: webhookMore, control: item('Disable') },
    removeWebhook: { path: hook, opener: webhookMore, control: item('Delete') },
    enableWebhook: {
      ...{ path: `webhooks/${things.spareWebhookId}`, opener: webhookMore, control: item('Enable') },
    },
    resendDelivery: {
      ...{ path: `webhooks/${things.spareWebhookId}`, opener: firstRow, control: inSheet('Send again') },
    },
    renameMerchant: { path: 'settings', control: button('Change the name') },
    addWalletAccount: { path: 'wallets', control: button('Add a wallet') },
    cancelAccountChange: { path: 'wallets', control: button('Cancel') },
    updateAccount: { path: wallet, control: button('Change') },
    changeAccountAddress: { path: `wallets/${spareAccountId}`, control: button('New address') },
    removeAccount: { path: wallet, control: button('Remove') },
    changeMemberRole: { path: 'team', opener: member, control: item('Change the role') },
    removeMember: { path: 'team', opener: member, control: item('Remove') },
    // Two owners recover a member; docs/decisions/0118.
    recoverMember: {
      ...{ path: 'team', opener: member, control: item('Recover the account'), onlyFor: ['owner'] },
    },
    cancelMemberRecovery: {
      ...{ path: 'team', opener: button('Acts for Rae'), control: item('Cancel the recovery') },
    },
    inviteMember: { path: 'team', control: button('Invite a member') },
    revokeInvitation: { path: 'team', control: button('Withdraw') },
    createApiKey: { path: 'keys', control: button('Create a key') },
    disableApiKey: { path: 'keys', opener: firstRow, control: inSheet('Disable') },
  };
}

const staffPlaces: Partial<Record<StaffAct, Place>> = {
  createMerchant: { path: 'merchants', control: button('Create a merchant') },
  inviteToMerchant: { path: 'merchants', opener: button(/^Acts on /), control: item('Invite a person…') },
  suspendMerchant: { path: 'merchants', opener: button(/^Acts on (?!Suspended)/), control: item('Suspend…') },
  resumeMerchant: {
    ...{
      path: 'merchants?text=Suspended',
      opener: button(/^Acts on /),
      control: item('End the suspension…'),
    },
  },
  stopToken: { path: 'tokens', control: button(/^Stop… ethereum::usdc/) },
  resumeToken: { path: 'tokens', control: button(/^Take again… base::usdc/) },
  resumeHaltedChain: { path: 'chains', control: button('Resume…') },
  releaseSettlement: {
    path: 'settlements?tab=legs&state=waiting',
    opener: firstRow,
    control: inSheet('Release…'),
  },
  releaseMailAddress: { path: 'e-mails', control: button('Send to an address again…') },
};

const roles: readonly Role[] = [...memberRoles, 'staff'];
let spareAccountId = '';

const insertStaff = statement({
  name: 'deep_roles_insert_staff',
  parameters: { userId: 'text' },
  columns: {},
  text: 'insert into staff (user_id, created_at) values (:userId, now())',
});

const insertHaltedChain = statement({
  name: 'deep_roles_insert_halted_chain',
  parameters: { chainId: 'int8', hash: 'text', at: 'timestamptz' },
  columns: {},
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
  spareAccountId = await world.merchants.addAccount(merchantId);
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
async function offers(page: Page, { opener, control }: Place, isExpected: boolean): Promise<boolean> {
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
  acts: readonly (readonly [name: string, route: Route, place: Place])[],
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
  places: Partial<Record<Name, Place | string>>,
): readonly (readonly [string, Route, Place | string | undefined])[] {
  return Object.entries<Route>(routes)
    .filter(([, { effect }]) => effect !== 'query')
    .map(([name, route]) => [name, route, places[name as Name]] as const);
}

const isPlaced = (
  act: readonly [string, Route, Place | string | undefined],
): act is readonly [string, Route, Place] => typeof act[2] === 'object';

test('every act of the API has its place in the dashboard, or a reason to have none', () => {
  const all = [...actsOf(ofMerchantRoutes, merchantPlaces()), ...actsOf(staffRoutes, staffPlaces)];
  assert.ok(all.length > 50, `${all.length} acts`);
  assert.deepEqual(
    all.flatMap(([name, , place]) => (place === undefined ? [name] : [])),
    [],
  );
});

for (const role of roles) {
  test(`${role}: each of a merchant's screens offers exactly the acts that the permissions allow`, async () => {
    await compareActs(role, shop.merchantId, actsOf(ofMerchantRoutes, merchantPlaces()).filter(isPlaced));
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
