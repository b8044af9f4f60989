import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultDeliverySettings } from '@florin/outbox';
import { statement } from '@florin/pg';
import { memberRoles } from '@florin/protocol/member-role.ts';
import { isAlwaysNotified, isNotifiedByDefault, notificationKinds } from '@florin/protocol/notification.ts';
import { removeMember } from '#members/membership.ts';
import { chooseNotification } from '#members/notification.ts';
import { showDelay } from '#settlement/leg.ts';
import { silentLog } from '#telemetry/log.ts';
import { emit } from '#webhooks/outbox.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { Browser, password } from '../../test/harness/dashboard-world.ts';
import { mailStage } from '../../test/harness/mail-stage.ts';
import {
  addLateDeposit,
  addPaidSession,
  drop,
  happen,
  takeBack,
} from '../../test/harness/payment-fixture.ts';
import { type MailWorker, sendDue } from './mail.ts';

const leaseMs = 600_000;

const mailsOfMerchant = statement({
  name: 'chosen_mail_test_mails',
  parameters: { merchantId: 'text' },
  columns: { recipient: 'text', kind: 'text', status: 'text' },
  text: `select recipient, kind, status from mails
   where merchant_id = :merchantId and kind <> 'receipt' order by recipient collate "C"`,
});
const choicesOfMerchant = statement({
  name: 'chosen_mail_test_choices',
  parameters: { merchantId: 'text' },
  columns: { kind: 'text', is_wanted: 'bool' },
  text: 'select kind, is_wanted from notification_choices where merchant_id = :merchantId order by kind',
});

const failSince = statement({
  name: 'chosen_mail_test_fail_since',
  parameters: { webhookId: 'text', since: 'timestamptz?' },
  columns: {},
  text: `update webhooks set consecutive_failures = case when :since::timestamptz is null then 0 else 3 end,
     first_failure_at = :since where webhook_id = :webhookId`,
});

const stage = mailStage();

/** The rows of the merchant's members: to whom and how they stand. */
async function stored(merchantId: string) {
  const rows = await stage.world.merchants.database.db.query(mailsOfMerchant, { merchantId });
  return rows.map(({ recipient, kind, status }) => `${kind} to ${recipient}: ${status}`);
}

async function openShop() {
  const { merchants } = stage.world;
  const merchantId = await merchants.addMerchant();
  const key = await merchants.addKey(merchantId);
  return { merchantId, key, accountId: await merchants.addAccount(merchantId) };
}

const choose = (choice: Parameters<typeof chooseNotification>[1]) =>
  stage.world.merchants.database.db.transaction((transaction) => chooseNotification(transaction, choice));

test('who may act on something is told of it without a choice', () => {
  const table = notificationKinds.map((kind) => [
    kind,
    memberRoles.filter((role) => isNotifiedByDefault(kind, role)),
    memberRoles.filter((role) => isAlwaysNotified(kind, role)),
  ]);
  assert.deepEqual(table, [
    ['payment', [], []],
    ['exception', ['owner', 'admin', 'finance', 'support'], []],
    ['settlement_delayed', [], []],
    ['refund_waiting', ['owner', 'admin', 'finance', 'support'], []],
    ['webhook_failing', ['owner', 'admin', 'developer'], []],
    ['webhook_paused', ['owner', 'admin', 'developer'], []],
    ['wallet_changed', ['owner', 'admin'], ['owner', 'admin']],
    ['access_changed', ['owner', 'admin'], ['owner', 'admin']],
    ['weekly_summary', [], []],
  ]);
});

