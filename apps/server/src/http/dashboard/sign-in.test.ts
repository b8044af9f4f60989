import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { getMigrations } from 'better-auth/db/migration';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { operator } from '#members/audit.ts';
import { invite } from '#members/invitation.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { signInConfiguration } from '#members/sign-in.ts';
import { Browser, DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';
import { totpCodeOf } from '../../../test/harness/totp.ts';

let world: DashboardWorld;
let local: FastifyInstance;
let production: FastifyInstance;
before(async () => {
  world = await DashboardWorld.open();
  local = await world.serve('local');
  production = await world.serve('production');
});
after(() => world.close());

test('the tables of sign-in are those that the library expects', async () => {
  const url = withSystemScope(withSystemScope(world.options.databaseUrl, schema), {
    scope: { setting: 'search_path', everything: 'sign_in', accepts: () => false },
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const { toBeCreated, toBeAdded } = await getMigrations(signInConfiguration(world.options, pool));
    assert.deepEqual([toBeCreated, toBeAdded], [[], []]);
  } finally {
    await pool.end();
  }
});

test('a link makes an account, signs in and shows ten recovery codes once', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { token } = await world.merchants.database.db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId, role: 'owner', email: '', invitedBy: '' }),
  );
  const browser = new Browser(local);
  const shown = await browser.post('/invitation/show', { token });
  assert.deepEqual([shown.data.merchantName, shown.data.role], ['Test merchant', 'owner']);
  const person = { token, name: 'Ada', email: 'Ada@Example.com', password };
  assert.equal(
    (await browser.post('/invitation/accept-as-new', { ...person, password: 'short' })).code,
    400101,
  );
  const accepted = await browser.post('/invitation/accept-as-new', person);
  assert.equal(accepted.data.merchantId, merchantId);
  assert.equal(accepted.data.recoveryCodes.length, 10);
  const me = await browser.get('/me');
  assert.deepEqual(
    [me.data.email, me.data.merchants, me.data.recoveryCodes, me.data.isStrong],
    [
      'ada@example.com',
      [{ merchantId, merchantName: 'Test merchant', role: 'owner', isSuspended: false }],
      10,
      true,
    ],
  );
  assert.equal((await new Browser(local).post('/invitation/accept-as-new', person)).code, 100803);
});

test('an invitation with an e-mail address is for the account of that address alone, and tells of no other', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { db } = world.merchants.database;
  const inviteTo = async (email: string) => {
    const request = { merchantId, role: 'viewer', email, invitedBy: '' } as const;
    return (await db.transaction((transaction) => invite(transaction, world.options, request))).token;
  };
  const guest = await world.addPerson();
  const other = await world.addPerson();
  const accept = async (token: string, email: string) =>
    (await Browser.signedIn(local, email)).post('/me/invitation/accept', { token });
  const asNew = (token: string, email: string) =>
    new Browser(local).post('/invitation/accept-as-new', { token, name: 'Kim', email, password });

  const toGuest = await inviteTo(guest.email.toUpperCase());
  const taken = await asNew(toGuest, guest.email);
  assert.match(taken.message, /^Invalid field: email makes no new account with this invitation/);
  for (const email of [other.email, 'nobody.there@example.com'])
    assert.deepEqual([email, (await asNew(toGuest, email)).message], [email, taken.message]);
  assert.equal((await accept(toGuest, other.email)).code, 100803);
  assert.equal((await accept(toGuest, guest.email)).code, 0);
  const toNew = await inviteTo('kim.invited@example.com');
  assert.equal((await asNew(toNew, 'Kim.Invited@example.com')).code, 0);

  // A free one is for the first address that has an account, and answers the same for every other one from then on.
  const free = await inviteTo('');
  for (const email of [other.email, guest.email, 'nobody.there@example.com'])
    assert.deepEqual([email, (await asNew(free, email)).message], [email, taken.message]);
  assert.equal((await accept(free, other.email)).code, 0);
  const loose = await inviteTo('');
  const third = await world.addPerson();
  assert.equal((await accept(loose, third.email)).code, 0);
});

