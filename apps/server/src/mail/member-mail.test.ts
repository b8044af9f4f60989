import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { operator } from '#members/audit.ts';
import { invite, mailInvitation } from '#members/invitation.ts';
import { cancelRecovery, recoverByOperator } from '#members/recovery.ts';
import { takeEffect } from '#merchants/account-change.ts';
import { Browser, DashboardWorld, password, walletDelayMs } from '../../test/harness/dashboard-world.ts';
import { MailWorld } from '../../test/harness/mail-world.ts';

const renameMerchant = statement({
  name: 'member_mail_test_rename',
  parameters: { merchantId: 'text', merchantName: 'text' },
  columns: {},
  text: 'update merchants set merchant_name = :merchantName where merchant_id = :merchantId',
});
const dashboardOrigin = 'https://pay.example.com';

let world: DashboardWorld;
let mail: MailWorld;
before(async () => {
  world = await DashboardWorld.open();
  mail = await MailWorld.open(world.merchants);
});
after(async () => {
  await mail.close();
  await world.close();
});

/** The e-mails to an address that have come since the last look, oldest first. */
async function newMails(address: string) {
  await mail.sendAll();
  const mails = mail.mailsTo(address).filter(({ number }) => number > seen(address));
  lastSeen.set(address, mail.mailbox.mails()[0]?.number ?? 0);
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
  const from = '\nIP address: 192\\.0\\.2\\.1\nDevice: Test browser\n';
  assert.match(planned?.text ?? '', new RegExp(`\nDone by: ${owner.email}${from}`));
  assert.match(planned?.html ?? '', new RegExp(`href="${dashboardOrigin}/dashboard/${merchantId}/wallets"`));
  assert.equal(planned?.fromName, 'Florin');
  await browser.post('/account/change/cancel', { changeId });
  const { accountId } = await add('0xde709f2102306220921060314715629080e2fb77');
  assert.equal(accountId, '');
  world.merchants.clock.time += walletDelayMs;
  await world.merchants.database.db.transaction((transaction) =>
    takeEffect(transaction, world.merchants.deps),
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
  await signedIn(owner.email, browser);
  const [{ accountId: movedId, accountAddress }] = (await browser.get('/account/list')).data;
  const move = { accountId: movedId, accountAddress: address };
  assert.equal((await browser.post('/account/address', move)).code, 0);
  world.merchants.clock.time += walletDelayMs;
  await world.merchants.database.db.transaction((transaction) =>
    takeEffect(transaction, world.merchants.deps),
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
  const { email } = await world.addPerson();
  const browser = await signedIn(email);
  const [told, ...more] = await newMails(email);
  assert.deepEqual([told?.subject, more], ['Sign-in on a new device', []]);
  assert.match(told?.text ?? '', /UTC\nIP address: 192\.0\.2\.1\nDevice: Test browser/);
  await signedIn(email, browser);
  assert.deepEqual(await newMails(email), []);
  const body = { currentPassword: password, newPassword: 'another correct battery' };
  assert.equal((await browser.post('/me/password/change', body)).code, 0);
  assert.deepEqual(await subjectsTo(email), ['Your password was changed']);
});

test('a person is told of a recovery, when it works, and of its end', async () => {
  const { userId, email } = await world.addPerson();
  const { database } = world.merchants;
  const deps = { ...world.merchants.deps, recoveryDelayMs: walletDelayMs };
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
  const merchants = [await world.merchants.addMerchant(), await world.merchants.addMerchant()] as const;
  const [first, second] = merchants;
  world.merchants.clock.time -= walletDelayMs;
  const lost = await world.addPerson([
    [first, 'owner'],
    [second, 'viewer'],
  ]);
  const [ada, bob] = [await world.addPerson([[first, 'owner']]), await world.addPerson([[first, 'owner']])];
  const [kim, viewer] = [
    await world.addPerson([[second, 'admin']]),
    await world.addPerson([[first, 'viewer']]),
  ];
  world.merchants.clock.time += walletDelayMs;
  const { database } = world.merchants;
  const deps = { ...world.merchants.deps, recoveryDelayMs: walletDelayMs };
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
  const owner = await signedIn(ada.email);
  owner.merchantId = first;
  await newMails(ada.email);
  assert.equal((await owner.post('/member/recover/cancel', { userId })).code, 0);
  await told(
    'The recovery of a member of Test merchant was cancelled',
    'The recovery of your account was cancelled',
  );
  const { token } = await recover();
  for (const email of [...others, lost.email]) await newMails(email);
  world.merchants.clock.time += walletDelayMs;
  const body = { token, password: 'a long password after the loss' };
  assert.equal((await new Browser(await world.serve('local')).post('/recovery/complete', body)).code, 0);
  await told('The account of a member of Test merchant was recovered', 'Your account was recovered');
  assert.deepEqual(await newMails(viewer.email), []);

  // One owner asks, and the others hear of it before a second one agrees.
  const member = await world.addPerson([[first, 'support']]);
  const asking = await signedIn(bob.email);
  asking.merchantId = first;
  await newMails(bob.email);
  assert.equal((await asking.post('/member/recover', { userId: member.userId })).code, 0);
  const asked = 'An owner asks to recover the account of a member of Test merchant';
  for (const { email } of [ada, bob, lost]) assert.deepEqual(await subjectsTo(email), [asked]);
  assert.deepEqual(await newMails(kim.email), []);
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
  const [told, ...more] = await newMails('new@example.com');
  assert.deepEqual([told?.subject, more], ['You are invited to Test merchant', []]);
  assert.match(told?.text ?? '', /Works until: /);
  assert.ok(told?.text.includes(url) && told.html.includes(`href="${url}"`));
  assert.equal((await invite({})).isMailed, false);
});

test('owners and admins are told of members, roles, secret keys and where webhooks go, and cannot turn it off', async () => {
  const merchantId = await world.merchants.addMerchant();
  const [owner, admin, viewer] = await Promise.all(
    (['owner', 'admin', 'viewer'] as const).map((role) => world.addPerson([[merchantId, role]])),
  );
  assert.ok(owner !== undefined && admin !== undefined && viewer !== undefined);
  const browser = await signedIn(owner.email);
  browser.merchantId = merchantId;
  const done = async (path: string, body: object) => {
    const reply = await browser.post(path, body);
    assert.equal(reply.code, 0, reply.message);
    return reply.data;
  };
  await done('/key/create', { kind: 'restricted', permissions: ['products:read'] });
  const { keyId } = await done('/key/create', { kind: 'secret' });
  await done('/member/role', { userId: viewer.userId, role: 'support' });
  const hook = { webhookName: 'Hook', webhookUrl: 'https://shop.example.com/hook', subscribedEvents: ['*'] };
  const { webhookId } = await done('/webhook/create', hook);
  await done('/webhook/update', { ...hook, webhookId, webhookName: 'Other name' });
  const otherUrl = 'https://other.example.com/hook?token=s3cret';
  await done('/webhook/update', { ...hook, webhookId, webhookUrl: otherUrl });
  const guest = await world.addPerson();
  const { url } = await done('/invitation/create', { role: 'admin', email: guest.email });
  assert.equal((await newMails(guest.email)).length, 1);
  const accepted = await signedIn(guest.email);
  await accepted.post('/me/invitation/accept', { token: url.split('#')[1] });

  const told = await newMails(admin.email);
  assert.deepEqual(told.map(({ subject }) => subject).sort(), [
    'A webhook of Test merchant was redirected',
    'Test merchant has a new member',
    'Test merchant has a new secret key',
    'Test merchant has a new webhook',
    'The role of a member of Test merchant was changed',
  ]);
  const textOf = (subject: string) => told.find((mail) => mail.subject === subject)?.text ?? '';
  const acceptance = textOf('Test merchant has a new member');
  assert.match(acceptance, new RegExp(`Member: ${guest.email}\nRole: admin`));
  assert.match(
    textOf('The role of a member of Test merchant was changed'),
    /Role: support\nRole before: viewer/,
  );
  assert.match(
    textOf('A webhook of Test merchant was redirected'),
    /Address: https:\/\/other\.example\.com\/hook\?token=\*\*\*\*\nAddress before: https:\/\/shop/,
  );
  assert.doesNotMatch(told.map(({ text, html }) => text + html).join(), /s3cret/);
  assert.deepEqual(await newMails(viewer.email), []);
  const turnOff = { merchantId, kind: 'access_changed', isWanted: false };
  assert.equal((await browser.post('/me/notification/change', turnOff)).code, 400101);
  const { entries } = await browser.get('/audit/list').then(({ data }) => data);
  const entry = entries.find(({ action }: { action: string }) => action === 'acceptInvitation');
  assert.deepEqual(JSON.parse(entry.after), {
    ...{ userId: guest.userId, email: guest.email, role: 'admin' },
  });

  // Who is removed leaves keys that work, which the answer names.
  const guestBrowser = await signedIn(guest.email, accepted);
  guestBrowser.merchantId = merchantId;
  const removed = await guestBrowser.post('/member/remove', { userId: owner.userId });
  assert.equal(removed.code, 200205);
  const { keyId: left } = (await guestBrowser.post('/key/create', { kind: 'secret' })).data;
  assert.notEqual(left, keyId);
  const { keys } = await done('/member/remove', { userId: guest.userId });
  assert.deepEqual(
    keys.map((key: { keyId: string; kind: string }) => [key.keyId, key.kind]),
    [[left, 'secret']],
  );
  await done('/key/disable', { keyId: left });
});

test('owners and admins are told where webhooks go also when an API key sends them there', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  const developer = await world.addPerson([[merchantId, 'developer']]);
  const key = await world.merchants.addKey(merchantId);
  const post = async (path: string, body: object) => {
    const reply = await world.merchants.send('POST', path, { key, body });
    assert.equal(reply.code, 0, reply.message);
    return reply.data;
  };
  const hook = { webhookName: 'Hook', webhookUrl: 'https://shop.example.com/hook', subscribedEvents: ['*'] };
  const { webhookId } = await post('/webhook/create', hook);
  await post('/webhook/update', { ...hook, webhookId, webhookName: 'Other name' });
  const webhookUrl = 'https://other.example.com/hook?token=s3cret';
  await post('/webhook/update', { ...hook, webhookId, webhookUrl });
  const told = (await newMails(email)).toSorted((one, other) => one.subject.localeCompare(other.subject));
  assert.deepEqual(
    told.map(({ subject }) => subject),
    ['A webhook of Test merchant was redirected', 'Test merchant has a new webhook'],
  );
  assert.match(told[0]?.text ?? '', /Address: https:\/\/other.+\nAddress before: https:\/\/shop/);
  for (const { text, html } of told) {
    assert.match(text, new RegExp(`\nDone by: API key sk_live_…${key.slice(-4)}\nIP address: 127`));
    assert.match(text, /revoke the key in the dashboard/);
    assert.doesNotMatch(text + html, /s3cret|audit log/);
  }
  assert.deepEqual(await newMails(developer.email), []);

  // A key that goes on fills no mailbox: the tenth e-mail of the day is the last, and says so.
  const { clock } = world.merchants;
  const move = async (from: number, until: number) => {
    for (let count = from; count < until; count += 1) {
      clock.time += 1_000;
      await post('/webhook/update', { ...hook, webhookId, webhookUrl: `https://shop.example.com/${count}` });
    }
    return (await newMails(email)).filter(({ subject }) => subject.includes('redirected'));
  };
  const moved = await move(0, 15);
  assert.equal(moved.length, 8);
  assert.equal(moved.filter(({ text }) => text.includes('not told for a day')).length, 1);
  clock.time += 86_400_000;
  assert.equal((await move(20, 21)).length, 1);

  // Nor do members' changes count, behind which a key could act unseen.
  clock.time += 86_400_000;
  const owner = await signedIn(email);
  owner.merchantId = merchantId;
  for (let count = 0; count < 10; count += 1) {
    clock.time += 1_000;
    const moved = { ...hook, webhookId, webhookUrl: `https://members.example.com/${count}` };
    assert.equal((await owner.post('/webhook/update', moved)).code, 0);
  }
  assert.equal((await newMails(email)).filter(({ subject }) => subject.includes('redirected')).length, 10);
  const [unseen, ...more] = await move(30, 31);
  assert.match(unseen?.text ?? '', /\nDone by: API key/);
  assert.deepEqual(more, []);

  // Changes at the same time do not pass the last e-mail by.
  clock.time += 86_400_000;
  const hooks = [];
  for (let count = 0; count < 8; count += 1) hooks.push((await post('/webhook/create', hook)).webhookId);
  assert.equal((await newMails(email)).length, 8);
  const evil = { ...hook, webhookUrl: 'https://evil.example.com/hook' };
  await Promise.all(hooks.map((id) => post('/webhook/update', { ...evil, webhookId: id })));
  const atOnce = await newMails(email);
  assert.deepEqual(
    [atOnce.length, atOnce.filter(({ text }) => text.includes('not told for a day')).length],
    [2, 1],
  );
});

