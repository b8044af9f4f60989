import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Browser, DashboardWorld, password } from '../../test/harness/dashboard-world.ts';
import { MailWorld } from '../../test/harness/mail-world.ts';
import { linkFields, type Things } from '../../test/harness/merchant-routes.ts';
import { sendDue } from './mail.ts';

const mailStates = statement({
  name: 'access_mail_test_states',
  parameters: { recipient: 'text' },
  columns: { kind: 'text', status: 'text', count: 'int8' },
  text: `select kind, status, count(*) as count from mails
   where recipient = :recipient and merchant_id is not null group by 1, 2`,
});

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

/** The e-mails to an address that have come since the last look, oldest first, with those that wait some minutes for more. */
async function newMails(address: string) {
  await mail.sendAll();
  const { clock } = world.merchants;
  const later = { ...clock, now: () => new Date(clock.now().getTime() + 11 * 60_000) };
  while (await sendDue(mail.worker({ clock: later })));
  const mails = mail.mailsTo(address).filter(({ number }) => number > seen(address));
  lastSeen.set(address, mail.mailbox.mails()[0]?.number ?? 0);
  return mails.toReversed();
}
const lastSeen = new Map<string, number>();
const seen = (address: string) => lastSeen.get(address) ?? 0;

/** How many acts e-mails tell. */
const actsIn = (mails: readonly { readonly text: string }[]) =>
  mails.reduce((count, { text }) => count + (text.match(/^Time: /gm) ?? []).length, 0);

async function signedIn(email: string, browser?: Browser): Promise<Browser> {
  const used = browser ?? new Browser(await world.serve('local'));
  assert.equal((await used.post('/sign-in/password', { email, password })).code, 0);
  return used;
}

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

test('many acts alike are told at once by their first, and by one e-mail of the others, and none is lost', async () => {
  const merchantId = await world.merchants.addMerchant();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const browser = await signedIn(owner.email);
  browser.merchantId = merchantId;
  const make = (kind: string) =>
    browser.post('/key/create', { kind, ...(kind === 'secret' ? {} : { name: 'Till' }) });
  await newMails(owner.email);
  await make('secret');
  await mail.sendAll();
  const subjects = () => mail.mailsTo(owner.email).map(({ subject }) => subject);
  const [first] = subjects();
  assert.equal(first, 'Test merchant has a new secret key');
  const seenBefore = subjects().length;
  for (let count = 0; count < 25; count += 1) {
    const { code, message } = await make(count % 2 === 0 ? 'restricted' : 'secret');
    assert.equal(code, 0, message);
  }
  await mail.sendAll();
  assert.equal(subjects().length, seenBefore);
  const gathered = (await newMails(owner.email)).slice(1);
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
  assert.match(text, /^And: 5 more, which the dashboard lists$/m);
  const states = await world.merchants.database.db.query(mailStates, { recipient: owner.email });
  assert.deepEqual(
    states.map(({ kind, status, count }) => [kind, status, Number(count)]),
    [['createApiKey', 'sent', 26]],
  );
});

