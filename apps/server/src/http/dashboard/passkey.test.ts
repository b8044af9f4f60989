import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { Passkey } from '../../../test/harness/authenticator.ts';
import { Browser, DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';

const ceremony = { origin: dashboardOrigin, rpId: 'pay.example.com', isVerified: true };

let world: DashboardWorld;
let production: FastifyInstance;
before(async () => {
  world = await DashboardWorld.open();
  production = await world.serve('production');
});
after(() => world.close());

/** A browser with a fresh password session, which in production opens only the way to a passkey. */
async function enter(email: string): Promise<Browser> {
  const browser = new Browser(production);
  assert.equal((await browser.post('/sign-in/password', { email, password })).code, 0);
  return browser;
}

/** A person with a passkey. */
async function withPasskey(): Promise<{ email: string; browser: Browser; passkey: Passkey }> {
  const { email } = await world.addPerson();
  const browser = await enter(email);
  const passkey = new Passkey(ceremony);
  const { challenge } = (await browser.post('/me/passkey/start')).data;
  const added = await browser.post('/me/passkey/add', {
    name: 'Laptop',
    response: passkey.register(challenge),
  });
  assert.equal(added.code, 0, added.message);
  return { email, browser, passkey };
}

const changes = [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }, { isVerified: false }];

test('a passkey signs in without a name, and opens everything in production', async () => {
  const { email, passkey } = await withPasskey();
  const browser = new Browser(production);
  const { challenge, userVerification } = (await browser.post('/sign-in/passkey/start')).data;
  assert.equal(typeof userVerification, 'string');
  const response = passkey.signIn(challenge);
  assert.equal((await browser.post('/sign-in/passkey', { response })).code, 0);
  const me = (await browser.get('/me')).data;
  assert.deepEqual(
    [me.email, me.proof, me.isStrong, me.isFresh, me.passkeys],
    [email, 'passkey', true, true, 1],
  );
  // A challenge is for one answer.
  assert.equal((await browser.post('/sign-in/passkey', { response })).code, 200202);
});

test('a passkey for another site, or of a device that did not check its holder, neither registers nor signs in', async () => {
  const { browser: owner, passkey } = await withPasskey();
  const { email } = await world.addPerson();
  for (const change of changes) {
    const fresh = await enter(email);
    const { challenge } = (await fresh.post('/me/passkey/start')).data;
    const response = new Passkey(ceremony).register(challenge, change);
    const added = await fresh.post('/me/passkey/add', { name: 'Other', response });
    assert.deepEqual([change, added.code], [change, 200202]);

    const browser = new Browser(production);
    const options = (await browser.post('/sign-in/passkey/start')).data;
    const signedIn = await browser.post('/sign-in/passkey', {
      response: passkey.signIn(options.challenge, change),
    });
    assert.deepEqual([change, signedIn.code, (await browser.get('/me')).code], [change, 200202, 200201]);
  }
  assert.equal((await owner.get('/me')).data.passkeys, 1);
});

test('a passkey that signs in one person is added to no other, also at the same time', async () => {
  const { passkey } = await withPasskey();
  const browsers = await Promise.all([1, 2].map(async () => enter((await world.addPerson()).email)));
  const add = async (browser: Browser, added: Passkey) => {
    const { challenge } = (await browser.post('/me/passkey/start')).data;
    const response = added.register(challenge);
    return async () => (await browser.post('/me/passkey/add', { name: 'Copy', response })).code;
  };
  const again = await Promise.all(browsers.map((browser) => add(browser, passkey)));
  assert.deepEqual(await Promise.all(again.map((send) => send())), [200202, 200202]);
  const fresh = new Passkey(ceremony);
  const both = await Promise.all(browsers.map((browser) => add(browser, fresh)));
  assert.deepEqual((await Promise.all(both.map((send) => send()))).sort(), [0, 200202]);
});

test('an answer to a registration is no sign-in, and a challenge of another browser is refused', async () => {
  const { passkey } = await withPasskey();
  const [browser, other] = [new Browser(production), new Browser(production)];
  const { challenge } = (await browser.post('/sign-in/passkey/start')).data;
  await other.post('/sign-in/passkey/start');
  assert.equal((await other.post('/sign-in/passkey', { response: passkey.signIn(challenge) })).code, 200202);
  assert.equal(
    (await browser.post('/sign-in/passkey', { response: passkey.register(challenge) })).code,
    200202,
  );
});

test('passkeys are listed by name and removed, by their own person alone', async () => {
  const { email, browser, passkey } = await withPasskey();
  const options = (await browser.post('/sign-in/passkey/start')).data;
  await browser.post('/sign-in/passkey', { response: passkey.signIn(options.challenge) });
  const { passkeys } = (await browser.get('/me/passkey/list')).data;
  assert.deepEqual(
    passkeys.map(({ name }: { name: string }) => name),
    ['Laptop'],
  );
  const [{ passkeyId }] = passkeys;
  const { passkey: theirs } = await withPasskey();
  const stranger = new Browser(production);
  const { challenge } = (await stranger.post('/sign-in/passkey/start')).data;
  await stranger.post('/sign-in/passkey', { response: theirs.signIn(challenge) });
  assert.equal((await stranger.post('/me/passkey/remove', { passkeyId })).code, 200202);
  assert.equal((await browser.get('/me')).data.passkeys, 1);
  // The password alone may not remove what is stronger, nor act for the person otherwise.
  const thief = await enter(email);
  const [{ sessionId }] = (await browser.get('/me/session/list')).data.sessions;
  const merchantId = await world.merchants.addMerchant();
  for (const [path, body] of [
    ['/me/passkey/remove', { passkeyId }],
    ['/me/session/revoke', { sessionId }],
    ['/me/notification/change', { merchantId, kind: 'payment', isWanted: true }],
    ['/me/mail/retry', undefined],
    ['/me/recovery/cancel', undefined],
    ['/me/invitation/accept', { token: 'x'.repeat(43) }],
  ] as const)
    assert.deepEqual([path, (await thief.post(path, body)).code], [path, 200203]);
  for (const path of ['/me/session/list', '/me/notification/list', '/me/audit/list', '/me/passkey/list'])
    assert.deepEqual([path, (await thief.get(path)).code], [path, 200203]);
  assert.deepEqual([(await thief.get('/me')).code, (await thief.post('/me/sign-out')).code], [0, 0]);
});

/** Whether sensitive acts are open in a browser, and for how many seconds. */
async function freshness(browser: Browser) {
  const { isFresh, freshSeconds } = (await browser.get('/me')).data;
  return [isFresh, freshSeconds];
}

test('a sign-in with the passkey is a fresh proof', async () => {
  const { browser, passkey } = await withPasskey();
  world.merchants.clock.time += 6 * 60_000;
  const { challenge } = (await browser.post('/sign-in/passkey/start')).data;
  assert.deepEqual(await freshness(browser), [false, 0]);
  await browser.post('/sign-in/passkey', { response: passkey.signIn(challenge) });
  assert.deepEqual(await freshness(browser), [true, 300]);
  const [session, ...others] = (await browser.get('/me/session/list')).data.sessions;
  assert.deepEqual([session.isThis, session.proof, others], [true, 'passkey', []]);
  const { passkeyId } = (await browser.get('/me/passkey/list')).data.passkeys[0];
  assert.equal((await browser.post('/me/passkey/remove', { passkeyId })).code, 0);
  assert.equal((await browser.get('/me')).data.passkeys, 0);
});
