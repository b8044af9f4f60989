import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statement } from '@florin/pg';
import { invite } from '#members/invitation.ts';
import { Browser, password } from '../../test/harness/dashboard-world.ts';
import { actsIn, mailStage } from '../../test/harness/mail-stage.ts';
import { sendDue } from './mail.ts';

const mailStates = statement({
  name: 'access_mail_test_states',
  parameters: { recipient: 'text' },
  columns: { kind: 'text', status: 'text', count: 'int8' },
  text: `select kind, status, count(*) as count from mails
   where recipient = :recipient and merchant_id is not null group by 1, 2`,
});

const stage = mailStage();

test('owners and admins are told of members, roles, secret keys and where webhooks go, and cannot turn it off', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const [owner, admin, viewer] = await Promise.all(
    (['owner', 'admin', 'viewer'] as const).map((role) => stage.world.addPerson([[merchantId, role]])),
  );
  assert.ok(owner !== undefined && admin !== undefined && viewer !== undefined);
  const browser = await stage.signedIn(owner.email);
  browser.merchantId = merchantId;
  const done = async (path: string, body: object) => {
    const reply = await browser.post(path, body);
    assert.equal(reply.code, 0, reply.message);
    return reply.data;
  };
  const { keyId } = await done('/key/create', { kind: 'secret' });
  await done('/member/role', { userId: viewer.userId, role: 'support' });
  const hook = { webhookName: 'Hook', webhookUrl: 'https://shop.example.com/hook', subscribedEvents: ['*'] };
  const { webhookId } = await done('/webhook/create', hook);
  await done('/webhook/update', { ...hook, webhookId, webhookName: 'Other name' });
  const otherUrl = 'https://other.example.com/hook?token=s3cret';
  await done('/webhook/update', { ...hook, webhookId, webhookUrl: otherUrl });
  const guest = await stage.world.addPerson();
  const { url } = await done('/invitation/create', { role: 'admin', email: guest.email });
  assert.equal((await stage.newMails(guest.email)).length, 1);
  const accepted = await stage.signedIn(guest.email);
  await accepted.post('/me/invitation/accept', { token: url.split('#')[1] });

  const told = await stage.newMails(admin.email);
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
  assert.deepEqual(await stage.newMails(viewer.email), []);
  const turnOff = { merchantId, kind: 'access_changed', isWanted: false };
  assert.equal((await browser.post('/me/notification/change', turnOff)).code, 400101);
  const { entries } = await browser.get('/audit/list').then(({ data }) => data);
  const entry = entries.find(({ action }: { action: string }) => action === 'acceptInvitation');
  assert.deepEqual(JSON.parse(entry.after), {
    ...{ userId: guest.userId, email: guest.email, role: 'admin' },
  });

  // Who is removed leaves keys that work, which the answer names.
  const guestBrowser = await stage.signedIn(guest.email, accepted);
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

test('many acts alike are told at once by their first, and by one e-mail of the others, and none is lost', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const owner = await stage.world.addPerson([[merchantId, 'owner']]);
  const browser = await stage.signedIn(owner.email);
  browser.merchantId = merchantId;
  const make = (kind: string) =>
    browser.post('/key/create', { kind, ...(kind === 'secret' ? {} : { name: 'Till' }) });
  await stage.newMails(owner.email);
  await make('secret');
  await stage.mail.sendAll();
  const subjects = () => stage.mail.mailsTo(owner.email).map(({ subject }) => subject);
  const [first] = subjects();
  assert.equal(first, 'Test merchant has a new secret key');
  const seenBefore = subjects().length;
  for (let count = 0; count < 25; count += 1) {
    const { code, message } = await make(count % 2 === 0 ? 'restricted' : 'secret');
    assert.equal(code, 0, message);
  }
  await stage.mail.sendAll();
  assert.equal(subjects().length, seenBefore);
  const gathered = (await stage.newMails(owner.email)).slice(1);
  assert.deepEqual(
    gathered.map(({ subject }) => subject),
    ['Test merchant has a new API key (25 times)'],
  );
  const [{ text } = { text: '' }] = gathered;
  assert.match(text, /This happened 25 times within some minutes\./);
  assert.equal(actsIn(gathered), 20);
  // Of 12 secret keys and 13 restricted ones it leaves out restricted ones.
  assert.equal(
    text.match(/^Key: sk_live_….{4}\nMay: everything that the merchant API offers\n/gm)?.length,
    12,
  );
  assert.equal(text.match(/^Key: rk_live_/gm)?.length, 8);
  assert.match(text, /^And: 5 more, which the audit log lists$/m);
  const [, page = ''] = text.match(/^Open the audit log:\n(.+)$/m) ?? [];
  const { pathname, searchParams } = new URL(page);
  assert.equal(pathname, `/dashboard/${merchantId}/audit`);
  const { from = '', to = '', ...filter } = Object.fromEntries(searchParams);
  // The page shows whole days.
  const seconds = { from: String(Date.parse(from) / 1_000), to: String(Date.parse(to) / 1_000 + 86_399) };
  const query = new URLSearchParams({ ...filter, ...seconds });
  const { entries } = (await browser.get(`/audit/list?${query}`)).data;
  assert.equal(entries.length, 26);
  const states = await stage.world.merchants.database.db.query(mailStates, { recipient: owner.email });
  assert.deepEqual(
    states.map(({ kind, status, count }) => [kind, status, Number(count)]),
    [['createApiKey', 'sent', 26]],
  );
});