test('after an outage of the mail server few e-mails tell each act once, also when it refuses one for good', async () => {
  const { clock, database } = world.merchants;
  const merchantId = await world.merchants.addMerchant();
  const { email, userId } = await world.addPerson([[merchantId, 'owner']]);
  let made = 0;
  const doer = { id: userId, name: email, clientAddress: '', userAgent: '' };
  const [actor, secret] = [{ ...doer, kind: 'member' } as const, { kind: 'secret' }];
  const makeKeys = async (count: number) => {
    for (const until = made + count; made < until; made += 1) {
      const last4 = `k${100 + made}`;
      const act = { action: 'createApiKey', subject: last4, after: JSON.stringify({ ...secret, last4 }) };
      const notice = { merchantId, actor, act, at: clock.now() };
      await database.db.transaction((transaction) => mail.tellers.tellOwners(transaction, notice));
    }
  };
  const passMinutes = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      while (await sendDue(mail.worker()));
      clock.time += 60_000;
    }
  };
  const toldKeys = () => {
    const texts = mail.mailsTo(email).map(({ text }) => text);
    return texts.map((text) => text.match(/(?<=sk_live_…)k\d+/g)?.toSorted() ?? []).toReversed();
  };
  const keys = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => `k${100 + from + index}`);

  mail.mailbox.answerRecipient = () => '451 4.3.0 try again later';
  await makeKeys(10);
  await passMinutes(60);
  await makeKeys(3);
  await passMinutes(30);
  mail.mailbox.answerRecipient = () => undefined;
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
  mail.mailbox.answerRecipient = () => '550 5.7.1 relaying denied';
  await passMinutes(11);
  mail.mailbox.answerRecipient = () => undefined;
  await passMinutes(60);
  assert.deepEqual(toldKeys().slice(told.length + 1), [keys(25, 26), keys(27, 35)]);

  // While nothing fails, what follows the first e-mail comes ten minutes later, however long it goes on.
  for (let second = 0; second < 15; second += 1) {
    await makeKeys(1);
    while (await sendDue(mail.worker()));
    clock.time += 1_000;
  }
  await passMinutes(12);
  assert.deepEqual(toldKeys().slice(told.length + 3), [keys(35, 36), keys(36, 50)]);
});

test('a key has a name, which its e-mail says with what it may do', async () => {
  const merchantId = await world.merchants.addMerchant();
  const owner = await world.addPerson([[merchantId, 'owner']]);
  const { email } = await world.addPerson([[merchantId, 'developer']]);
  const developer = await signedIn(email);
  developer.merchantId = merchantId;
  const expiresAt = Math.floor(world.merchants.clock.time / 1_000) + 86_400;
  const body = { kind: 'restricted', permissions: ['products:read', 'webhooks:write'], expiresAt };
  const made = await developer.post('/key/create', { ...body, name: ' Stock list ' });
  assert.equal(made.code, 0, made.message);
  const { keyId } = made.data;
  const [told, ...more] = await newMails(owner.email);
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
  assert.equal(actsIn(moved), 8);
  assert.equal(moved.filter(({ text }) => text.includes('not told for a day')).length, 1);
  // It silences itself alone.
  const other = await world.merchants.addKey(merchantId);
  const byOther = { ...hook, webhookId, webhookUrl: 'https://shop.example.com/other' };
  assert.equal(
    (await world.merchants.send('POST', '/webhook/update', { key: other, body: byOther })).code,
    0,
  );
  assert.match(
    (await newMails(email))[0]?.text ?? '',
    new RegExp(`Done by: API key sk_live_…${other.slice(-4)}`),
  );
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
  assert.equal(actsIn((await newMails(email)).filter(({ subject }) => subject.includes('redirected'))), 10);
  const [unseen, ...more] = await move(30, 31);
  assert.match(unseen?.text ?? '', /\nDone by: API key/);
  assert.deepEqual(more, []);

  // Changes at the same time do not pass the last e-mail by.
  clock.time += 86_400_000;
  const hooks = [];
  for (let count = 0; count < 8; count += 1) hooks.push((await post('/webhook/create', hook)).webhookId);
  assert.equal(actsIn(await newMails(email)), 8);
  const evil = { ...hook, webhookUrl: 'https://evil.example.com/hook' };
  await Promise.all(hooks.map((id) => post('/webhook/update', { ...evil, webhookId: id })));
  const atOnce = await newMails(email);
  assert.deepEqual(
    [actsIn(atOnce), atOnce.filter(({ text }) => text.includes('not told for a day')).length],
    [2, 1],
  );
});