test('a payment writes no row when no member wants it, and one row however many want it', async () => {
  const shop = await openShop();
  const { merchantId } = shop;
  const [owner, viewer] = [
    await stage.world.addPerson([[merchantId, 'owner']]),
    await stage.world.addPerson([[merchantId, 'viewer']]),
  ];
  await addPaidSession(stage.world.merchants, shop);
  assert.deepEqual(await stored(merchantId), []);
  for (const { userId } of [owner, viewer])
    await choose({ merchantId, userId, kind: 'payment', isWanted: true });
  const { sessionId } = await addPaidSession(stage.world.merchants, {
    ...shop,
    payerEmail: 'kim@example.com',
  });
  assert.deepEqual(await stored(merchantId), ['payment to : pending']);
  await stage.mail.sendAll();
  assert.deepEqual(await stored(merchantId), [
    'payment to : sent',
    ...[owner.email, viewer.email].sort().map((email) => `payment to ${email}: sent`),
  ]);
  const [told] = stage.mail.mailsTo(viewer.email);
  assert.equal(told?.subject, 'Test merchant received $10.02');
  assert.match(told?.text ?? '', /The payment is final\./);
  assert.match(told?.html ?? '', new RegExp(`/dashboard/${merchantId}/payments/${sessionId}"`));
  assert.match(told?.text ?? '', /Tea.*10\.00/);
  assert.ok(!`${told?.text}${told?.html}`.includes('kim@example.com'));
  const [toOwner] = stage.mail.mailsTo(owner.email);
  assert.match(toOwner?.text ?? '', /Payer’s e-mail: kim@example\.com/);
});

test('a payment that a reorg took back meanwhile is told as one that is checked', async () => {
  const shop = await openShop();
  const owner = await stage.world.addPerson([[shop.merchantId, 'owner']]);
  await choose({ merchantId: shop.merchantId, userId: owner.userId, kind: 'payment', isWanted: true });
  const { order } = await addPaidSession(stage.world.merchants, shop);
  await takeBack(stage.world.merchants, order);
  await stage.mail.sendAll();
  const [told] = stage.mail.mailsTo(owner.email);
  assert.match(told?.text ?? '', /The operator checks the payment: wait with the delivery\./);
  assert.doesNotMatch(told?.text ?? '', /is final/);
});

test('a crash while e-mails are distributed makes none, and two workers make each once', async () => {
  const shop = await openShop();
  const { merchantId } = shop;
  for (const role of ['owner', 'viewer'] as const) {
    const { userId } = await stage.world.addPerson([[merchantId, role]]);
    await choose({ merchantId, userId, kind: 'payment', isWanted: true });
  }
  await addPaidSession(stage.world.merchants, shop);
  const { secrets } = stage.mail.worker();
  let sealed = 0;
  const crashing: MailWorker['secrets'] = {
    ...secrets,
    seal: (...given) => {
      sealed += 1;
      if (sealed === 2) throw new Error('the process ends here');
      return secrets.seal(...given);
    },
  };
  await assert.rejects(sendDue(stage.mail.worker({ secrets: crashing })), /the process ends here/);
  assert.deepEqual(await stored(merchantId), ['payment to : pending']);
  stage.world.merchants.clock.time += leaseMs;
  await Promise.all([sendDue(stage.mail.worker()), sendDue(stage.mail.worker())]);
  await Promise.all([sendDue(stage.mail.worker()), sendDue(stage.mail.worker())]);
  const rows = await stored(merchantId);
  assert.equal(rows.length, 3);
  assert.ok(rows.every((row) => row.endsWith(': sent')));
  const addresses = rows.slice(1).map((row) => row.replace(/^payment to (.+): sent$/, '$1'));
  assert.deepEqual(
    addresses.map((address) => stage.mail.mailsTo(address).length),
    [1, 1],
  );
});