test('a merchant sends at most 50 invitations by e-mail in a day; more links are made, but not sent', async () => {
  const merchantId = await world.merchants.addMerchant();
  const { deps, database, clock } = world.merchants;
  const send = (email: string) =>
    database.db.transaction(async (transaction) => {
      const request = { merchantId, role: 'viewer', email, invitedBy: '' } as const;
      const { invitation } = await invite(transaction, deps, request);
      return mailInvitation(transaction, mail.tellers, { invitation, url: dashboardOrigin });
    });
  const sent: boolean[] = [];
  for (let count = 0; count < 52; count += 1) sent.push(await send(`guest${count}@example.com`));
  assert.deepEqual([sent.filter((isSent) => isSent).length, sent.slice(-2)], [50, [false, false]]);
  clock.time += 86_400_000;
  assert.equal(await send('tomorrow@example.com'), true);
});

test('names that others choose add no header, no markup and no hidden character to e-mails of members', async () => {
  const merchantId = await world.merchants.addMerchant();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const merchantName = '=?utf-8?B?UGF5UGFs?= Shop\r\nBcc: victim@example.net\r\n\r\n"<b>\u202etxt</b>';
  await world.merchants.database.db.query(renameMerchant, { merchantId, merchantName });
  const browser = new Browser(await world.serve('local'));
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