test('without an invitation no request makes an account', async () => {
  const browser = new Browser(local);
  const person = { token: 'x', name: 'Eve', email: 'eve@example.com', password };
  assert.equal((await browser.post('/invitation/accept-as-new', person)).code, 100803);
  // Nothing of the library is reachable but by the door.
  for (const path of [
    '/dashboard/auth/sign-up/email',
    '/dashboard/auth/sign-in/email',
    '/dashboard/auth/get-session',
  ]) {
    const reply = await local.inject({
      method: 'POST',
      url: path,
      headers: { origin: dashboardOrigin },
      payload: {},
    });
    assert.equal(reply.statusCode, 404);
  }
});

test('a wrong password, an unknown name and no cookie tell nothing', async () => {
  const { email } = await world.addPerson();
  const browser = new Browser(local);
  const answers = await Promise.all([
    browser.post('/sign-in/password', { email, password: 'wrong horse battery' }),
    browser.post('/sign-in/password', { email: 'nobody@example.com', password }),
  ]);
  assert.deepEqual(new Set(answers.map(({ status, message }) => `${status} ${message}`)).size, 1);
  assert.deepEqual([answers[0].status, answers[0].code], [401, 200202]);
  assert.deepEqual([(await browser.get('/me')).status, (await browser.get('/me')).code], [401, 200201]);
});

