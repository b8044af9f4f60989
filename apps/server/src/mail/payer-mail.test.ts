import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { languages, mailTexts } from '@florin/checkout';
import { statement } from '@florin/pg';
import { MailWorld } from '../../test/harness/mail-world.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import {
  addOrder,
  addPaidSession,
  addSession,
  drop,
  happen,
  returnDeposit,
  takeBack,
} from '../../test/harness/payment-fixture.ts';
import { type MailWorker, sendDue } from './mail.ts';

const storedMails = statement({
  name: 'payer_mail_test_stored',
  parameters: { recipient: 'text' },
  columns: { kind: 'text', status: 'text' },
  text: 'select kind, status from mails where recipient = :recipient order by mail_id',
});

const setAdded = statement({
  name: 'payer_mail_test_added',
  parameters: { orderId: 'text', added: 'numeric' },
  text: 'update orders set added = :added where order_id = :orderId',
});

const bringBack = statement({
  name: 'payer_mail_test_bring_back',
  parameters: { orderId: 'text', returnedAt: 'timestamptz' },
  text: 'update dropped_events set returned_at = :returnedAt where order_id = :orderId',
});

const payers = [`0x${'5a'.repeat(20)}`, `0x${'5b'.repeat(20)}`, `0x${'5c'.repeat(20)}`] as const;

let world: MerchantWorld;
let mail: MailWorld;
let worker: MailWorker;
let shop: { readonly merchantId: string; readonly key: string; readonly accountId: string };