test('owners and admins are told of each new place to which payers are sent, and of other names', async () => {
  const merchantId = await world.merchants.addMerchant();
  const accountId = await world.merchants.addAccount(merchantId);
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  const owner = await signedIn(email);
  owner.merchantId = merchantId;
  const done = async (path: string, body: object) => {
    const reply = await owner.post(path, body);
    assert.equal(reply.code, 0, reply.message);
    return reply.data;
  };
  const told = async () =>
    (await newMails(email))
      .filter(({ subject }) => !subject.includes('new device'))
      .toSorted((one, other) => one.subject.localeCompare(other.subject));
  const { productId } = await done('/product/create', { name: 'Tea', commonPrices: [10_000_000] });
  const fields = linkFields({ accountId, productId } as Things);
  const shop = 'https://shop.example.com';
  const urls = { successUrl: `${shop}/thanks`, cancelUrl: `${shop}/back` };
  const { linkId } = await done('/payment/link/create', { ...fields, ...urls });
  const [first, ...more] = await told();
  assert.deepEqual([first?.subject, more], ['Test merchant sends payers to a new place', []]);
  assert.match(
    first?.text ?? '',
    new RegExp(`Payment link: Tea\nNew place: ${shop}\n.*\nDone by: ${email}\n`, 's'),
  );

  // What is in use is told once, on whatever link.
  await done('/payment/link/create', { ...fields, successUrl: 'https://SHOP.example.com/other?a=1' });
  await done('/payment/link/update', { linkId, ...fields, ...urls, cancelUrl: '' });
  await done('/branding/update', { embedOrigins: [shop] });
  assert.deepEqual(await told(), []);
  // A page is known by its whole URL: others may have pages at the place to which a link returns.
  await done('/branding/update', { supportUrl: `${shop}/help`, embedOrigins: [shop] });
  const [page, ...noOthers] = await told();
  assert.match(page?.text ?? '', new RegExp(`New place: ${shop}/help\n`));
  assert.deepEqual(noOthers, []);

  await done('/branding/update', {
    ...{ legalName: 'Tea Ltd', supportUrl: 'https://chat.example.net/tea?key=s3cret' },
    embedOrigins: ['https://other.example.com'],
  });
  await done('/merchant/rename', { merchantName: 'Test merchant & Co' });
  const [places, legal, name, ...others] = await told();
  assert.deepEqual(
    [places?.subject, legal?.subject, name?.subject, others],
    [
      'Test merchant & Co sends payers to a new place',
      'The legal name of Test merchant & Co was changed',
      'The name of Test merchant & Co was changed',
      [],
    ],
  );
  assert.match(
    places?.text ?? '',
    /New place: https:\/\/other\.example\.com\nNew place: https:\/\/chat\.example\.net\/tea\?key=\*{4}\n/,
  );
  assert.match(legal?.text ?? '', /\nName: Tea Ltd\n(?!Name before)/);
  assert.match(name?.text ?? '', /\nName: Test merchant & Co\nName before: Test merchant\n/);

  // A key needs no proof, and is named. It fills no mailbox, and what it does to links does not hide what it does to webhooks.
  const key = await world.merchants.addKey(merchantId);
  const post = async (path: string, body: object) => {
    const reply = await world.merchants.send('POST', path, { key, body });
    assert.equal(reply.code, 0, reply.message);
  };
  for (let count = 0; count < 12; count += 1) {
    world.merchants.clock.time += 1_000;
    const successUrl = `https://shop${count}.example.net/`;
    await post('/payment/link/update', { linkId, ...fields, successUrl });
  }
  const byKey = await told();
  assert.equal(actsIn(byKey), 10);
  for (const { text } of byKey) assert.match(text, new RegExp(`Done by: API key sk_live_…${key.slice(-4)}`));
  assert.equal(byKey.filter(({ text }) => text.includes('not told for a day')).length, 1);
  await post('/webhook/create', {
    ...{ webhookName: 'Hook', webhookUrl: 'https://shop.example.com/hook', subscribedEvents: ['*'] },
  });
  assert.deepEqual(
    (await told()).map(({ subject }) => subject),
    ['Test merchant & Co has a new webhook'],
  );
});