test('an exception is told once to those who decide, and a paused webhook to those who repair it', async () => {
  const shop = await openShop();
  const { merchantId } = shop;
  const [finance, developer] = [
    await stage.world.addPerson([[merchantId, 'finance']]),
    await stage.world.addPerson([[merchantId, 'developer']]),
  ];
  await addLateDeposit(stage.world.merchants, shop);
  const webhook = { webhookId: 'wh_1', webhookUrl: 'https://shop.example/hook?token=hidden' };
  await stage.world.merchants.database.db.transaction((transaction) =>
    emit(transaction, stage.world.merchants.deps, [
      {
        ...{ type: 'webhook.paused', ownerId: merchantId, objectId: webhook.webhookId },
        ...{ dataJson: JSON.stringify({ webhook }), at: stage.world.merchants.clock.now() },
      },
    ]),
  );
  await stage.mail.sendAll();
  const [late, ...more] = stage.mail.mailsTo(finance.email);
  assert.deepEqual([late?.subject, more], ['Test merchant was paid too late', []]);
  assert.match(late?.text ?? '', /unless you accept it\.\n[\s\S]*Decide by: /);
  await addLateDeposit(stage.world.merchants, shop, 'return');
  await addLateDeposit(stage.world.merchants, shop, 'accept');
  await stage.mail.sendAll();
  // A round sends its e-mails side by side, so the order in which they arrive is not promised.
  const said = stage.mail.mailsTo(finance.email).map(({ text }) => /The money .*/.exec(text)?.[0]);
  assert.deepEqual(said.sort(), [
    'The money goes back to its payer unless you accept it.',
    'The money goes back to its payer.',
    'The money is accepted as the payment.',
  ]);
  const [paused, ...others] = stage.mail.mailsTo(developer.email);
  assert.deepEqual([paused?.subject, others], ['A webhook of Test merchant is paused', []]);
  assert.match(paused?.text ?? '', /Receiver: shop\.example\n/);
  assert.ok(!`${paused?.text}${paused?.html}`.includes('hidden'));
});

const quarterMs = 15 * 60_000;

