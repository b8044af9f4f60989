import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MemberRole } from '@florin/protocol/member-role.ts';
import { operator } from '#members/audit.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { Browser, DashboardWorld, password, walletDelayMs } from '../../../test/harness/dashboard-world.ts';
import { deepOnly } from '../../../test/harness/deep-only.ts';

let world: DashboardWorld;
before(async () => {
  world = await DashboardWorld.open();
});
after(() => world.close());

interface Person {
  readonly userId: string;
  readonly email: string;
}
type Membership = readonly [merchantId: string, role: MemberRole];

/** People of one new merchant, who have been members for the delay. */
async function team(...roles: readonly MemberRole[]): Promise<{ merchantId: string; people: Person[] }> {
  const merchantId = await world.merchants.addMerchant();
  const people: Person[] = [];
  for (const role of roles) people.push(await world.addPerson([[merchantId, role] satisfies Membership]));
  world.merchants.clock.time += walletDelayMs;
  return { merchantId, people };
}

async function signedIn(person: Person | undefined, merchantId: string): Promise<Browser> {
  const browser = new Browser(await world.serve('local'));
  await browser.post('/sign-in/password', { email: person?.email, password });
  browser.merchantId = merchantId;
  return browser;
}

const newPassword = 'a password after the loss';
const complete = async (token: string | undefined) =>
  new Browser(await world.serve('local')).post('/recovery/complete', { token, password: newPassword });
const tokenOf = (url: string) => url.split('#')[1];

test('two owners recover a member: after the delay the link sets a password and ends all else', async () => {
  const { merchantId, people } = await team('owner', 'owner', 'support');
  const [ada, bob, kim] = people;
  const lost = await signedIn(kim, merchantId);
  const { recoveryCodes } = (await lost.post('/me/recovery-codes/renew')).data;
  const first = await signedIn(ada, merchantId);
  const body = { userId: kim?.userId };
  const asked = (await first.post('/member/recover', body)).data;
  assert.deepEqual(asked, { status: 'asked', effectiveAt: '', url: '' });
  // The same owner again is not a second one.
  assert.deepEqual((await first.post('/member/recover', body)).data, asked);
  const shown = async () => {
    const { members } = (await first.get('/member/list')).data;
    return members
      .filter(({ recovery }: { recovery: object | null }) => recovery !== null)
      .map((member: { userId: string; recovery: object }) => [member.userId, member.recovery]);
  };
  assert.deepEqual(await shown(), [
    [kim?.userId, { status: 'asked', effectiveAt: '', askedBy: ada?.userId }],
  ]);
  const second = await signedIn(bob, merchantId);
  const { status, url } = (await second.post('/member/recover', body)).data;
  assert.equal(status, 'waiting');
  assert.match(url, /^https:\/\/pay\.example\.com\/dashboard\/recovery#[\w-]{43}$/);
  const { recovery } = (await lost.get('/me')).data;
  assert.equal(recovery.status, 'waiting');
  assert.deepEqual(await shown(), [[kim?.userId, { ...recovery, askedBy: ada?.userId }]]);

  assert.match((await complete(tokenOf(url))).message, /^Sign-in failed: the link works from /);
  world.merchants.clock.time += walletDelayMs;
  const done = await complete(tokenOf(url));
  assert.deepEqual([done.data.email, done.data.recoveryCodes.length], [kim?.email, 10]);
  assert.equal((await complete(tokenOf(url))).code, 200202);
  assert.equal((await lost.get('/me')).code, 200201);
  const again = new Browser(await world.serve('local'));
  const { email } = kim ?? {};
  assert.equal((await again.post('/sign-in/password', { email, password })).code, 200202);
  assert.equal((await again.post('/sign-in/recovery-code', { email, code: recoveryCodes[0] })).code, 200202);
  assert.equal((await again.post('/sign-in/password', { email, password: newPassword })).code, 0);
  assert.equal((await again.get('/me')).data.recovery, null);
  const { entries } = (await (await signedIn(ada, merchantId)).get('/audit/list')).data;
  const actions = entries
    .filter(({ subject }: { subject: string }) => subject === kim?.userId)
    .map(({ action }: { action: string }) => action);
  assert.deepEqual(
    actions.filter((action: string) => action.endsWith('Recovery')),
    ['completeRecovery', 'startRecovery', 'askRecovery'],
  );
});

test('the person, and every owner, cancels a recovery', deepOnly, async () => {
  const { merchantId, people } = await team('owner', 'owner', 'viewer');
  const [ada, bob, kim] = people;
  for (const cancel of [
    async () => (await signedIn(kim, merchantId)).post('/me/recovery/cancel'),
    async () => (await signedIn(ada, merchantId)).post('/member/recover/cancel', { userId: kim?.userId }),
  ]) {
    await (await signedIn(ada, merchantId)).post('/member/recover', { userId: kim?.userId });
    const { url } = (await (await signedIn(bob, merchantId)).post('/member/recover', { userId: kim?.userId }))
      .data;
    assert.equal((await cancel()).code, 0);
    world.merchants.clock.time += walletDelayMs;
    assert.equal((await complete(tokenOf(url))).code, 200202);
  }
});

test(
  'no admin, new owner, stranger or owner of a person with other merchants recovers anyone',
  deepOnly,
  async () => {
    const { merchantId, people } = await team('owner', 'owner', 'admin', 'viewer');
    const [ada, bob, admin, kim] = people;
    const other = await team('owner');
    const young = await world.addPerson([[merchantId, 'owner']]);
    const both = await world.addPerson([
      [merchantId, 'viewer'],
      [other.merchantId, 'viewer'],
    ]);
    const recover = async (by: Person | undefined, userId: string | undefined) =>
      (await (await signedIn(by, merchantId)).post('/member/recover', { userId })).code;
    assert.equal(await recover(admin, kim?.userId), 200205);
    assert.equal(await recover(young, kim?.userId), 200205);
    assert.equal(await recover(ada, ada?.userId), 200205);
    assert.equal(await recover(bob, both.userId), 200205);
    assert.equal(await recover(ada, other.people[0]?.userId), 100801);
  },
);

test('the operator recovers a person who acts for several merchants, and a new link replaces the old one', async () => {
  const { merchantId, people } = await team('owner');
  const userId = people[0]?.userId ?? '';
  const deps = { ...world.options, recoveryDelayMs: 0 };
  const recover = () =>
    world.merchants.database.db.transaction((transaction) =>
      recoverByOperator(transaction, deps, { userId, actor: operator }),
    );
  const [old, latest] = [await recover(), await recover()];
  assert.equal((await complete(old.token)).code, 200202);
  assert.equal((await complete(latest.token)).code, 0);
  const late = await recover();
  world.merchants.clock.time += 7 * 24 * 3_600_000 + 1;
  assert.equal((await complete(late.token)).code, 200202);
  assert.equal((await (await signedIn(people[0], merchantId)).get('/me')).code, 200201);
});