before(async () => {
  world = await MerchantWorld.open();
  mail = await MailWorld.open(world);
  worker = mail.worker();
  const merchantId = await world.addMerchant();
  shop = { merchantId, key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
});
after(async () => {
  await mail.close();
  await world.close();
});

const stored = async (recipient: string) => {
  const rows = await world.database.db.query(storedMails, { recipient });
  return rows.map(({ kind, status }) => [kind, status]);
};

test('a payer reads in each language that money went back, why, and where to, also when nothing paid the session', async () => {
  const sessionId = await addSession(world, shop);
  const payerEmail = 'back@example.com';
  const order = await addOrder(world, sessionId, payers[0], { payerEmail, language: 'de' });
  const { txHash } = await returnDeposit(world, order, 5_000_000n, 'ethereum::usdt');
  await sendDue(worker);
  const [told, ...more] = mail.mailsTo(payerEmail);
  assert.deepEqual(
    [told?.subject.replace(/\s/g, ' '), more, await stored(payerEmail)],
    ['Test merchant: 5,00 USDT kamen im falschen Token an und gingen zurück.', [], [['refund', 'sent']]],
  );
  assert.match(told?.text ?? '', new RegExp(`: ${payers[0]}\n[^\n]*: ${txHash}`, 'i'));
  assert.match(told?.text ?? '', new RegExp(`/checkout/${sessionId}\n`));
  const { session } = (await world.send('GET', `/session/${sessionId}`, { key: shop.key })).data;
  const money = { tokenId: 'ethereum::usdt', amount: '5000000', value: 5_000_000, orderId: order.orderId };
  const returned = { ...money, kind: 'wrong_token', txHash, payer: payers[0], payerEmail };
  const opened = {
    ...{ kind: 'refund', merchantId: shop.merchantId, recipient: payerEmail, at: world.clock.now() },
    data: JSON.stringify({ session, returned }),
  };
  for (const { tag, texts } of languages) {
    const parts = await worker.compose({ ...opened, language: tag });
    assert.ok(parts?.subject.includes(texts.whyWrongToken), tag);
    assert.ok(parts?.text.includes(texts.returnTx), tag);
  }
});

test('money that went back is told to the payer of its own order, who asked for it with the session’s secret', async () => {
  const sessionId = await addSession(world, shop);
  const [first, second, stranger] = [
    await addOrder(world, sessionId, payers[0], { payerEmail: 'first@example.com' }),
    await addOrder(world, sessionId, payers[1], { payerEmail: 'second@example.com' }),
    await addOrder(world, sessionId, payers[2], { payerEmail: 'stranger@example.com', proof: 'signature' }),
  ];
  await happen(world, first, 'Paid');
  const { txHash } = await returnDeposit(world, second, 10_020_000n);
  await returnDeposit(world, stranger, 10_020_000n);
  await sendDue(worker);
  const [told, ...more] = mail.mailsTo('second@example.com');
  assert.match(
    told?.text ?? '',
    new RegExp(`Sent back to: ${payers[1]}\nReturn transaction: ${txHash}`, 'i'),
  );
  assert.deepEqual(more, []);
  assert.deepEqual(await stored('first@example.com'), [['receipt', 'sent']]);
  assert.deepEqual(await stored('stranger@example.com'), []);
  // The first payer's own money is told to the first payer.
  await returnDeposit(world, first, 10_000n);
  await sendDue(worker);
  assert.deepEqual(await stored('first@example.com'), [
    ['receipt', 'sent'],
    ['refund', 'sent'],
  ]);
});

test('a second payment that goes back from the gateway is told to its own payer, once', async () => {
  const sessionId = await addSession(world, shop);
  const first = await addOrder(world, sessionId, payers[0], { payerEmail: 'once@example.com' });
  const second = await addOrder(world, sessionId, payers[1], { payerEmail: 'twice@example.com' });
  await happen(world, first, 'Paid');
  await happen(world, second, 'Paid');
  const { txHash } = await happen(world, second, 'Refunded');
  await sendDue(worker);
  const [told, ...more] = mail.mailsTo('twice@example.com');
  assert.match(
    told?.text ?? '',
    new RegExp(`Sent back to: ${payers[1]}\nReturn transaction: ${txHash}`, 'i'),
  );
  assert.deepEqual(
    [told?.subject.replace(/\s/g, ' '), more, await stored('once@example.com')],
    ['Test merchant: 10.02 USDC was not needed for the payment and went back.', [], [['receipt', 'sent']]],
  );
  // The first one is told as a refund, and only so.
  await happen(world, first, 'Reclaimed');
  await sendDue(worker);
  assert.deepEqual(await stored('once@example.com'), [
    ['receipt', 'sent'],
    ['refund', 'sent'],
  ]);
});

test('a receipt whose payment a reorg took back meanwhile does not say that it is final', async () => {
  const payerEmail = 'doubt@example.com';
  const order = await addOrder(world, await addSession(world, shop), payers[0], { payerEmail });
  await happen(world, order, 'Paid');
  await takeBack(world, order);
  await sendDue(worker);
  const [told] = mail.mailsTo(payerEmail);
  assert.match(told?.text ?? '', /The payment is being checked, because it may no longer count\./);
  assert.doesNotMatch(told?.text ?? '', /is final|as your receipt/);
});

test('a receipt and a refund say what the payer paid, without what the operator added', async () => {
  const payerEmail = 'short@example.com';
  const order = await addOrder(world, await addSession(world, shop), payers[0], { payerEmail });
  await world.database.db.query(setAdded, { orderId: order.orderId, added: 20_000n });
  await happen(world, order, 'Paid');
  await happen(world, order, 'Refunded');
  await sendDue(worker);
  const texts = mail
    .mailsTo(payerEmail)
    .map(({ text }) => text)
    .join('\n');
  assert.match(texts, /You paid \$10\.00\n/);
  assert.match(texts, /of your payment of \$10\.00 to Test merchant/);
});

const quarterMs = 15 * 60_000;

/** The parts of an e-mail that takes an earlier one back, in each language. */
async function lossIn(tag: string, view: object) {
  const opened = { merchantId: shop.merchantId, recipient: '', at: world.clock.now(), language: tag };
  return worker.compose({ ...opened, kind: 'refund', data: JSON.stringify(view) });
}

test('a refund that the chain took back is told after a quarter of an hour unless it is back, and told again once it is', async () => {
  const payerEmail = 'taken-back@example.com';
  const { sessionId, order } = await addPaidSession(world, { ...shop, payer: payers[0], payerEmail });
  await happen(world, order, 'Settled');
  const returned = { arguments: { value: '1000000', refundedTotal: '1000000', from: payers[1] } };
  const refund = await happen(world, order, 'SettlementRefunded', returned);
  const again = () => happen(world, order, 'SettlementRefunded', { ...returned, txHash: refund.txHash });
  await sendDue(worker);
  await drop(world, refund);
  await sendDue(worker);
  const sent = ['refund', 'sent'];
  assert.deepEqual(await stored(payerEmail), [['receipt', 'sent'], sent, ['refund', 'pending']]);
  world.clock.time += quarterMs;
  await sendDue(worker);
  assert.deepEqual(await stored(payerEmail), [['receipt', 'sent'], sent, sent]);
  const told = mail.mailsTo(payerEmail)[0];
  assert.equal(told?.subject, 'Test merchant: Your refund of $1.00 is not with you yet');
  assert.match(told?.text ?? '', /The refund has to be sent again/);

  const back = await again();
  await sendDue(worker);
  assert.deepEqual(await stored(payerEmail), [['receipt', 'sent'], sent, sent, sent]);
  assert.equal(mail.mailsTo(payerEmail)[0]?.subject, 'Your refund from Test merchant');
  await drop(world, back);
  await again();
  world.clock.time += quarterMs;
  await sendDue(worker);
  assert.deepEqual((await stored(payerEmail)).slice(4), [['refund', 'suppressed']], 'it was back in time');

  const { session, transaction } = (await world.send('GET', `/session/${sessionId}`, { key: shop.key })).data;
  const view = { session, transaction, refund: { amount: 1_000_000, txHash: '' }, lost: 'refund' };
  for (const { tag } of languages)
    assert.ok(
      (await lossIn(tag, view))?.text.includes(mailTexts(tag).refundLostIntro.split('{')[0] ?? ''),
      tag,
    );
});

test('a payment that the chain took back is told in each language after a quarter of an hour, unless it is back', async () => {
  const [lostTo, backTo] = ['lost@example.com', 'returned@example.com'];
  const paid = async (payerEmail: string) => {
    const sessionId = await addSession(world, shop);
    const order = await addOrder(world, sessionId, payers[0], { payerEmail });
    const event = await happen(world, order, 'Paid');
    await sendDue(worker);
    await drop(world, event);
    return { sessionId, order };
  };
  const { sessionId } = await paid(lostTo);
  const { order } = await paid(backTo);
  await world.database.db.query(bringBack, { orderId: order.orderId, returnedAt: world.clock.now() });
  await sendDue(worker);
  assert.equal(mail.mailsTo(lostTo).length, 1, 'most payments come back by themselves');
  world.clock.time += quarterMs;
  await sendDue(worker);
  const told = mail.mailsTo(lostTo)[0];
  assert.equal(told?.subject, 'Test merchant: Your payment of $10.02 does not count at the moment');
  assert.match(told?.text ?? '', new RegExp(`/checkout/${sessionId}\n`));
  assert.deepEqual(
    [mail.mailsTo(backTo).length, await stored(backTo)],
    [
      1,
      [
        ['receipt', 'sent'],
        ['receipt', 'suppressed'],
      ],
    ],
  );
  const { session, transaction } = (await world.send('GET', `/session/${sessionId}`, { key: shop.key })).data;
  for (const { tag } of languages) {
    const parts = await lossIn(tag, { session, transaction, lost: 'payment' });
    assert.ok(parts?.text.includes(mailTexts(tag).lostIntro.split('{')[0] ?? ''), tag);
  }
});
