import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { unsubscribeDoor } from '#http/mail/unsubscribe-door.ts';
import { removeMember } from '#members/membership.ts';
import { chooseNotification, listRecipients } from '#members/notification.ts';
import { DashboardWorld, dashboardOrigin } from '../../test/harness/dashboard-world.ts';
import { MailWorld } from '../../test/harness/mail-world.ts';
import { addLateDeposit, addPaidSession, happen } from '../../test/harness/payment-fixture.ts';
import { unsubscribeLinks } from './unsubscribe.ts';
import { makeWeeklySummaries } from './weekly-summary.ts';

const mailsOfMerchant = statement({
  name: 'weekly_summary_test_mails',
  parameters: { merchantId: 'text' },
  columns: { recipient: 'text', status: 'text' },
  text: `select recipient, status from mails
   where merchant_id = :merchantId and kind = 'weekly_summary' order by mail_id`,
});
const renameMerchant = statement({
  name: 'weekly_summary_test_rename',
  parameters: { merchantId: 'text', merchantName: 'text' },
  text: 'update merchants set merchant_name = :merchantName where merchant_id = :merchantId',
});

const dayMs = 86_400_000;
/** The Monday of the first week. Each test begins at the Monday of a week of its own. */
let mondayMs = Date.UTC(2029, 11, 31);

let world: DashboardWorld;
let mail: MailWorld;
let server: FastifyInstance;
before(async () => {
  world = await DashboardWorld.open();
  mail = await MailWorld.open(world.merchants);
  const { db } = world.merchants.database;
  server = await world.serve('local', undefined, [
    unsubscribeDoor({ db, links: mail.links, dashboardOrigin }),
  ]);
});
after(async () => {
  await mail.close();
  await world.close();
});

function beginWeek(): void {
  mondayMs += 7 * dayMs;
  world.merchants.clock.time = mondayMs + 12 * 3_600_000;
}

/** The time at which the summary of the week is due. */
const dueMs = () => mondayMs + 7 * dayMs + 6 * 3_600_000;

async function openShop() {
  const { merchants } = world;
  const merchantId = await merchants.addMerchant();
  const key = await merchants.addKey(merchantId);
  return { merchantId, key, accountId: await merchants.addAccount(merchantId) };
}

async function addReader(merchantId: string) {
  const person = await world.addPerson([[merchantId, 'viewer']]);
  await choose(merchantId, person.userId, true);
  return person;
}

const choose = (merchantId: string, userId: string, isWanted: boolean) =>
  world.merchants.database.db.transaction((transaction) =>
    chooseNotification(transaction, { merchantId, userId, kind: 'weekly_summary', isWanted }),
  );

const make = async (change: Parameters<MailWorld['worker']>[0] = {}) => {
  while (await makeWeeklySummaries(mail.worker(change)));
};

async function stored(merchantId: string) {
  const rows = await world.merchants.database.db.query(mailsOfMerchant, { merchantId });
  return rows.map(({ recipient, status }) => `${recipient} ${status}`);
}

