import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import type { WalletPurpose } from '@florin/protocol/dashboard-sign-in.ts';
import { getMigrations } from 'better-auth/db/migration';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { hashMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { recoverAddress } from 'viem/utils';
import { schema } from '#db/schema.ts';
import { operator } from '#members/audit.ts';
import { invite } from '#members/invitation.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { signInConfiguration } from '#members/sign-in.ts';
import { Browser, DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';
import { totpCode } from '../../../test/harness/totp.ts';
import { defaultRateLimits } from '../rate-limit.ts';

let world: DashboardWorld;
let local: FastifyInstance;
let production: FastifyInstance;
before(async () => {
  // Chain 1 is configured here, and has plain wallets only.
  world = await DashboardWorld.open(
    async ({ chainId, address, message, signature }) =>
      chainId === 1 && (await recoverAddress({ hash: hashMessage(message), signature })) === address,
  );
  local = await world.serve('local');
  production = await world.serve('production');
});
after(() => world.close());

/** A browser in which a person has signed in with the password. */
async function signedIn(server: FastifyInstance, email: string): Promise<Browser> {
  const browser = new Browser(server);
  const reply = await browser.post('/sign-in/password', { email, password });
  assert.deepEqual([reply.status, reply.code], [200, 0], reply.message);
  return browser;
}

/** The code of an authenticator that has scanned this URI, now or some time steps later. */
function codeOf(totpUri: string, later = 0): string {
  return totpCode(new URL(totpUri).searchParams.get('secret') ?? '', Date.now() + later * 30_000);
}

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
    (await signedIn(local, email)).post('/me/invitation/accept', { token });
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
  const { email } = await world.addPerson();
  const browser = await signedIn(local, email);
  for (const origin of ['https://evil.example', 'null', 'http://pay.example.com', '']) {
    const headers = { origin };
    const replies = [
      await browser.send('POST', '/me/sign-out', { headers }),
      await browser.send('POST', '/sign-in/password', { headers, body: { email, password } }),
      await browser.send('POST', '/product/create', { headers, body: {} }),
    ];
    for (const reply of replies) assert.deepEqual([origin, reply.status, reply.code], [origin, 403, 200206]);
  }
  // A browser that says where the request comes from must say the same.
  const headers = { 'sec-fetch-site': 'cross-site' };
  assert.equal((await browser.send('POST', '/me/sign-out', { headers })).code, 200206);
  assert.equal((await browser.get('/me')).code, 0);
});

test('a device cookie counts only when the service issued it for this person', async () => {
  const [ada, eve] = [await world.addPerson(), await world.addPerson()];
  const browser = await signedIn(local, ada.email);
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
  const browser = await signedIn(local, email);
  const { message } = await browser.post('/me/password/change', {
    currentPassword: 'wrong horse battery',
    newPassword: 'another long password',
  });
  assert.equal(message, 'Sign-in failed: wrong password');
});

test('sessions are listed with their device, and end when revoked or signed out', async () => {
  const { email } = await world.addPerson();
  const first = await signedIn(local, email);
  await first.post('/me/sign-out');
  assert.equal((await first.get('/me')).code, 200201);
  // The same browser again: its device is known.
  assert.equal((await first.post('/sign-in/password', { email, password })).code, 0);
  const second = await signedIn(local, email);
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
  const stranger = await signedIn(local, (await world.addPerson()).email);
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
  const browser = await signedIn(local, email);
  const stolen = new Browser(local);
  for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
  await browser.post('/sign-in/password', { email, password });
  assert.equal((await stolen.get('/me')).code, 200201);
  assert.equal((await browser.get('/me')).code, 0);
});

test('in production a password alone opens only the way to a stronger proof', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  const browser = await signedIn(production, email);
  browser.merchantId = merchantId;
  assert.deepEqual(
    [(await browser.get('/me')).data.isStrong, (await browser.get('/member/list')).code],
    [false, 200203],
  );

  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  assert.equal((await browser.post('/me/second-factor/confirm', { code: '000000' })).code, 200202);
  assert.equal((await browser.post('/me/second-factor/confirm', { code: codeOf(totpUri) })).code, 0);
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
  assert.equal((await next.post('/sign-in/code', { code: codeOf(totpUri, 1) })).code, 0);
  assert.equal((await next.get('/member/list')).code, 0);

  // A password without the code neither proves nor changes anything.
  world.merchants.clock.time += 5 * 60_000;
  assert.equal((await next.post('/me/prove', { password })).code, 200202);
  assert.equal((await next.post('/me/recovery-codes/renew')).code, 200204);
  assert.equal((await next.post('/me/prove', { password, code: codeOf(totpUri) })).code, 0);
  assert.equal((await next.post('/me/recovery-codes/renew')).data.recoveryCodes.length, 10);
});