test('the session cookie is bound to the host, unreadable for scripts and kept from other sites', async () => {
  const { email } = await world.addPerson();
  const reply = await new Browser(local).post('/sign-in/password', { email, password });
  const cookies = [reply.headers['set-cookie']].flat().map(String);
  const session = cookies.find((cookie) => cookie.includes('session_token'));
  assert.match(
    session ?? '',
    /^__Host-florin\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.equal(reply.text.includes('token'), false);
});

test('a write from another origin, or from none, is refused on every route', async () => {
  const writes = Object.values<Route>(dashboardApi.routes).filter(({ method }) => method !== 'GET');
  assert.ok(writes.length > 50);
  const { email } = await world.addPerson();
  const browser = await Browser.signedIn(local, email);
  for (const origin of ['https://evil.example', 'null', 'http://pay.example.com', '']) {
    for (const { method, path } of writes) {
      const reply = await browser.send(method, path, { headers: { origin }, body: {} });
      assert.deepEqual([origin, path, reply.status, reply.code], [origin, path, 403, 200206]);
    }
  }
  // A browser that says where the request comes from must say the same.
  const headers = { 'sec-fetch-site': 'cross-site' };
  assert.equal((await browser.send('POST', '/me/sign-out', { headers })).code, 200206);
  assert.equal((await browser.get('/me')).code, 0);
});

test('a device cookie counts only when the service issued it for this person', async () => {
  const [ada, eve] = [await world.addPerson(), await world.addPerson()];
  const browser = await Browser.signedIn(local, ada.email);
  const [name = '', issued = ''] = [...browser.cookies].find(([key]) => key.endsWith('.device')) ?? [];
  const isNew = async (email: string, cookie: string): Promise<[boolean, string]> => {
    const other = new Browser(local);
    other.cookies.set(name, cookie);
    await other.post('/sign-in/password', { email, password });
    const { sessions } = (await other.get('/me/session/list')).data;
    const { isNewDevice } = sessions.find(({ isThis }: { isThis: boolean }) => isThis);
    return [isNewDevice, other.cookies.get(name) ?? ''];
  };
  assert.deepEqual(await isNew(ada.email, issued), [false, issued]);
  const chosen = 'A'.repeat(22);
  for (const cookie of [chosen, `${chosen}.${'A'.repeat(43)}`, `${chosen}.${issued.split('.')[1]}`]) {
    const [isNewDevice, kept] = await isNew(ada.email, cookie);
    assert.deepEqual([isNewDevice, kept.startsWith(chosen)], [true, false]);
  }
  // A second person in the same browser gets an entry, and the first keeps one.
  const [isNewForEve, both] = await isNew(eve.email, issued);
  assert.deepEqual([isNewForEve, both.endsWith(`~${issued}`)], [true, true]);
  assert.deepEqual((await isNew(ada.email, both))[0], false);
});

test('a refusal has our words and none of the library', async () => {
  const { email } = await world.addPerson();
  const browser = await Browser.signedIn(local, email);
  const { message } = await browser.post('/me/password/change', {
    currentPassword: 'wrong horse battery',
    newPassword: 'another long password',
  });
  assert.equal(message, 'Sign-in failed: wrong password');
});

test('sessions are listed with their device, and end when revoked or signed out', async () => {
  const { email } = await world.addPerson();
  const first = await Browser.signedIn(local, email);
  await first.post('/me/sign-out');
  assert.equal((await first.get('/me')).code, 200201);
  // The same browser again: its device is known.
  assert.equal((await first.post('/sign-in/password', { email, password })).code, 0);
  const second = await Browser.signedIn(local, email);
  const { sessions } = (await first.get('/me/session/list')).data;
  const shown = sessions.map(({ isThis, isNewDevice, clientAddress, userAgent }: Record<string, unknown>) => [
    ...[isThis, isNewDevice, clientAddress, userAgent],
  ]);
  assert.deepEqual(shown, [
    [false, true, '192.0.2.1', 'Test browser'],
    [true, false, '192.0.2.1', 'Test browser'],
  ]);
  assert.equal((await first.get('/me')).data.newDevices, 1);
  await first.post('/me/session/revoke', { sessionId: sessions[0].sessionId });
  assert.equal((await second.get('/me')).code, 200201);
  const stranger = await Browser.signedIn(local, (await world.addPerson()).email);
  await stranger.post('/me/session/revoke', { sessionId: sessions[1].sessionId });
  assert.equal((await first.get('/me')).code, 0);
  // A local world may run ahead: a session that still works is listed.
  const aheadMs = 8 * 86_400_000;
  world.merchants.clock.time += aheadMs;
  const later = (await first.get('/me/session/list')).data.sessions;
  world.merchants.clock.time -= aheadMs;
  assert.deepEqual(later, [sessions[1]]);
});

test('a sign-in replaces the session that the browser had', async () => {
  const { email } = await world.addPerson();
  const browser = await Browser.signedIn(local, email);
  const stolen = new Browser(local);
  for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
  await browser.post('/sign-in/password', { email, password });
  assert.equal((await stolen.get('/me')).code, 200201);
  assert.equal((await browser.get('/me')).code, 0);
});

test('in production a password alone opens only the way to a stronger proof', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  const browser = await Browser.signedIn(production, email);
  browser.merchantId = merchantId;
  assert.deepEqual(
    [(await browser.get('/me')).data.isStrong, (await browser.get('/member/list')).code],
    [false, 200203],
  );

  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  assert.equal((await browser.post('/me/second-factor/confirm', { code: '000000' })).code, 200202);
  assert.equal((await browser.post('/me/second-factor/confirm', { code: totpCodeOf(totpUri) })).code, 0);
  assert.deepEqual(
    [(await browser.get('/me')).data.proof, (await browser.get('/member/list')).code],
    ['second_factor', 0],
  );

  const next = new Browser(production);
  next.merchantId = merchantId;
  const half = await next.post('/sign-in/password', { email, password });
  assert.deepEqual(half.data, { isSignedIn: false, needsCode: true });
  assert.equal((await next.get('/me')).code, 200201);
  assert.equal((await next.post('/sign-in/code', { code: '000000' })).code, 200202);
  assert.equal((await next.post('/sign-in/code', { code: totpCodeOf(totpUri, 1) })).code, 0);
  assert.equal((await next.get('/member/list')).code, 0);

  // A password without the code neither proves nor changes anything.
  world.merchants.clock.time += 5 * 60_000;
  assert.equal((await next.post('/me/prove', { password })).code, 200202);
  assert.equal((await next.post('/me/recovery-codes/renew')).code, 200204);
  assert.equal((await next.post('/me/prove', { password, code: totpCodeOf(totpUri) })).code, 0);
  assert.equal((await next.post('/me/recovery-codes/renew')).data.recoveryCodes.length, 10);
});

test('a recovery code signs in once, and opens the way to a new passkey alone', async () => {
  const { email } = await world.addPerson();
  const owner = await Browser.signedIn(local, email);
  const { recoveryCodes } = (await owner.post('/me/recovery-codes/renew')).data;
  const browser = new Browser(production);
  const code = recoveryCodes[0].toUpperCase().replaceAll('-', ' ');
  assert.equal((await browser.post('/sign-in/recovery-code', { email, code })).code, 0);
  const me = (await browser.get('/me')).data;
  assert.deepEqual([me.proof, me.isStrong, me.recoveryCodes], ['recovery', false, 9]);
  const options = await browser.post('/me/passkey/start');
  assert.deepEqual(
    [options.data.rp, options.data.authenticatorSelection.userVerification],
    [{ name: 'Florin', id: 'pay.example.com' }, 'required'],
  );
  assert.equal((await new Browser(production).post('/sign-in/recovery-code', { email, code })).code, 200202);
  const stranger = (await world.addPerson()).email;
  const other = { email: stranger, code: recoveryCodes[1] };
  assert.equal((await new Browser(production).post('/sign-in/recovery-code', other)).code, 200202);
});

