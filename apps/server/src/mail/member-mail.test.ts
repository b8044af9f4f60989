import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statement } from '@florin/pg';
import { operator } from '#members/audit.ts';
import { invite, mailInvitation } from '#members/invitation.ts';
import { cancelRecovery, recoverByOperator } from '#members/recovery.ts';
import { takeEffect } from '#merchants/account-change.ts';
import { Browser, password, walletDelayMs } from '../../test/harness/dashboard-world.ts';
import { mailStage } from '../../test/harness/mail-stage.ts';
import { totpCodeOf } from '../../test/harness/totp.ts';

const renameMerchant = statement({
  name: 'member_mail_test_rename',
  parameters: { merchantId: 'text', merchantName: 'text' },
  text: 'update merchants set merchant_name = :merchantName where merchant_id = :merchantId',
});
const dashboardOrigin = 'https://pay.example.com';

const stage = mailStage();

/** The new e-mails to an address, oldest first. */
async function newMails(address: string) {
  await stage.mail.sendAll();
  return stage.mail.newMailsTo(address);
}
const subjectsTo = async (address: string) => (await newMails(address)).map(({ subject }) => subject).sort();

test('owners and admins are told of every change of a wallet, and other members are not', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const [owner, admin, finance] = await Promise.all(
    (['owner', 'admin', 'finance'] as const).map((role) => stage.world.addPerson([[merchantId, role]])),
  );
  assert.ok(owner !== undefined && admin !== undefined && finance !== undefined);
  const browser = await stage.signedIn(owner.email);
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
  assert.match(planned?.text ?? '', /\nProof: Not proven\n/);
  const from = '\nIP address: 192\\.0\\.2\\.1\nDevice: Test browser\n';
  assert.match(planned?.text ?? '', new RegExp(`\nDone by: ${owner.email}${from}`));
  assert.match(planned?.html ?? '', new RegExp(`href="${dashboardOrigin}/dashboard/${merchantId}/wallets"`));
  assert.equal(planned?.fromName, 'Florin');
  await browser.post('/account/change/cancel', { changeId });
  const { accountId } = await add('0xde709f2102306220921060314715629080e2fb77');
  assert.equal(accountId, '');
  stage.world.merchants.clock.time += walletDelayMs;
  await stage.world.merchants.database.db.transaction((transaction) =>
    takeEffect(transaction, stage.world.merchants.deps),
  );
  const told = await newMails(admin.email);
  assert.deepEqual(told.map(({ subject }) => subject).sort(), [
    'A planned change of a wallet was cancelled',
    'A wallet of Test merchant is about to change',
    'Test merchant has a new wallet',
  ]);
  // What takes effect by itself names who asked for it a day ago.
  for (const { subject, text } of told) {
    const label = subject === 'Test merchant has a new wallet' ? 'Asked for by' : 'Done by';
    assert.match(text, new RegExp(`\n${label}: ${owner.email}${from}`));
  }
  assert.equal((await newMails(owner.email)).length, 6);
  await stage.signedIn(owner.email, browser);
  const [{ accountId: movedId, accountAddress }] = (await browser.get('/account/list')).data;
  const move = { accountId: movedId, accountAddress: address };
  assert.equal((await browser.post('/account/address', move)).code, 0);
  stage.world.merchants.clock.time += walletDelayMs;
  await stage.world.merchants.database.db.transaction((transaction) =>
    takeEffect(transaction, stage.world.merchants.deps),
  );
  const moved = await newMails(admin.email);
  assert.deepEqual(moved.map(({ subject }) => subject).sort(), [
    'A wallet of Test merchant is about to change',
    'A wallet of Test merchant was changed',
  ]);
  for (const { text } of moved)
    assert.match(text, new RegExp(`\nNew address: ${address}\nOld address: ${accountAddress}\n`));
  assert.deepEqual(await newMails(finance.email), []);
});

test('a person is told of a sign-in on a new device once, and of a changed password', async () => {
  const { email } = await stage.world.addPerson();
  const browser = await stage.signedIn(email);
  const [told, ...more] = await newMails(email);
  assert.deepEqual([told?.subject, more], ['Sign-in on a new device', []]);
  assert.match(told?.text ?? '', /UTC\nIP address: 192\.0\.2\.1\nDevice: Test browser/);
  await stage.signedIn(email, browser);
  assert.deepEqual(await newMails(email), []);
  const body = { currentPassword: password, newPassword: 'another correct battery' };
  assert.equal((await browser.post('/me/password/change', body)).code, 0);
  assert.deepEqual(await subjectsTo(email), ['Your password was changed']);
});