test('a code is taken once, at sign-in and as a proof, also at the same time', async () => {
  const { email } = await world.addPerson();
  const browser = await signedIn(local, email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  const code = codeOf(totpUri);
  assert.equal((await browser.post('/me/second-factor/confirm', { code })).code, 0);
  assert.equal((await browser.post('/me/prove', { password, code })).code, 200202);
  const next = codeOf(totpUri, 1);
  const others = [new Browser(local), new Browser(local)];
  for (const other of others) await other.post('/sign-in/password', { email, password });
  const enter = others.map((other) => other.post('/sign-in/code', { code: next }));
  assert.deepEqual((await Promise.all(enter)).map((reply) => reply.code).sort(), [0, 200202]);
  const signedInAs = await Promise.all(others.map(async (other) => (await other.get('/me')).code));
  assert.deepEqual(signedInAs.sort(), [0, 200201]);
  assert.equal((await browser.post('/me/prove', { password, code: next })).code, 200202);
});

test('five wrong codes end a sign-in', async () => {
  const { email } = await world.addPerson();
  const browser = await signedIn(local, email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  await browser.post('/me/second-factor/confirm', { code: codeOf(totpUri) });
  const other = new Browser(local);
  await other.post('/sign-in/password', { email, password });
  for (let count = 0; count < 5; count += 1) await other.post('/sign-in/code', { code: '000000' });
  assert.equal((await other.post('/sign-in/code', { code: codeOf(totpUri, 1) })).code, 200202);
});

test('a password does not add a second way in where the person has a stronger one', async () => {
  const { email } = await world.addPerson();
  const wallet = privateKeyToAccount(generatePrivateKey());
  const browser = await signedIn(production, email);
  const added = await browser.post('/me/wallet/add', await signedMessage(browser, wallet, 'add_wallet'));
  assert.deepEqual(added.data, { address: wallet.address });
  // Another sign-in with the password alone, as a thief of the password would have.
  const thief = await signedIn(production, email);
  for (const [path, body] of [
    ['/me/second-factor/start', { password }],
    ['/me/passkey/start', undefined],
    ['/me/password/change', { currentPassword: password, newPassword: 'another long password' }],
    ['/me/wallet/add', await signedMessage(thief, privateKeyToAccount(generatePrivateKey()), 'add_wallet')],
    ['/me/recovery-codes/renew', undefined],
  ] as const)
    assert.deepEqual([path, (await thief.post(path, body)).code], [path, 200203]);
});

/** The message of EIP-4361 that a wallet signs for this site. */
async function signedMessage(
  browser: Browser,
  wallet: ReturnType<typeof privateKeyToAccount>,
  purpose: WalletPurpose,
  changes: Partial<Parameters<typeof createSiweMessage>[0]> = {},
): Promise<{ message: string; signature: string }> {
  const { nonce, statement, issuedAt } = (await browser.post('/sign-in/wallet/start', { purpose })).data;
  const message = createSiweMessage({
    ...{ domain: 'pay.example.com', uri: dashboardOrigin, address: wallet.address, version: '1', chainId: 1 },
    ...{ nonce, statement, issuedAt: new Date(issuedAt) },
    ...changes,
  });
  return { message, signature: await wallet.signMessage({ message }) };
}

/** A person with a wallet to sign in with, and the browser in which it was added. */
async function withWallet() {
  const { email } = await world.addPerson();
  const wallet = privateKeyToAccount(generatePrivateKey());
  const owner = await signedIn(production, email);
  const signed = await signedMessage(owner, wallet, 'add_wallet');
  assert.equal((await owner.post('/me/wallet/add', signed)).code, 0);
  return { wallet, owner };
}

test('a wallet signs in with a message for this site, once', async () => {
  const { wallet } = await withWallet();
  const browser = new Browser(production);
  const request = { ...(await signedMessage(browser, wallet, 'sign_in')), purpose: 'sign_in' };
  assert.equal((await browser.post('/sign-in/wallet', request)).code, 0);
  const me = (await browser.get('/me')).data;
  assert.deepEqual([me.proof, me.isStrong, me.wallets], ['wallet', true, [wallet.address]]);
  const now = world.merchants.clock.time;
  const refused = async (changes: object, given?: { message: string; signature: string }) => {
    const other = new Browser(production);
    const signed = given ?? (await signedMessage(other, wallet, 'sign_in', changes));
    const reply = await other.post('/sign-in/wallet', { ...signed, purpose: 'sign_in' });
    assert.deepEqual([changes, reply.code], [changes, 200202]);
    assert.equal((await other.get('/me')).code, 200201);
  };
  await refused({ again: true }, request);
  for (const changes of [
    { domain: 'evil.example' },
    { scheme: 'http' },
    { uri: 'https://evil.example' },
    { uri: `${dashboardOrigin}/elsewhere` },
    { uri: 'https://pay.example.com@evil.example' },
    { nonce: '0123456789abcdef' },
    { chainId: 2 },
    { statement: 'Win a prize.' },
    { statement: undefined },
    { issuedAt: new Date(now + 60_000) },
    { issuedAt: new Date(now - 600_000) },
    { expirationTime: new Date(now - 1) },
    { expirationTime: new Date(now) },
    { notBefore: new Date(now + 60_000) },
  ])
    await refused(changes);
  const taken = {
    scheme: 'https',
    notBefore: new Date(now),
    expirationTime: new Date(now + 1),
    requestId: 'a',
  };
  const full = await signedMessage(browser, wallet, 'sign_in', taken);
  assert.equal((await browser.post('/sign-in/wallet', { ...full, purpose: 'sign_in' })).code, 0);
});

test('a wallet’s message is refused with another signature, or with lines that the standard does not know', async () => {
  const { wallet } = await withWallet();
  const stranger = privateKeyToAccount(generatePrivateKey());
  const send = async (
    signer: typeof wallet,
    sign: (message: string) => Promise<{ message: string; signature: string }>,
  ) => {
    const browser = new Browser(production);
    const { message } = await signedMessage(browser, signer, 'sign_in');
    return (await browser.post('/sign-in/wallet', { ...(await sign(message)), purpose: 'sign_in' })).code;
  };
  const signedBy = (signer: typeof wallet) => async (message: string) => ({
    message,
    signature: await signer.signMessage({ message }),
  });
  assert.equal(await send(stranger, signedBy(stranger)), 200202);
  assert.equal(await send(wallet, signedBy(stranger)), 200202);
  assert.equal(await send(wallet, (message) => signedBy(wallet)(`${message}\nand pay`)), 200202);
  assert.equal(await send(wallet, (message) => signedBy(wallet)(message.replace(/\.\d{3}Z/, 'Z'))), 200202);
  const badDay = (message: string) => message.replace(/Issued At: \d{4}-\d\d/, 'Issued At: 2026-99');
  assert.equal(await send(wallet, (message) => signedBy(wallet)(badDay(message))), 200202);
  assert.equal(await send(wallet, signedBy(wallet)), 0);
});

test('a wallet’s message is for the browser that asked, and for its purpose', async () => {
  const { wallet, owner } = await withWallet();
  const other = new Browser(production);
  const send = async (browser: Browser, signed: object, purpose: string) =>
    (await browser.post('/sign-in/wallet', { ...signed, purpose })).code;
  const ofOther = await signedMessage(owner, wallet, 'sign_in');
  assert.equal(await send(other, ofOther, 'sign_in'), 200202);
  // A wrong attempt uses the nonce up.
  assert.equal(await send(owner, ofOther, 'sign_in'), 200202);
  // A browser that has asked for another message is another one as well.
  await signedMessage(other, wallet, 'sign_in');
  assert.equal(await send(other, await signedMessage(owner, wallet, 'sign_in'), 'sign_in'), 200202);
  for (const [asked, used] of [
    ['sign_in', 'prove'],
    ['prove', 'sign_in'],
    ['add_wallet', 'sign_in'],
    ['add_wallet', 'prove'],
  ] as const)
    assert.equal(
      await send(owner, await signedMessage(owner, wallet, asked), used),
      200202,
      `${asked} ${used}`,
    );
  assert.equal(await send(owner, await signedMessage(owner, wallet, 'prove'), 'prove'), 0);
  const fresh = privateKeyToAccount(generatePrivateKey());
  for (const asked of ['sign_in', 'prove'] as const)
    assert.equal((await owner.post('/me/wallet/add', await signedMessage(owner, fresh, asked))).code, 200202);
  // A proof is of the person who is signed in.
  assert.equal(await send(other, await signedMessage(other, wallet, 'prove'), 'prove'), 200202);
  const stranger = await withWallet();
  assert.equal(await send(owner, await signedMessage(owner, stranger.wallet, 'prove'), 'prove'), 200202);
  // Two tabs of a browser ask at the same time.
  const tabs = [await signedMessage(owner, wallet, 'prove'), await signedMessage(owner, wallet, 'prove')];
  for (const signed of tabs) assert.equal(await send(owner, signed, 'prove'), 0);
});

test('a recovery code signs in once, and opens the way to a new passkey alone', async () => {
  const { email } = await world.addPerson();
  const owner = await signedIn(local, email);
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
  const [browser, other] = [await signedIn(local, email), await signedIn(local, email)];
  const newPassword = 'another long password';
  const change = (currentPassword: string) =>
    browser.post('/me/password/change', { currentPassword, newPassword });
  assert.equal((await change('wrong horse battery')).code, 200202);
  assert.equal((await change(password)).code, 0);
  assert.deepEqual([(await browser.get('/me')).code, (await other.get('/me')).code], [0, 200201]);
  assert.equal((await new Browser(local).post('/sign-in/password', { email, password })).code, 200202);
});

test('a common password, and names of the person, the merchant and the installation, are no new password', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { email, userId } = await world.addPerson([[merchantId, 'owner']]);
  const browser = await signedIn(local, email);
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

test('attempts to sign in are limited for a network, and for an account from a network', async () => {
  const server = await world.serve('local', defaultRateLimits);
  const { email } = await world.addPerson();
  const codes: number[] = [];
  for (let count = 0; count < 11; count += 1) {
    const body = { email, code: 'wrong' };
    codes.push((await new Browser(server).post('/sign-in/recovery-code', body)).code);
  }
  assert.deepEqual(codes, [...Array(10).fill(200202), 900101]);
  const fromNetwork: number[] = [];
  for (let count = 0; count < 31; count += 1) {
    const options = { body: { token: 'x' }, remoteAddress: `2001:db8::${count}` };
    fromNetwork.push((await new Browser(server).send('POST', '/invitation/show', options)).code);
  }
  assert.deepEqual(fromNetwork, [...Array(30).fill(100803), 900101]);
});

test('strangers with many addresses guess a hundred times an hour, and lock no known device out', async () => {
  const server = await world.serve('local', defaultRateLimits);
  const { email } = await world.addPerson();
  const owner = await signedIn(server, email);
  const guess = { email, code: 'wrong' };
  const codes: number[] = [];
  for (let count = 0; count < 101; count += 1) {
    const options = { body: guess, remoteAddress: `2001:db8:0:${count.toString(16)}::1` };
    codes.push((await new Browser(server).send('POST', '/sign-in/recovery-code', options)).code);
  }
  assert.deepEqual(codes, [...Array(100).fill(200202), 900101]);
  const guesses: number[] = [];
  for (let count = 0; count < 11; count += 1)
    guesses.push((await owner.post('/sign-in/recovery-code', guess)).code);
  assert.deepEqual(guesses, [...Array(10).fill(200202), 900101]);
  // Codes are no passwords: guessing the one does not lock the other.
  assert.equal((await new Browser(server).post('/sign-in/password', { email, password })).code, 0);
});

test('guesses of a password or code in a session spend the allowance of that session alone', async () => {
  const server = await world.serve('local', defaultRateLimits);
  const { email } = await world.addPerson();
  const [owner, thief] = [await signedIn(server, email), await signedIn(server, email)];
  const codes: number[] = [];
  for (let count = 0; count < 10; count += 1)
    codes.push((await thief.post('/me/second-factor/confirm', { code: '000000' })).code);
  assert.equal(codes.includes(900101), false);
  for (const [path, body] of [
    ['/me/second-factor/confirm', { code: '000000' }],
    ['/me/second-factor/start', { password }],
    ['/me/second-factor/remove', { password }],
    ['/me/password/change', { currentPassword: password, newPassword: 'another long password' }],
    ['/me/prove', { password }],
  ] as const)
    assert.deepEqual([path, (await thief.post(path, body)).code], [path, 900101]);
  assert.equal((await owner.post('/me/prove', { password })).code, 0);
});
