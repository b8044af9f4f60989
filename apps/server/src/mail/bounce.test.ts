import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { invite } from '#members/invitation.ts';
import { Browser, DashboardWorld, password } from '../../test/harness/dashboard-world.ts';
import { MailWorld } from '../../test/harness/mail-world.ts';
import { addPaidSession, happen } from '../../test/harness/payment-fixture.ts';
import { findBounces, listMailTrouble } from './bounce.ts';
import { deleteOld, sendDue } from './mail.ts';

let world: DashboardWorld;
let mail: MailWorld;
let staff: Browser;
before(async () => {
  world = await DashboardWorld.open();
  mail = await MailWorld.open(world.merchants);
  const { token } = await world.merchants.database.db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId: undefined, role: 'staff', email: '', invitedBy: '' }),
  );
  staff = new Browser(await world.serve('local'));
  await staff.post('/invitation/accept-as-new', { token, name: 'Ops', email: 'ops@example.com', password });
});
after(async () => {
  await mail.close();
  await world.close();
});

/** Sends what is due while the mail server refuses some addresses for good. */
async function sendRefusing(...refused: readonly string[]): Promise<void> {
  mail.mailbox.answerRecipient = (address) =>
    refused.includes(address) ? `550 5.1.1 <${address}> is unknown here` : undefined;
  await mail.sendAll();
  mail.mailbox.answerRecipient = () => undefined;
}

async function signedIn(email: string, merchantId = ''): Promise<Browser> {
  const browser = new Browser(await world.serve('local'));
  assert.equal((await browser.post('/sign-in/password', { email, password })).code, 0);
  browser.merchantId = merchantId;
  return browser;
}

async function openShop() {
  const { merchants } = world;
  const merchantId = await merchants.addMerchant();
  const key = await merchants.addKey(merchantId);
  return { merchantId, key, accountId: await merchants.addAccount(merchantId) };
}

test('a refused address of a member is shown to the team and the person, who lets e-mails go to it again', async () => {
  const { merchantId } = await openShop();
  const { merchantId: foreignId } = await openShop();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const browser = await signedIn(owner.email, merchantId);
  await browser.post('/invitation/create', { role: 'viewer', email: 'gone@example.com' });
  await sendRefusing(owner.email, 'gone@example.com');

  const [member] = (await browser.get('/member/list')).data.members;
  const [invitation] = (await browser.get('/invitation/list')).data.invitations;
  const now = world.merchants.clock.now().toISOString().slice(0, 10);
  assert.deepEqual([member.bouncedAt.slice(0, 10), invitation.bouncedAt.slice(0, 10)], [now, now]);
  const { bounce } = (await browser.get('/me/notification/list')).data;
  assert.equal(bounce.reason, `550 5.1.1 <${owner.email}> is unknown here`);

  const addresses = [owner.email, 'gone@example.com'];
  const { db } = world.merchants.database;
  assert.deepEqual(
    [...(await findBounces(db.inScope(merchantId), addresses)).keys()].sort(),
    addresses.sort(),
  );
  assert.deepEqual([...(await findBounces(db.inScope(foreignId), addresses)).keys()], []);

  assert.equal((await browser.post('/me/mail/retry')).code, 0);
  assert.equal((await browser.get('/me/notification/list')).data.bounce, null);
  const before = mail.mailsTo(owner.email).length;
  world.merchants.clock.time += 1_000;
  await signedIn(owner.email);
  await mail.sendAll();
  assert.equal(mail.mailsTo(owner.email).length, before + 1);
});

