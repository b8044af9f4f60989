import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Mailbox, startMailbox } from '@florin/world';
import { operator } from '#members/audit.ts';
import { cancelRecovery, recoverByOperator } from '#members/recovery.ts';
import { takeEffect } from '#merchants/account-change.ts';
import { systemRandom } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { silentLog } from '#telemetry/log.ts';
import { Browser, DashboardWorld, password, walletDelayMs } from '../../test/harness/dashboard-world.ts';
import { findChosenRecipients } from './chosen-mail.ts';
import { sendDue } from './mail.ts';
import { composeMemberMail } from './member-mail.ts';
import { invitedTeller, mailNotifier, personTeller } from './notify.ts';
import { smtpTransport } from './smtp.ts';

const secrets = secretBox([randomBytes(32)]);
const dashboardOrigin = 'https://pay.example.com';
const telling = {
  notify: mailNotifier({ random: systemRandom, secrets }),
  tellPerson: personTeller({ random: systemRandom, secrets }),
  tellInvited: invitedTeller({ random: systemRandom, secrets }),
};

let world: DashboardWorld;
let mailbox: Mailbox;
before(async () => {
  world = await DashboardWorld.open();
  Object.assign(world.merchants.deps, telling);
  mailbox = await startMailbox({ port: 0, now: world.merchants.clock.now });
});
after(async () => {
  await mailbox.close();
  await world.close();
});

/** The e-mails to an address that have come since the last look, oldest first. */
async function newMails(address: string) {
  const { database, clock } = world.merchants;
  const from = { from: 'pay@florin.test', fromName: 'Florin' };
  const worker = {
    ...{ db: database.db, clock, log: silentLog, random: systemRandom, secrets, domain: 'florin.test' },
    transport: smtpTransport({ host: '127.0.0.1', port: mailbox.port, security: 'none', ...from }),
    recipientsOf: findChosenRecipients,
    compose: (mail: Parameters<typeof composeMemberMail>[1]) =>
      composeMemberMail({ db: database.db, fromName: 'Florin', dashboardOrigin }, mail),
  };
  while (await sendDue(worker));
  const mails = mailbox.mails().filter(({ to, number }) => to.includes(address) && number > seen(address));
  lastSeen.set(address, mailbox.mails()[0]?.number ?? 0);
  return mails.toReversed();
}
const lastSeen = new Map<string, number>();
const seen = (address: string) => lastSeen.get(address) ?? 0;
const subjectsTo = async (address: string) => (await newMails(address)).map(({ subject }) => subject).sort();

async function signedIn(email: string, browser?: Browser): Promise<Browser> {
  const used = browser ?? new Browser(await world.serve('local'));
  assert.equal((await used.post('/sign-in/password', { email, password })).code, 0);
  return used;
}

test('owners and admins are told of every change of a wallet, and other members are not', async () => {
  const merchantId = await world.merchants.addMerchant();
  const [owner, admin, finance] = await Promise.all(
    (['owner', 'admin', 'finance'] as const).map((role) => world.addPerson([[merchantId, role]])),
  );
  assert.ok(owner !== undefined && admin !== undefined && finance !== undefined);
  const browser = await signedIn(owner.email);
  browser.merchantId = merchantId;
  const add = async (accountAddress: string) => {
    const body = { accountName: 'Till', accountAddress, settlementCurrencies: ['ethereum::usdc'] };
    return (await browser.post('/account/create', body)).data;
  };
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  await add('0x8617E340B3D01FA5F11F306F4090FD50E238070D');
  assert.deepEqual(await subjectsTo(admin.email), ['Test merchant has a new wallet']);
  const { changeId } = await add(address);
  const [planned, ...none] = await newMails(admin.email);
  assert.deepEqual([planned?.subject, none], ['A wallet of Test merchant is about to change', []]);
  assert.match(planned?.text ?? '', /From .+ UTC on, settlements may go to this address\./);
  assert.match(planned?.text ?? '', new RegExp(`Address: ${address}`));
  assert.match(planned?.html ?? '', new RegExp(`href="${dashboardOrigin}/dashboard/${merchantId}/wallets"`));
  assert.equal(planned?.fromName, 'Florin');
  await browser.post('/account/change/cancel', { changeId });
  const { accountId } = await add('0xde709f2102306220921060314715629080e2fb77');
  assert.equal(accountId, '');
  world.merchants.clock.time += walletDelayMs;
  await world.merchants.database.db.transaction((transaction) =>
    takeEffect(transaction, world.merchants.deps),
  );
  assert.deepEqual(await subjectsTo(admin.email), [
    'A planned change of a wallet was cancelled',
    'A wallet of Test merchant is about to change',
    'Test merchant has a new wallet',
  ]);
  assert.equal((await newMails(owner.email)).length, 6);
  assert.deepEqual(await newMails(finance.email), []);
});

test('a person is told of a sign-in on a new device once, and of a changed password', async () => {
  const { email } = await world.addPerson();
  const browser = await signedIn(email);
  const [mail, ...more] = await newMails(email);
  assert.deepEqual([mail?.subject, more], ['Sign-in on a new device', []]);
  assert.match(mail?.text ?? '', /Done by: your account\nIP address: 192\.0\.2\.1\nDevice: Test browser/);
  await signedIn(email, browser);
  assert.deepEqual(await newMails(email), []);
  const body = { currentPassword: password, newPassword: 'another correct battery' };
  assert.equal((await browser.post('/me/password/change', body)).code, 0);
  assert.deepEqual(await subjectsTo(email), ['Your password was changed']);
});

test('a person is told of a recovery, when it works, and of its end', async () => {
  const { userId, email } = await world.addPerson();
  const { clock, database } = world.merchants;
  const deps = { ...{ clock, random: systemRandom, ...telling }, recoveryDelayMs: walletDelayMs };
  await database.db.transaction((transaction) =>
    recoverByOperator(transaction, deps, { userId, actor: operator }),
  );
  const [begun] = await newMails(email);
  assert.equal(begun?.subject, 'The recovery of your account has begun');
  assert.match(begun?.text ?? '', /From \w{3} \d.* UTC on, a link sets a new password/);
  assert.match(begun?.text ?? '', /Done by: operator/);
  assert.doesNotMatch(begun?.text ?? '', /recovery#/);
  await database.db.transaction((transaction) =>
    cancelRecovery(transaction, deps, { userId, actor: operator }),
  );
  assert.deepEqual(await subjectsTo(email), ['The recovery of your account was cancelled']);
});

test('an invitation with an address goes there, with the link that the inviter sees', async () => {
  const merchantId = await world.merchants.addMerchant();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const browser = await signedIn(owner.email);
  browser.merchantId = merchantId;
  const invite = async (body: object) =>
    (await browser.post('/invitation/create', { role: 'viewer', ...body })).data;
  const { url, isMailed } = await invite({ email: 'New@Example.com' });
  assert.equal(isMailed, true);
  const [mail, ...more] = await newMails('new@example.com');
  assert.deepEqual([mail?.subject, more], ['You are invited to Test merchant', []]);
  assert.match(mail?.text ?? '', /Works until: /);
  assert.ok(mail?.text.includes(url) && mail.html.includes(`href="${url}"`));
  assert.equal((await invite({})).isMailed, false);
});
