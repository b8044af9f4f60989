import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from '../../test/harness/dashboard-world.ts';
import { actsIn, mailStage } from '../../test/harness/mail-stage.ts';
import { linkFields, type Things } from '../../test/harness/merchant-routes.ts';

const stage = mailStage();

test('owners and admins are told where webhooks go also when an API key sends them there', async () => {
  const { world, newMails } = stage;
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
  const owner = await Browser.signedIn(await world.serve('local'), email);
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
  const merchantId = await stage.world.merchants.addMerchant();
  const accountId = await stage.world.merchants.addAccount(merchantId);
  const { email } = await stage.world.addPerson([[merchantId, 'owner']]);
  const owner = await Browser.signedIn(await stage.world.serve('local'), email);
  owner.merchantId = merchantId;
  const done = async (path: string, body: object) => {
    const reply = await owner.post(path, body);
    assert.equal(reply.code, 0, reply.message);
    return reply.data;
  };
  const told = async () =>
    (await stage.newMails(email))
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
  const key = await stage.world.merchants.addKey(merchantId);
  const post = async (path: string, body: object) => {
    const reply = await stage.world.merchants.send('POST', path, { key, body });
    assert.equal(reply.code, 0, reply.message);
  };
  for (let count = 0; count < 12; count += 1) {
    stage.world.merchants.clock.time += 1_000;
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

test('an e-mail about many acts shows those of API keys first, and sends to the audit log only for acts that it has', async () => {
  const merchantId = await stage.world.merchants.addMerchant();
  const { email } = await stage.world.addPerson([[merchantId, 'owner']]);
  const tell = async (kind: 'member' | 'key', count: number) => {
    for (let made = 0; made < count; made += 1) {
      const actor = { id: `${kind}${made}`, kind, name: `${kind} ${made}`, clientAddress: '', userAgent: '' };
      const after = JSON.stringify({
        webhookUrl: `https://shop.example.com/${made}`,
        subscribedEvents: ['*'],
      });
      const notice = { merchantId, actor, act: { action: 'createWebhook', subject: '', after } };
      await stage.world.merchants.database.db.transaction((transaction) =>
        stage.mail.tellers.tellOwners(transaction, { ...notice, at: stage.world.merchants.clock.now() }),
      );
    }
  };
  const gathered = async () =>
    (await stage.newMails(email)).find(({ subject }) => subject.endsWith('times)'));
  await tell('member', 19);
  await tell('key', 6);
  const mixed = await gathered();
  assert.equal(mixed?.text.match(/^Done by: key \d$/gm)?.length, 6);
  assert.match(mixed?.text ?? '', /^And: 5 more, which the audit log lists$/m);
  stage.world.merchants.clock.time += 3_600_000;
  await tell('key', 25);
  const byKeys = await gathered();
  assert.match(
    byKeys?.text ?? '',
    /^And: 5 more, some of them by API keys: check your keys, webhooks and links$/m,
  );
  assert.match(
    byKeys?.text ?? '',
    new RegExp(`^Open the dashboard:\nhttps://pay.example.com/dashboard/${merchantId}/webhooks$`, 'm'),
  );
});