test('a payment shows what became of the e-mails to its payer, and no other payment’s', async () => {
  const shop = await openShop();
  const owner = await world.addPerson([[shop.merchantId, 'owner']]);
  const browser = await signedIn(owner.email, shop.merchantId);
  const history = async (sessionId: string) => {
    const { mails } = (await browser.get(`/session/history/${sessionId}`)).data;
    return mails.map(({ kind, status }: Record<string, string>) => `${kind} ${status}`);
  };
  const first = await addPaidSession(world.merchants, { ...shop, payerEmail: 'lost@example.com' });
  assert.deepEqual(await history(first.sessionId), ['receipt pending']);
  await sendRefusing('lost@example.com');
  await happen(world.merchants, first.order, 'Refunded');
  const second = await addPaidSession(world.merchants, { ...shop, payerEmail: 'found@example.com' });
  await mail.sendAll();
  assert.deepEqual(await history(first.sessionId), ['receipt bounced', 'refund suppressed']);
  assert.deepEqual(await history(second.sessionId), ['receipt sent']);
});

test('staff sees what did not go out without payers’ addresses, and lets e-mails go to an address again', async () => {
  const shop = await openShop();
  const { email: member } = await world.addPerson([[shop.merchantId, 'owner']]);
  await signedIn(member);
  const payer = 'secret.payer@example.net';
  await addPaidSession(world.merchants, { ...shop, payerEmail: payer });
  await sendRefusing(payer, member);
  await addPaidSession(world.merchants, { ...shop, payerEmail: 'waits@example.net' });
  mail.mailbox.answerRecipient = (address) =>
    address === 'waits@example.net' ? '452 4.2.2 waits: mailbox full' : undefined;
  await sendDue(mail.worker());
  mail.mailbox.answerRecipient = () => undefined;

  const { isConfigured, mails, bounces } = (await staff.get('/staff/mail/list')).data;
  assert.equal(isConfigured, true);
  const shown = mails.map((row: Record<string, unknown>) => [row['address'], row['status'], row['reason']]);
  assert.deepEqual(
    shown.slice(0, 3).sort(),
    [
      [member, 'bounced', `550 5.1.1 <${member}> is unknown here`],
      ['s•••@example.net', 'bounced', '550 5.1.1'],
      ['w•••@example.net', 'pending', '452 4.2.2'],
    ].sort(),
  );
  const addresses = bounces.map(({ address }: Record<string, string>) => address);
  assert.ok(addresses.includes('s•••@example.net') && addresses.includes(member), String(addresses));
  assert.doesNotMatch(JSON.stringify({ mails, bounces }), /secret|waits@/);
  const { waiting, lastSentAt } = (await staff.get('/staff/health')).data.mails;
  assert.deepEqual([waiting, lastSentAt !== ''], [1, true]);

  const release = async (address: string) => {
    const reply = await staff.post('/staff/mail/release', { address, reason: 'asked by phone' });
    return [reply.code, reply.data?.address];
  };
  assert.deepEqual(await release('never@example.net'), [400101, undefined]);
  assert.deepEqual(await release('Secret.Payer@example.net'), [0, 's•••@example.net']);
  const [entry] = (await staff.get('/staff/audit/list')).data.entries;
  assert.deepEqual([entry.action, entry.subject], ['releaseMailAddress', 's•••@example.net']);
  await addPaidSession(world.merchants, { ...shop, payerEmail: payer });
  await mail.sendAll();
  assert.equal(mail.mailsTo(payer).length, 1);
});

test('a refused address is tried again after half a year', async () => {
  const shop = await openShop();
  const { clock, database } = world.merchants;
  await addPaidSession(world.merchants, { ...shop, payerEmail: 'back@example.com' });
  await sendRefusing('back@example.com');
  const isRefused = async () => (await findBounces(database.db, ['back@example.com'])).size === 1;
  clock.time += 179 * 86_400_000;
  await deleteOld({ db: database.db, clock });
  assert.equal(await isRefused(), true);
  assert.deepEqual(
    (await listMailTrouble(database.db)).mails.filter(({ status }) => status !== 'pending'),
    [],
  );
  clock.time += 2 * 86_400_000;
  await deleteOld({ db: database.db, clock });
  assert.equal(await isRefused(), false);
});