test('a new password ends the other sessions and replaces the old one', async () => {
  const { email } = await world.addPerson();
  const [browser, other] = [await Browser.signedIn(local, email), await Browser.signedIn(local, email)];
  const newPassword = 'another long password';
  const change = (currentPassword: string) =>
    browser.post('/me/password/change', { currentPassword, newPassword });
  assert.equal((await change('wrong horse battery')).code, 200202);
  assert.equal((await change(password)).code, 0);
  assert.deepEqual([(await browser.get('/me')).code, (await other.get('/me')).code], [0, 200201]);
  assert.equal((await new Browser(local).post('/sign-in/password', { email, password })).code, 200202);
});

test('a second factor that is set or removed ends the other sessions and forgets the other devices, and a recovery code does not', async () => {
  const { email } = await world.addPerson();
  const [browser, phone] = [await Browser.signedIn(local, email), await Browser.signedIn(local, email)];
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  assert.equal((await phone.get('/me')).code, 0);
  assert.equal((await browser.post('/me/second-factor/confirm', { code: totpCodeOf(totpUri) })).code, 0);
  const bothSee = async () => [(await browser.get('/me')).code, (await phone.get('/me')).code];
  assert.deepEqual(await bothSee(), [0, 200201]);

  await phone.post('/sign-in/password', { email, password });
  assert.equal((await phone.post('/sign-in/code', { code: totpCodeOf(totpUri, 1) })).code, 0);
  assert.deepEqual(await bothSee(), [0, 0]);
  const { sessions } = (await phone.get('/me/session/list')).data;
  assert.equal(sessions.find(({ isThis }: { isThis: boolean }) => isThis)?.isNewDevice, true);
  assert.equal((await browser.post('/me/second-factor/remove', { password })).code, 0);
  assert.deepEqual(await bothSee(), [0, 200201]);

  const { recoveryCodes } = (await browser.post('/me/recovery-codes/renew')).data;
  await phone.post('/sign-in/recovery-code', { email, code: recoveryCodes[0] });
  assert.deepEqual(await bothSee(), [0, 0]);
});

test('a common password, and names of the person, the merchant and the installation, are no new password', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { email, userId } = await world.addPerson([[merchantId, 'owner']]);
  const browser = await Browser.signedIn(local, email);
  const localPart = email.split('@')[0] ?? '';
  const easy = ['password1234', 'QWERTYUIOP123', `${localPart}1`, 'TestMerchant2024', 'florin-florin-1'];
  const { db } = world.merchants.database;
  const deps = { ...world.merchants.deps, recoveryDelayMs: 0 };
  const { token } = await db.transaction((transaction) =>
    recoverByOperator(transaction, deps, { userId, actor: operator }),
  );
  const invitation = { merchantId, role: 'viewer', email: '', invitedBy: '' } as const;
  const invited = await db.transaction((transaction) => invite(transaction, deps, invitation));
  const visitor = new Browser(local);
  const person = { token: invited.token, name: 'Kim', email: 'kim.new@example.com' };
  for (const given of easy) {
    const replies = [
      await browser.post('/me/password/change', { currentPassword: password, newPassword: given }),
      await visitor.post('/recovery/complete', { token, password: given }),
      ...(given.startsWith(localPart)
        ? []
        : [await visitor.post('/invitation/accept-as-new', { ...person, password: given })]),
    ];
    for (const { code, message } of replies) {
      assert.deepEqual([given, code], [given, 400101]);
      assert.match(message, /^Invalid field: (newPassword|password) is easy to guess: /);
    }
  }
  // Nothing was used up or changed.
  assert.equal((await new Browser(local).post('/sign-in/password', { email, password })).code, 0);
  assert.equal((await visitor.post('/invitation/accept-as-new', { ...person, password })).code, 0);
  const body = { token, password: 'several unlike words' };
  assert.equal((await new Browser(local).post('/recovery/complete', body)).code, 0);
});
