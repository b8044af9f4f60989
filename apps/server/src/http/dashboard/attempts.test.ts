import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { listAudit } from '#members/audit.ts';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { totpCodeOf } from '../../../test/harness/totp.ts';
import { defaultRateLimits } from '../rate-limit.ts';
import { sharedLimits } from '../shared-limits.ts';

const forgetAttempts = statement({
  name: 'attempts_test_forget',
  text: 'delete from rate_buckets',
});

let world: DashboardWorld;
let local: FastifyInstance;
before(async () => {
  world = await DashboardWorld.open();
  local = await world.serve('local');
});
after(() => world.close());
beforeEach(() => world.merchants.database.db.query(forgetAttempts));

/** One of several processes on the database. */
function limitedServer(): Promise<FastifyInstance> {
  const { clock, database } = world.merchants;
  return world.serve('local', sharedLimits(defaultRateLimits, { clock, db: database.db }).limits);
}

test('a code is taken once, at sign-in and as a proof, also at the same time', async () => {
  const { email } = await world.addPerson();
  const browser = await Browser.signedIn(local, email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  const code = totpCodeOf(totpUri);
  assert.equal((await browser.post('/me/second-factor/confirm', { code })).code, 0);
  assert.equal((await browser.post('/me/prove', { password, code })).code, 200202);
  const next = totpCodeOf(totpUri, 1);
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
  const browser = await Browser.signedIn(local, email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  await browser.post('/me/second-factor/confirm', { code: totpCodeOf(totpUri) });
  const other = new Browser(local);
  await other.post('/sign-in/password', { email, password });
  for (let count = 0; count < 5; count += 1) await other.post('/sign-in/code', { code: '000000' });
  assert.equal((await other.post('/sign-in/code', { code: totpCodeOf(totpUri, 1) })).code, 200202);
});

/** A person with a second factor, and the browser in which it was set up. */
async function withSecondFactor(server: FastifyInstance) {
  const { email, userId } = await world.addPerson();
  const browser = await Browser.signedIn(server, email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  assert.equal((await browser.post('/me/second-factor/confirm', { code: totpCodeOf(totpUri) })).code, 0);
  return { email, userId, browser, totpUri };
}

/** The answers to wrong codes in new browsers, which the password was entered in. */
async function guessCodes(server: FastifyInstance, email: string, count: number) {
  const answers: Awaited<ReturnType<Browser['post']>>[] = [];
  let stranger = new Browser(server);
  for (let made = 0; made < count; made += 1) {
    // Five wrong codes end a sign-in.
    if (made % 5 === 0) {
      stranger = new Browser(server);
      await stranger.post('/sign-in/password', { email, password });
    }
    answers.push(await stranger.post('/sign-in/code', { code: '000000' }));
  }
  return answers;
}

/** Of what too many wrong codes the person was told, and from where they came; the latest first. */
async function lockoutsOf(userId: string) {
  const ofPerson = { merchantId: undefined, personId: userId, size: 99, filter: {} };
  const { entries } = await listAudit(world.merchants.database.db, ofPerson);
  return entries
    .filter(({ action }) => ['lockSecondFactor', 'exhaustCodesOfDevice'].includes(action))
    .map(({ action, actor }) => [action, actor.name, actor.clientAddress]);
}

test('wrong codes lock new devices out for a time that is told, and no device that was used before', async () => {
  const server = await limitedServer();
  const { email, userId, browser, totpUri } = await withSecondFactor(server);
  const answers = await guessCodes(server, email, 11);
  assert.deepEqual(
    answers.map(({ code }) => code),
    [...Array(9).fill(200202), 900101, 900101],
  );
  for (const { headers } of answers.slice(-2)) {
    const seconds = Number(headers['retry-after']);
    assert.ok(seconds > 0 && seconds <= 900, `${seconds} seconds`);
  }
  const code = totpCodeOf(totpUri, 1);
  const stranger = new Browser(server);
  await stranger.post('/sign-in/password', { email, password });
  assert.equal((await stranger.post('/sign-in/code', { code })).code, 900101);
  assert.deepEqual(await lockoutsOf(userId), [['lockSecondFactor', email, '192.0.2.1']]);

  // The limit of a network has its own test.
  browser.clientAddress = '198.51.100.1';
  await browser.post('/me/sign-out');
  await browser.post('/sign-in/password', { email, password });
  assert.equal((await browser.post('/sign-in/code', { code: '000000' })).code, 200202);
  assert.equal((await browser.post('/sign-in/code', { code })).code, 0);
  assert.equal((await browser.get('/me')).data.proof, 'second_factor');
  // The owner's sign-in ends no lockout.
  assert.equal((await guessCodes(server, email, 1))[0]?.code, 900101);

  const own: number[] = [];
  for (let count = 0; count < 11; count += 1) {
    if (count % 5 === 0) await browser.post('/sign-in/password', { email, password });
    own.push((await browser.post('/sign-in/code', { code: '000000' })).code);
  }
  // Two of the ten were spent above.
  assert.deepEqual(own, [...Array(8).fill(200202), ...Array(3).fill(900101)]);
  assert.deepEqual((await lockoutsOf(userId)).toSorted(), [
    ['exhaustCodesOfDevice', email, '198.51.100.1'],
    ['lockSecondFactor', email, '192.0.2.1'],
  ]);
});

test('too many wrong codes on a known device are told as such, and silence no notice of a lockout', async () => {
  const server = await limitedServer();
  const { email, userId, browser, totpUri } = await withSecondFactor(server);
  browser.clientAddress = '198.51.100.1';
  await browser.post('/me/sign-out');
  for (let count = 0; count < 11; count += 1) {
    if (count % 5 === 0) await browser.post('/sign-in/password', { email, password });
    await browser.post('/sign-in/code', { code: '000000' });
  }
  assert.deepEqual(await lockoutsOf(userId), [['exhaustCodesOfDevice', email, '198.51.100.1']]);
  // No other device is locked: a new one signs in.
  const other = new Browser(server);
  await other.post('/sign-in/password', { email, password });
  assert.equal((await other.post('/sign-in/code', { code: totpCodeOf(totpUri, 1) })).code, 0);
  await guessCodes(server, email, 10);
  assert.deepEqual(
    (await lockoutsOf(userId)).map(([action]) => action),
    ['lockSecondFactor', 'exhaustCodesOfDevice'],
  );
});

test('a password alone makes no device a known one where a code is asked for', async () => {
  const server = await limitedServer();
  const { email, totpUri } = await withSecondFactor(server);
  const stranger = new Browser(server);
  await stranger.post('/sign-in/password', { email, password });
  assert.equal(
    [...stranger.cookies.keys()].some((name) => name.endsWith('.device')),
    false,
  );
  await stranger.post('/sign-in/code', { code: totpCodeOf(totpUri, 1) });
  const { sessions } = (await stranger.get('/me/session/list')).data;
  const here = sessions.find(({ isThis }: { isThis: boolean }) => isThis);
  assert.equal(here?.isNewDevice, true);
});

test('a code of a person who is signed in is counted at sign-in all the same', async () => {
  const server = await limitedServer();
  const { email, browser } = await withSecondFactor(server);
  assert.equal((await browser.post('/sign-in/code', { code: '000000' })).code, 200202);
  const stranger = new Browser(server);
  await stranger.post('/sign-in/password', { email, password });
  for (const [name, value] of browser.cookies)
    if (/session_token/.test(name)) stranger.cookies.set(name, value);
  const codes: number[] = [];
  for (let count = 0; count < 5; count += 1)
    codes.push((await stranger.post('/sign-in/code', { code: '000000' })).code);
  assert.deepEqual(codes, Array(5).fill(200202));
  assert.match((await stranger.post('/sign-in/code', { code: '000000' })).message, /sign-in/i);
  assert.deepEqual((await guessCodes(server, email, 5)).at(-1)?.code, 900101);
});

test('attempts to sign in are limited for a network, and for an account from a network, over all processes', async () => {
  const servers = [await limitedServer(), await limitedServer()] as const;
  const { email } = await world.addPerson();
  const codes: number[] = [];
  for (let count = 0; count < 11; count += 1) {
    const body = { email, code: 'wrong' };
    codes.push((await new Browser(servers[count % 2 ? 1 : 0]).post('/sign-in/recovery-code', body)).code);
  }
  assert.deepEqual(codes, [...Array(10).fill(200202), 900101]);
  const fromNetwork: Promise<number>[] = [];
  for (let count = 0; count < 40; count += 1) {
    const options = { body: { token: 'x' }, remoteAddress: `2001:db8::${count}` };
    const browser = new Browser(servers[count % 2 ? 1 : 0]);
    fromNetwork.push(browser.send('POST', '/invitation/show', options).then(({ code }) => code));
  }
  // One more in each two seconds: the machine may be slow.
  const passed = (await Promise.all(fromNetwork)).filter((code) => code !== 900101);
  assert.ok(passed.length >= 30 && passed.length < 40, `${passed.length} attempts`);
  assert.deepEqual(new Set(passed), new Set([100803]));
});

test('strangers with many addresses guess a hundred times an hour, and lock no known device out', async () => {
  const [server, other] = [await limitedServer(), await limitedServer()];
  const { email } = await world.addPerson();
  const owner = await Browser.signedIn(server, email);
  const guess = { email, code: 'wrong' };
  const codes: Promise<number>[] = [];
  for (let count = 0; count < 110; count += 1) {
    const options = { body: guess, remoteAddress: `2001:db8:0:${count.toString(16)}::1` };
    const browser = new Browser(count % 3 === 0 ? other : server);
    codes.push(browser.send('POST', '/sign-in/recovery-code', options).then(({ code }) => code));
  }
  // One more in each 36 seconds: the machine may be slow.
  const passed = (await Promise.all(codes)).filter((code) => code !== 900101);
  assert.ok(passed.length >= 100 && passed.length < 105, `${passed.length} guesses`);
  const guesses: number[] = [];
  for (let count = 0; count < 11; count += 1)
    guesses.push((await owner.post('/sign-in/recovery-code', guess)).code);
  assert.deepEqual(guesses, [...Array(10).fill(200202), 900101]);
  // Codes are no passwords: guessing the one does not lock the other.
  assert.equal((await new Browser(server).post('/sign-in/password', { email, password })).code, 0);
});

test('guesses of a password or code in a session spend the allowance of that session alone', async () => {
  const server = await limitedServer();
  const { email } = await world.addPerson();
  const [owner, thief] = [await Browser.signedIn(server, email), await Browser.signedIn(server, email)];
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

test('who copied a session alone uses up no attempts of the device that it belongs to', async () => {
  const server = await limitedServer();
  const { email } = await world.addPerson();
  const owner = await Browser.signedIn(server, email);
  const thief = new Browser(server);
  for (const [name, value] of owner.cookies) if (!name.endsWith('.device')) thief.cookies.set(name, value);
  const codes: number[] = [];
  for (let count = 0; count < 11; count += 1)
    codes.push((await thief.post('/me/prove', { password: 'wrong horse battery' })).code);
  assert.deepEqual(codes, [...Array(10).fill(200202), 900101]);
  assert.equal((await owner.post('/me/prove', { password })).code, 0);
});

/** A browser on another network with all cookies of this one. */
function copyOf(owner: Browser, server: FastifyInstance): Browser {
  const thief = new Browser(server);
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value);
  thief.clientAddress = '198.51.100.7';
  return thief;
}

test('who copied all cookies guesses from another network, and uses up no attempts of the owner', async () => {
  const server = await limitedServer();
  const { email } = await world.addPerson();
  const owner = await Browser.signedIn(server, email);
  const thief = copyOf(owner, server);
  const codes: number[] = [];
  for (let count = 0; count < 11; count += 1)
    codes.push((await thief.post('/me/prove', { password: 'wrong horse battery' })).code);
  assert.deepEqual(codes, [...Array(10).fill(200202), 900101]);
  assert.equal((await owner.post('/me/prove', { password })).code, 0);
});

test('one session has a hundred guesses an hour over all networks, and a new sign-in counts as a proof then', async () => {
  const server = await limitedServer();
  const { email } = await world.addPerson();
  const owner = await Browser.signedIn(server, email);
  const thief = copyOf(owner, server);
  const codes: number[] = [];
  for (let count = 0; count < 110; count += 1) {
    thief.clientAddress = `198.51.100.${count}`;
    codes.push((await thief.post('/me/second-factor/confirm', { code: '000000' })).code);
  }
  // One more in each 36 seconds: the machine may be slow.
  const passed = codes.filter((code) => code !== 900101).length;
  assert.ok(passed >= 100 && passed < 105, `${passed} guesses`);
  assert.equal((await owner.post('/me/prove', { password })).code, 900101);
  await owner.post('/sign-in/password', { email, password });
  assert.equal((await owner.get('/me')).data.isFresh, true);
});

test('wrong proofs of an open session are in the own log, and the fifth is told to the shops', async () => {
  const server = await world.serve('local');
  const merchantId = await world.merchants.addMerchant();
  const { email, userId } = await world.addPerson([[merchantId, 'owner']]);
  const browser = await Browser.signedIn(server, email);
  const wrong = { password: 'wrong horse battery' };
  const logOf = async (merchant: string | undefined) => {
    const log = { merchantId: merchant, ...(merchant === undefined ? { personId: userId } : {}), size: 99 };
    const { entries } = await listAudit(world.merchants.database.db, log);
    return entries
      .map(({ action, actor }) => [action, actor.clientAddress])
      .filter(([act]) => /Proof/.test(act ?? ''));
  };
  browser.clientAddress = '198.51.100.8';
  for (let count = 0; count < 4; count += 1) await browser.post('/me/prove', wrong);
  assert.deepEqual(await logOf(undefined), Array(4).fill(['failProof', '198.51.100.8']));
  assert.deepEqual(await logOf(merchantId), []);
  await Promise.all([browser.post('/me/prove', wrong), browser.post('/me/prove', wrong)]);
  assert.equal((await browser.post('/me/prove', { password })).code, 0);
  assert.deepEqual((await logOf(undefined)).map(([act]) => act).toSorted(), [
    ...Array(6).fill('failProof'),
    'guessProofs',
  ]);
  assert.deepEqual(await logOf(merchantId), [['guessProofs', '198.51.100.8']]);
});