test('a person is told once per lockout of wrong codes after the right password, and from where they came', async () => {
  const { email, userId } = await stage.world.addPerson();
  const browser = await stage.signedIn(email);
  const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
  await browser.post('/me/second-factor/confirm', { code: totpCodeOf(totpUri) });
  await newMails(email);
  for (let count = 0; count < 12; count += 1) {
    if (count % 5 === 0) await browser.post('/sign-in/password', { email, password });
    const headers = { 'user-agent': 'Thief browser' };
    const options = { body: { code: '000000' }, headers, remoteAddress: '203.0.113.9' };
    await browser.send('POST', '/sign-in/code', options);
  }
  const [told, ...more] = await newMails(email);
  assert.deepEqual([told?.subject, more], ['Too many wrong codes at your sign-in', []]);
  assert.match(told?.text ?? '', /Your password was entered, and then too many wrong codes/);
  assert.match(told?.text ?? '', /UTC\nIP address: 203\.0\.113\.9\nDevice: Thief browser/);
  assert.match(told?.text ?? '', /change your password/);
  // A known device that has used up its own allowance locks no other, and is told in other words.
  const actor = {
    kind: 'member',
    id: userId,
    name: email,
    clientAddress: '',
    userAgent: '',
    requestId: '',
  } as const;
  const act = { action: 'exhaustCodesOfDevice', subject: userId };
  const { database, clock } = stage.world.merchants;
  await database.db.transaction((transaction) =>
    stage.mail.tellers.tellPerson(transaction, { userId, actor, act, at: clock.now() }),
  );
  const [known, ...others] = await newMails(email);
  assert.deepEqual([known?.subject, others], ['Too many wrong codes on a device of yours', []]);
  assert.match(known?.text ?? '', /It locks no other device/);
});