test('after an outage of the mail server few e-mails tell each act once, also when it refuses one for good', async () => {
  const { clock, database } = stage.world.merchants;
  const merchantId = await stage.world.merchants.addMerchant();
  const { email, userId } = await stage.world.addPerson([[merchantId, 'owner']]);
  let made = 0;
  const doer = { id: userId, name: email, clientAddress: '', userAgent: '' };
  const [actor, secret] = [{ ...doer, kind: 'member' } as const, { kind: 'secret' }];
  const makeKeys = async (count: number) => {
    for (const until = made + count; made < until; made += 1) {
      const last4 = `k${100 + made}`;
      const act = { action: 'createApiKey', subject: last4, after: JSON.stringify({ ...secret, last4 }) };
      const notice = { merchantId, actor, act, at: clock.now() };
      await database.db.transaction((transaction) => stage.mail.tellers.tellOwners(transaction, notice));
    }
  };
  const passMinutes = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      while (await sendDue(stage.mail.worker()));
      clock.time += 60_000;
    }
  };
  const toldKeys = () => {
    const texts = stage.mail.mailsTo(email).map(({ text }) => text);
    return texts.map((text) => text.match(/(?<=sk_live_…)k\d+/g)?.toSorted() ?? []).toReversed();
  };
  const keys = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => `k${100 + from + index}`);

  stage.mail.mailbox.answerRecipient = () => '451 4.3.0 try again later';
  await makeKeys(10);
  await passMinutes(60);
  await makeKeys(3);
  await passMinutes(30);
  stage.mail.mailbox.answerRecipient = () => undefined;
  await passMinutes(200);
  const told = toldKeys();
  assert.deepEqual(told.flat().sort(), keys(0, 13));
  assert.ok(told.length <= 3, `${told.length} e-mails`);

  // No worker runs for so long that all are due.
  await makeKeys(12);
  clock.time += 90 * 60_000;
  await passMinutes(1);
  assert.deepEqual(toldKeys().slice(told.length), [keys(13, 25)]);

  // The second e-mail is refused for good, so its first act is not told. The others are, together.
  await makeKeys(1);
  await passMinutes(1);
  await makeKeys(9);
  stage.mail.mailbox.answerRecipient = () => '550 5.7.1 relaying denied';
  await passMinutes(11);
  stage.mail.mailbox.answerRecipient = () => undefined;
  await passMinutes(60);
  assert.deepEqual(toldKeys().slice(told.length + 1), [keys(25, 26), keys(27, 35)]);

  // While nothing fails, what follows the first e-mail comes ten minutes later, however long it goes on.
  for (let second = 0; second < 15; second += 1) {
    await makeKeys(1);
    while (await sendDue(stage.mail.worker()));
    clock.time += 1_000;
  }
  await passMinutes(12);
  assert.deepEqual(toldKeys().slice(told.length + 3), [keys(35, 36), keys(36, 50)]);
});

test('a key has a name, which its e-mail says with what it may do', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const owner = await stage.world.addPerson([[merchantId, 'owner']]);
  const { email } = await stage.world.addPerson([[merchantId, 'developer']]);
  const developer = await stage.signedIn(email);
  developer.merchantId = merchantId;
  const expiresAt = Math.floor(stage.world.merchants.clock.time / 1_000) + 86_400;
  const body = { kind: 'restricted', permissions: ['products:read', 'webhooks:write'], expiresAt };
  const made = await developer.post('/key/create', { ...body, name: ' Stock list ' });
  assert.equal(made.code, 0, made.message);
  const { keyId } = made.data;
  const [told, ...more] = await stage.newMails(owner.email);
  assert.deepEqual([told?.subject, more], ['Test merchant has a new restricted key', []]);
  assert.match(
    told?.text ?? '',
    new RegExp(
      `Key: rk_live_….{4}\\nFor: Stock list\\nMay: products:read, webhooks:write\\nWorks until: .*\\nDone by: ${email}`,
      's',
    ),
  );
  const nameOf = async () => (await developer.get('/key/list')).data.keys[0].name;
  assert.equal(await nameOf(), 'Stock list');
  assert.equal((await developer.post('/key/rename', { keyId, name: 'Till' })).code, 0);
  assert.equal(await nameOf(), 'Till');
  assert.equal((await developer.post('/key/rename', { keyId, name: 'x'.repeat(61) })).code, 400101);
  assert.equal((await developer.post('/key/rename', { keyId: 'key_none', name: '' })).code, 100806);
});

test('owners and admins are told that the operator suspended their business and why, and when it ends; not who did it', async () => {
  const { world } = stage;
  const merchantId = await world.merchants.addMerchant();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const { token } = await world.merchants.database.db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId: undefined, role: 'staff', email: '', invitedBy: '' }),
  );
  const staff = new Browser(await world.serve('local'));
  const person = { token, name: 'Ops', email: 'ops@example.com', password };
  assert.equal((await staff.post('/invitation/accept-as-new', person)).code, 0);
  const reason = 'Complaints of payers';
  assert.equal((await staff.post('/staff/merchant/suspend', { merchantId, reason })).code, 0);
  assert.equal((await staff.post('/staff/merchant/resume', { merchantId })).code, 0);
  const told = await stage.newMails(owner.email);
  const [end, begin] = told.toSorted((one, other) => (one.subject < other.subject ? 1 : -1));
  assert.deepEqual(
    [begin?.subject, end?.subject, told.length],
    ['Test merchant was suspended by the operator', 'The suspension of Test merchant has ended', 2],
  );
  assert.match(begin?.text ?? '', /\nReason: Complaints of payers\n/);
  assert.doesNotMatch(told.map(({ text, html }) => text + html).join(), /Done by|ops@example\.com/);
});