test('a member who chose it gets the sums of the week once it has ended, and no other member does', async () => {
  beginWeek();
  const { merchants } = world;
  const shop = await openShop();
  await addPaidSession(merchants, shop);
  merchants.clock.time = dueMs();
  await make();
  beginWeek();
  const reader = await addReader(shop.merchantId);
  await world.addPerson([[shop.merchantId, 'owner']]);
  const { order } = await addPaidSession(merchants, shop);
  await happen(merchants, order, 'Settled');
  const { sessionId, order: returned } = await addPaidSession(merchants, shop);
  await merchants.send('POST', '/refund/create', { key: shop.key, body: { sessionId } });
  await happen(merchants, returned, 'Refunded');
  await addLateDeposit(merchants, shop);
  merchants.clock.time = dueMs() - 1;
  await make();
  assert.deepEqual(await stored(shop.merchantId), []);
  merchants.clock.time = dueMs();
  await make();
  await make();
  await mail.sendAll();
  assert.deepEqual(await stored(shop.merchantId), [`${reader.email} sent`]);
  const [told, ...more] = mail.mailsTo(reader.email);
  assert.deepEqual(more, []);
  assert.equal(told?.subject, 'Test merchant received $20.04 last week');
  const unsubscribeUrl = mail.links.urlOf({ merchantId: shop.merchantId, userId: reader.userId });
  assert.equal(
    told?.text.trim(),
    `Florin

Test merchant received $20.04 last week

From Monday, January 14, 2030 to Sunday, January 20, 2030, in UTC.

Received: $20.04 in 2 payments
Received the week before: $10.02 in 1 payment
Settled to your wallets: $10.00 in 1 payment
Fees of what was settled: $0.02
Refunded: $10.02 in 1 refund

Needs attention now
Open exceptions: 1

Open the dashboard:
${dashboardOrigin}/dashboard/${shop.merchantId}

--
You get this e-mail because you chose the weekly summary of Test merchant.
Stop this weekly summary: ${unsubscribeUrl}
Choose what you get by e-mail: ${dashboardOrigin}/dashboard/my-account#notifications`,
  );
  assert.equal(told?.headers['list-unsubscribe'], `<${unsubscribeUrl}>`);
  assert.equal(told?.headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click');
});

test('a week without money is told only while something needs attention', async () => {
  beginWeek();
  const [quiet, waiting] = [await openShop(), await openShop()];
  await addReader(quiet.merchantId);
  const { email } = await addReader(waiting.merchantId);
  await addLateDeposit(world.merchants, waiting);
  world.merchants.clock.time = dueMs();
  await make();
  await mail.sendAll();
  assert.deepEqual(await stored(quiet.merchantId), []);
  assert.equal(mail.mailsTo(email)[0]?.subject, 'Test merchant received nothing last week');
});

test('each member gets a week once, whatever workers run at a time or die, and however many merchants there are', async () => {
  beginWeek();
  const shops: Awaited<ReturnType<typeof openShop>>[] = [];
  const readers: string[] = [];
  // More than one transaction takes.
  for (let count = 0; count < 22; count += 1) {
    const shop = await openShop();
    shops.push(shop);
    readers.push((await addReader(shop.merchantId)).email);
    await addPaidSession(world.merchants, shop);
  }
  world.merchants.clock.time = dueMs();
  const { secrets } = mail.worker();
  let sealed = 0;
  const dying: typeof secrets = {
    ...secrets,
    seal: (...given) => {
      sealed += 1;
      if (sealed === 5) throw new Error('the process ends here');
      return secrets.seal(...given);
    },
  };
  await assert.rejects(make({ secrets: dying }), /the process ends here/);
  const storedOfAll = async () =>
    (await Promise.all(shops.map(({ merchantId }) => stored(merchantId)))).flat();
  assert.deepEqual(await storedOfAll(), []);
  await Promise.all([make(), make(), make()]);
  await make();
  await Promise.all([mail.sendAll(), mail.sendAll()]);
  assert.deepEqual((await storedOfAll()).sort(), readers.map((email) => `${email} sent`).sort());
  assert.deepEqual(
    readers.map((email) => mail.mailsTo(email).length).filter((count) => count !== 1),
    [],
  );
});

test('a week is told late when no worker ran, but never after the next one; a later choice is for the next one', async () => {
  beginWeek();
  const shop = await openShop();
  const early = await addReader(shop.merchantId);
  await addPaidSession(world.merchants, shop);
  beginWeek();
  await addPaidSession(world.merchants, shop);
  world.merchants.clock.time = dueMs() + 3 * dayMs;
  await make();
  const late = await addReader(shop.merchantId);
  await make();
  assert.deepEqual(await stored(shop.merchantId), [`${early.email} pending`]);
  await mail.sendAll();
  assert.match(mail.mailsTo(early.email)[0]?.text ?? '', /Received: \$10\.02 in 1 payment\n/);
  assert.deepEqual(mail.mailsTo(late.email), []);
});

test('a link ends the summary without signing in: a look changes nothing, one POST does', async () => {
  beginWeek();
  const shop = await openShop();
  const { merchantId } = shop;
  const [reader, other] = [await addReader(merchantId), await addReader(merchantId)];
  await addPaidSession(world.merchants, shop);
  world.merchants.clock.time = dueMs();
  await make();
  const url = mail.links.urlOf({ merchantId, userId: reader.userId });
  const { pathname } = new URL(url);
  for (const method of ['GET', 'HEAD'] as const) {
    const look = await server.inject({ method, url: `${pathname}?utm_source=scanner` });
    assert.equal(look.statusCode, 200);
    if (method === 'GET')
      assert.match(look.body, /<form method="post"><button>Stop the weekly summary<\/button>/);
  }
  const { db } = world.merchants.database;
  assert.equal((await listRecipients(db, merchantId, 'weekly_summary')).length, 2);
  await choose(merchantId, other.userId, false);
  // As providers of mailboxes send it, and as the page's form does.
  const [asForm, asParts] = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'];
  const parts =
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
  for (const [type, payload] of [
    [asForm, 'List-Unsubscribe=One-Click'],
    [asParts, parts],
    [asForm, ''],
  ] as const) {
    const done = await server.inject({
      method: 'POST',
      url: pathname,
      headers: { 'content-type': type },
      payload,
    });
    assert.deepEqual(
      [done.statusCode, /You no longer get the weekly summary of Test merchant/.test(done.body)],
      [200, true],
    );
    assert.match(String(done.headers['content-security-policy']), /form-action 'self'/);
  }
  // What was stored before is not sent any more.
  await mail.sendAll();
  assert.deepEqual(
    (await stored(merchantId)).sort(),
    [`${reader.email} suppressed`, `${other.email} suppressed`].sort(),
  );
  await choose(merchantId, other.userId, true);
  beginWeek();
  await addPaidSession(world.merchants, shop);
  world.merchants.clock.time = dueMs();
  await make();
  assert.deepEqual((await stored(merchantId)).slice(2), [`${other.email} pending`]);
});

test('a link works for its own member alone, with each configured key, and after the membership', async () => {
  const { merchantId } = await openShop();
  const reader = await addReader(merchantId);
  const { userId: otherId } = await addReader(merchantId);
  const { pathname } = new URL(mail.links.urlOf({ merchantId, userId: reader.userId }));
  const post = async (url: string) => {
    const { statusCode, body } = await server.inject({ method: 'POST', url });
    return [statusCode, /<h1>([^<]+)<\/h1>/.exec(body)?.[1]];
  };
  const unknown = [404, 'This link does not work'];
  assert.deepEqual(await post(pathname.replace(reader.userId, otherId)), unknown);
  assert.deepEqual(await post(pathname.slice(0, -1)), unknown);
  assert.deepEqual(await post(pathname.replace(merchantId, 'mer_0')), unknown);
  const get = await server.inject({ method: 'GET', url: `${pathname}x` });
  assert.equal(get.statusCode, 404);
  await world.merchants.database.db.transaction((transaction) =>
    removeMember(transaction, world.merchants.deps, { merchantId, userId: reader.userId, actor: 'owner' }),
  );
  assert.deepEqual(await post(pathname), [200, 'The weekly summary is stopped']);

  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const member = { merchantId, userId: otherId };
  const code = unsubscribeLinks(dashboardOrigin, [older]).urlOf(member).split('/').at(-1) ?? '';
  assert.equal(unsubscribeLinks(dashboardOrigin, [newer, older]).isGenuine(member, code), true);
  assert.equal(unsubscribeLinks(dashboardOrigin, [newer]).isGenuine(member, code), false);
});

test('a merchant’s name adds no header and no markup to the summary and to the pages of its link', async () => {
  beginWeek();
  const shop = await openShop();
  const reader = await addReader(shop.merchantId);
  await addPaidSession(world.merchants, shop);
  const merchantName = `Shop\r\nBcc: victim@example.net\r\n\r\n"<b>\u202etxt</b> ${'x'.repeat(5_000)}`;
  await world.merchants.database.db.query(renameMerchant, { merchantId: shop.merchantId, merchantName });
  world.merchants.clock.time = dueMs();
  await make();
  await mail.sendAll();
  const [told] = mail.mailsTo(reader.email);
  assert.deepEqual([told?.to, told?.headers['bcc']], [[reader.email], undefined]);
  assert.ok((told?.subject.length ?? 0) <= 150, told?.subject);
  const { pathname } = new URL(mail.links.urlOf({ merchantId: shop.merchantId, userId: reader.userId }));
  const pages = await Promise.all(
    (['GET', 'POST'] as const).map(async (method) => (await server.inject({ method, url: pathname })).body),
  );
  for (const text of [told?.html ?? '', ...pages]) {
    assert.match(text, /&lt;b&gt;txt/);
    assert.doesNotMatch(text, /<b>|\u202e|x{200}/);
  }
});