test('a person is told of a recovery, when it works, and of its end', async () => {
  const { userId, email } = await stage.world.addPerson();
  const { database } = stage.world.merchants;
  const deps = { ...stage.world.merchants.deps, recoveryDelayMs: walletDelayMs };
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

test('owners and admins of every merchant of the person are told when a recovery begins, is cancelled and is completed', async () => {
  const merchants = [
    await stage.world.merchants.addMerchant(),
    await stage.world.merchants.addMerchant(),
  ] as const;
  const [first, second] = merchants;
  stage.world.merchants.clock.time -= walletDelayMs;
  const lost = await stage.world.addPerson([
    [first, 'owner'],
    [second, 'viewer'],
  ]);
  const [ada, bob] = [
    await stage.world.addPerson([[first, 'owner']]),
    await stage.world.addPerson([[first, 'owner']]),
  ];
  const [kim, viewer] = [
    await stage.world.addPerson([[second, 'admin']]),
    await stage.world.addPerson([[first, 'viewer']]),
  ];
  stage.world.merchants.clock.time += walletDelayMs;
  const { database } = stage.world.merchants;
  const deps = { ...stage.world.merchants.deps, recoveryDelayMs: walletDelayMs };
  const { userId } = lost;
  const recover = () =>
    database.db.transaction((transaction) =>
      recoverByOperator(transaction, deps, { userId, actor: operator }),
    );
  const others = [ada, bob, kim].map(({ email }) => email);
  const told = async (title: string, personal: string) => {
    for (const email of others.slice(1)) assert.deepEqual(await subjectsTo(email), [title]);
    assert.deepEqual(await subjectsTo(lost.email), [personal]);
    const [mail, ...more] = await newMails(ada.email);
    assert.deepEqual([mail?.subject, more], [title, []]);
    return mail?.text ?? '';
  };
  await recover();
  const begun = await told(
    'The recovery of a member of Test merchant has begun',
    'The recovery of your account has begun',
  );
  assert.match(begun, /From \w{3} \d.* UTC on, a link sets a new password for the member/);
  assert.match(begun, new RegExp(`Member: ${lost.email}`));
  assert.doesNotMatch(begun, /recovery#/);
  const owner = await stage.signedIn(ada.email);
  owner.merchantId = first;
  await newMails(ada.email);
  assert.equal((await owner.post('/member/recover/cancel', { userId })).code, 0);
  await told(
    'The recovery of a member of Test merchant was cancelled',
    'The recovery of your account was cancelled',
  );
  const { token } = await recover();
  for (const email of [...others, lost.email]) await newMails(email);
  stage.world.merchants.clock.time += walletDelayMs;
  const body = { token, password: 'a long password after the loss' };
  assert.equal(
    (await new Browser(await stage.world.serve('local')).post('/recovery/complete', body)).code,
    0,
  );
  await told('The account of a member of Test merchant was recovered', 'Your account was recovered');
  assert.deepEqual(await newMails(viewer.email), []);

  // One owner asks, and the others hear of it before a second one agrees.
  const member = await stage.world.addPerson([[first, 'support']]);
  const asking = await stage.signedIn(bob.email);
  asking.merchantId = first;
  await newMails(bob.email);
  assert.equal((await asking.post('/member/recover', { userId: member.userId })).code, 0);
  const asked = 'An owner asks to recover the account of a member of Test merchant';
  for (const { email } of [ada, bob, lost]) assert.deepEqual(await subjectsTo(email), [asked]);
  assert.deepEqual(await newMails(kim.email), []);
});

test('an invitation with an address goes there, with the link that the inviter sees', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const owner = await stage.world.addPerson([[merchantId, 'owner']]);
  const browser = await stage.signedIn(owner.email);
  browser.merchantId = merchantId;
  const invite = async (body: object) =>
    (await browser.post('/invitation/create', { role: 'viewer', ...body })).data;
  const { url, isMailed } = await invite({ email: 'New@Example.com' });
  assert.equal(isMailed, true);
  const [told, ...more] = await newMails('new@example.com');
  assert.deepEqual([told?.subject, more], ['You are invited to Test merchant', []]);
  assert.ok(told?.text.includes(`\nRole: Viewer\nInvited by: ${owner.email}\nWorks until: `), told?.text);
  assert.ok(told?.text.includes(url) && told.html.includes(`href="${url}"`));
  assert.equal((await invite({})).isMailed, false);
});

test('a merchant sends at most 50 invitations by e-mail in a day; more links are made, but not sent', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const { deps, database, clock } = stage.world.merchants;
  const send = (email: string) =>
    database.db.transaction(async (transaction) => {
      const request = { merchantId, role: 'viewer', email, invitedBy: '' } as const;
      const { invitation } = await invite(transaction, deps, request);
      return mailInvitation(transaction, stage.mail.tellers, { invitation, url: dashboardOrigin });
    });
  const sent: boolean[] = [];
  for (let count = 0; count < 52; count += 1) sent.push(await send(`guest${count}@example.com`));
  assert.deepEqual([sent.filter((isSent) => isSent).length, sent.slice(-2)], [50, [false, false]]);
  clock.time += 86_400_000;
  assert.equal(await send('tomorrow@example.com'), true);
});

test('names that others choose add no header, no markup and no hidden character to e-mails of members', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const owner = await stage.world.addPerson([[merchantId, 'owner']]);
  const merchantName = '=?utf-8?B?UGF5UGFs?= Shop\r\nBcc: victim@example.net\r\n\r\n"<b>\u202etxt</b>';
  await stage.world.merchants.database.db.query(renameMerchant, { merchantId, merchantName });
  const browser = new Browser(await stage.world.serve('local'));
  const headers = { 'user-agent': 'Pad <script> "x' };
  const signIn = { body: { email: owner.email, password }, headers };
  assert.equal((await browser.send('POST', '/sign-in/password', signIn)).code, 0);
  browser.merchantId = merchantId;
  await browser.post('/invitation/create', { role: 'viewer', email: 'guest@example.com' });
  const accountAddress = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
  const account = { accountName: '<img src=x>"', accountAddress, settlementCurrencies: ['ethereum::usdc'] };
  assert.equal((await browser.post('/account/create', account)).code, 0);
  const told = [...(await newMails(owner.email)), ...(await newMails('guest@example.com'))];
  assert.deepEqual(told.map(({ subject }) => subject).sort(), [
    'Sign-in on a new device',
    'You are invited to \uff1d?utf-8?B?UGF5UGFs?= Shop Bcc: victim@example.net "<b>txt</b>',
    '\uff1d?utf-8?B?UGF5UGFs?= Shop Bcc: victim@example.net "<b>txt</b> has a new wallet',
  ]);
  for (const { to, headers: sent, text, html } of told) {
    assert.deepEqual([to, sent['bcc'], sent['to']], [to, undefined, to[0]]);
    assert.doesNotMatch(html, /<b>|<script|<img|<[^>]*\ssrc=|url\(|\u202e/);
    assert.doesNotMatch(text, /\u202e/);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, url = '']) => new URL(url).origin);
    assert.deepEqual([...new Set(links)], [dashboardOrigin]);
  }
});