test('a delayed settlement, a refund that waits and a failing webhook are told after a quarter of an hour, as what they are by then, and not when they are over', async () => {
  const { merchants } = stage.world;
  const { clock, deps } = merchants;
  const { db } = merchants.database;
  const shop = await openShop();
  const { merchantId, key } = shop;
  const { userId, email } = await stage.world.addPerson([[merchantId, 'owner']]);
  await choose({ merchantId, userId, kind: 'settlement_delayed', isWanted: true });
  const post = async (path: string, body: object) => (await merchants.send('POST', path, { key, body })).data;
  const delayed = async () => {
    const { sessionId, order } = await addPaidSession(merchants, shop);
    await db.transaction((transaction) =>
      showDelay(transaction, deps, { orderId: order.orderId, sessionId }, 'recipient_blocked'),
    );
    return { sessionId, order };
  };
  const waiting = async () => {
    const { sessionId, order } = await addPaidSession(merchants, shop);
    await happen(merchants, order, 'Settled');
    return post('/refund/create', { sessionId });
  };
  const worker = outboxWorker({
    ...{ ...deps, db, log: silentLog, settings: defaultDeliverySettings },
    egress: { post: async () => Promise.reject(new Error('nothing is sent')) },
  });
  const failing = async () => {
    const { webhookId } = await post('/webhook/create', {
      ...{
        webhookName: 'Shop',
        webhookUrl: 'https://shop.example/hook?token=hidden',
        subscribedEvents: ['*'],
      },
    });
    const since = clock.now();
    await db.query(failSince, { webhookId, since });
    await db.transaction((transaction) =>
      worker.tellFailing(transaction, { ownerId: merchantId, webhookId, since }),
    );
    return webhookId;
  };
  const [late, over, gone] = [await delayed(), await delayed(), await delayed()];
  const [unsigned, withdrawn] = [await waiting(), await waiting()];
  const [broken, repaired] = [await failing(), await failing()];
  await stage.mail.sendAll();
  // They are told of the new webhooks, too.
  const chosen = () => stage.mail.mailsTo(email).filter(({ subject }) => !subject.includes('new webhook'));
  assert.deepEqual(chosen(), []);

  await happen(merchants, over.order, 'Settled');
  await takeBack(merchants, gone.order);
  await post('/refund/cancel', { refundId: withdrawn.refundId });
  await db.query(failSince, { webhookId: repaired, since: null });
  clock.time += quarterMs;
  await stage.mail.sendAll();
  const told = chosen().map(({ subject, html }) => [subject, /dashboard\/[^"]+/.exec(html)?.[0]]);
  const at = `dashboard/${merchantId}`;
  assert.deepEqual(told.sort(), [
    ['A payment to Test merchant was taken back by its chain', `${at}/payments/${gone.sessionId}`],
    ['A refund of Test merchant waits for your wallet', `${at}/refunds/${unsigned.refundId}`],
    ['A settlement to Test merchant is delayed', `${at}/payments/${late.sessionId}`],
    ['A webhook of Test merchant fails', `${at}/webhooks/${broken}`],
  ]);
  assert.ok(chosen().every(({ text, html }) => !`${text}${html}`.includes('hidden')));
});

test('a refund that was completed and taken back by the chain is told once, and that its transaction may come back', async () => {
  const { merchants } = stage.world;
  const shop = await openShop();
  const { email } = await stage.world.addPerson([[shop.merchantId, 'owner']]);
  const { sessionId, order } = await addPaidSession(merchants, shop);
  await happen(merchants, order, 'Settled');
  const body = { sessionId, amount: 1_000_000 };
  await merchants.send('POST', '/refund/create', { key: shop.key, body });
  const returned = {
    arguments: { value: '1000000', refundedTotal: '1000000', from: `0x${'5b'.repeat(20)}` },
  };
  merchants.clock.time += 25_000;
  const event = await happen(merchants, order, 'SettlementRefunded', returned);
  await drop(merchants, event);
  merchants.clock.time += quarterMs;
  await stage.mail.sendAll();
  const [told, ...others] = stage.mail.mailsTo(email);
  assert.deepEqual([told?.subject, others], ['A refund of Test merchant waits for your wallet again', []]);
  assert.match(told?.text ?? '', /Sign again only if your wallet shows the transaction below as dropped\./);
  assert.ok(told?.text.includes(`Lost transaction: ${event.txHash}`));
});

test('a person reads and changes own choices alone, and they end with the membership', async () => {
  const { merchantId } = await openShop();
  const { merchantId: foreignId } = await openShop();
  const person = await stage.world.addPerson([[merchantId, 'admin']]);
  const browser = new Browser(await stage.world.serve('local'));
  const body = { merchantId, kind: 'exception', isWanted: false };
  assert.equal((await browser.post('/me/notification/change', body)).code, 200201);
  assert.equal((await browser.post('/sign-in/password', { email: person.email, password })).code, 0);
  const change = async (with_: object) =>
    (await browser.post('/me/notification/change', { ...body, ...with_ })).code;
  assert.equal(await change({}), 0);
  assert.equal(await change({ merchantId: foreignId }), 200205);
  assert.equal(await change({ kind: 'wallet_changed' }), 400101);
  assert.equal(await change({ kind: 'security' }), 400101);
  const { data } = await browser.send('GET', '/me/notification/list');
  assert.deepEqual(data.merchants, [
    {
      merchantId,
      merchantName: 'Test merchant',
      notifications: [
        { kind: 'payment', isWanted: false, isAlways: false },
        { kind: 'exception', isWanted: false, isAlways: false },
        { kind: 'settlement_delayed', isWanted: false, isAlways: false },
        { kind: 'refund_waiting', isWanted: true, isAlways: false },
        { kind: 'webhook_failing', isWanted: true, isAlways: false },
        { kind: 'webhook_paused', isWanted: true, isAlways: false },
        { kind: 'wallet_changed', isWanted: true, isAlways: true },
        { kind: 'access_changed', isWanted: true, isAlways: true },
        { kind: 'weekly_summary', isWanted: false, isAlways: false },
      ],
    },
  ]);
  const { db } = stage.world.merchants.database;
  assert.deepEqual(await db.query(choicesOfMerchant, { merchantId }), [
    { kind: 'exception', is_wanted: false },
  ]);
  await db.transaction((transaction) =>
    removeMember(transaction, stage.world.merchants.deps, {
      merchantId,
      userId: person.userId,
      actor: 'owner',
    }),
  );
  assert.deepEqual(await db.query(choicesOfMerchant, { merchantId }), []);
});
