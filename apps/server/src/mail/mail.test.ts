import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { languages } from '@florin/checkout';
import { statement } from '@florin/pg';
import { findFreePort, startMailbox } from '@florin/world';
import { unitsPerMicroUsd } from '#refunds/refund-call.ts';
import type { Log } from '#telemetry/log.ts';
import { noBrandImages, updateBranding } from '../../test/harness/brand.ts';
import { MailWorld } from '../../test/harness/mail-world.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import {
  addOrder,
  addPaidSession,
  addSession,
  happen,
  returnDeposit,
} from '../../test/harness/payment-fixture.ts';
import { type MailWorker, sendDue } from './mail.ts';
import { payerMailLimits } from './payer-limit.ts';

const storedMails = statement({
  name: 'mail_test_stored',
  parameters: { recipient: 'text' },
  columns: {
    kind: 'text',
    status: 'text',
    last_error: 'text',
    attempt_count: 'int4',
    next_attempt_at: 'timestamptz',
    has_data: 'bool',
  },
  text: `select kind, status, last_error, attempt_count, next_attempt_at, sealed_data is not null as has_data from mails
   where recipient = :recipient order by mail_id`,
});
const renameMerchant = statement({
  name: 'mail_test_rename',
  parameters: { merchantId: 'text', merchantName: 'text' },
  text: 'update merchants set merchant_name = :merchantName where merchant_id = :merchantId',
});

const insertSent = statement({
  name: 'mail_test_sent_before',
  parameters: { merchantId: 'text', recipient: 'text', payer: 'text', count: 'int8', at: 'timestamptz' },
  text: `insert into mails (merchant_id, fact, recipient, kind, payer, language, status, next_attempt_at, created_at, finished_at)
   select :merchantId, 'before ' || i || gen_random_uuid(), coalesce(nullif(:recipient, ''), i || '@example.net'), 'receipt',
     :payer, '', 'sent', :at, :at, :at
   from generate_series(1, :count) i`,
});

const logged: string[] = [];
const log: Log = {
  info: () => {},
  warn: (event, fields) => logged.push(`${event} ${JSON.stringify(fields)}`),
  error: (event, error, fields) => logged.push(`${event} ${String(error)} ${JSON.stringify(fields)}`),
};

let world: MerchantWorld;
let mail: MailWorld;
let worker: MailWorker;
let shop: { readonly merchantId: string; readonly key: string; readonly accountId: string };

before(async () => {
  world = await MerchantWorld.open();
  mail = await MailWorld.open(world);
  worker = mail.worker({ log });
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

test('a payer gets one receipt and one e-mail per refunded amount, however often the facts are told', async () => {
  const payerEmail = 'Kim@Example.com';
  const { sessionId, order } = await addPaidSession(world, { ...shop, payerEmail, productName: 'Green tea' });
  const { sequence: _, ...fact } = (await world.eventsOf(sessionId)).find(
    ({ type }) => type === 'session.paid',
  ) ?? {
    data: {},
    sequence: 0,
  };
  const again = {
    ...{
      ownerId: shop.merchantId,
      objectId: sessionId,
      at: world.clock.now(),
      type: 'session.paid' as const,
    },
    dataJson: JSON.stringify(fact.data),
  };
  await world.database.db.transaction(async (transaction) =>
    world.deps.notify?.(transaction, [again, again]),
  );
  await happen(world, order, 'Refunded');
  await sendDue(worker);
  assert.deepEqual(await stored('kim@example.com'), [
    ['receipt', 'sent'],
    ['refund', 'sent'],
  ]);
  const [first, second, ...more] = mail
    .mailsTo('kim@example.com')
    .toSorted((a, b) => a.subject.localeCompare(b.subject));
  assert.deepEqual(more, []);
  assert.equal(first?.subject, 'Your receipt from Test merchant');
  assert.match(first?.text ?? '', /You paid \$10\.02\n/);
  assert.match(first?.text ?? '', /Green tea: \$10\.00\nFee: \$0\.02\nTotal: \$10\.02\n/);
  // A mistyped address is another person's: the page's secret is not in it.
  assert.match(first?.text ?? '', new RegExp(`https://pay.example.com/checkout/${sessionId}\\n`));
  assert.equal(second?.subject, 'Your refund from Test merchant');
  assert.match(
    second?.text ?? '',
    /In total, \$10\.02 of your payment of \$10\.02 to Test merchant has been refunded\./,
  );
  assert.equal(first?.fromName, 'Test merchant');
  assert.equal(first?.headers['auto-submitted'], 'auto-generated');
  assert.match(first?.headers['message-id'] ?? '', /^<[0-9a-f]{32}@florin\.test>$/);
  assert.notEqual(first?.headers['message-id'], second?.headers['message-id']);
  assert.equal(first?.headers['date'], 'Tue, 01 Jan 2030 00:00:00 +0000');
});

test('an e-mail about a partial refund is headed by its own amount, and has its transaction and the total', async () => {
  const payerEmail = 'parts@example.com';
  const { order } = await addPaidSession(world, { ...shop, payerEmail });
  await happen(world, order, 'Settled');
  const units = unitsPerMicroUsd(order);
  const texts: string[] = [];
  for (const [micro, total] of [
    [5_000_000n, 5_000_000n],
    [3_000_000n, 8_000_000n],
  ] as const) {
    const values = { value: String(micro * units), refundedTotal: String(total * units) };
    const { txHash } = await happen(world, order, 'SettlementRefunded', { arguments: values });
    await sendDue(worker);
    const told = mail.mailsTo(payerEmail).find(({ text }) => text.includes(txHash));
    texts.push((told?.text.match(/\$[\d.]+(?= refunded| of your)/g) ?? []).join(', '));
  }
  assert.deepEqual(texts, ['$5.00, $5.00', '$3.00, $8.00']);
});

test('the e-mails of a payment name the merchant as when it became final, whatever the names are when they are sent', async () => {
  const payerEmail = 'names@example.com';
  const { db } = world.database;
  const { merchantId } = shop;
  const nameLegally = (legalName: string) =>
    db.transaction((transaction) =>
      updateBranding(transaction, world.deps, { merchantId, images: noBrandImages, look: { legalName } }),
    );
  await nameLegally('Tea & Leaves GmbH');
  const { order } = await addPaidSession(world, { ...shop, payerEmail });
  await db.query(renameMerchant, { merchantId, merchantName: 'Coffee shop' });
  await nameLegally('Beans Ltd');
  await happen(world, order, 'Refunded');
  await sendDue(worker);
  const mails = mail.mailsTo(payerEmail);
  assert.deepEqual(mails.map(({ subject }) => subject).toSorted(), [
    'Your receipt from Test merchant',
    'Your refund from Test merchant',
  ]);
  for (const { text, fromName } of mails) {
    assert.equal(fromName, 'Test merchant');
    assert.match(text, /Merchant: Tea & Leaves GmbH\n/);
    assert.doesNotMatch(text, /Coffee|Beans/);
  }
  await db.query(renameMerchant, { merchantId, merchantName: 'Test merchant' });
});

test('e-mails to a payer have the page’s address without its secret', async () => {
  const payerEmail = 'typo@example.com';
  const { sessionId, order } = await addPaidSession(world, { ...shop, payerEmail });
  await happen(world, order, 'Refunded');
  await sendDue(worker);
  const texts = mail.mailsTo(payerEmail).map(({ text }) => text);
  assert.equal(texts.length, 2);
  for (const text of texts) assert.match(text, new RegExp(`/checkout/${sessionId}\\n`));
  const [paid] = (await world.eventsOf(sessionId)).filter(({ type }) => type === 'session.paid');
  const { clientCode } = (await world.send('GET', `/session/${sessionId}`, { key: shop.key })).data.session;
  assert.ok(JSON.stringify(paid).includes(clientCode));
  assert.equal(texts.join().includes(clientCode), false);
});

test('nothing is stored without a mail server, an address, or an address that mail servers take', async () => {
  const { notify } = world.deps;
  Object.assign(world.deps, { notify: undefined });
  await addPaidSession(world, { ...shop, payerEmail: 'unconfigured@example.com' });
  Object.assign(world.deps, { notify });
  await addPaidSession(world, { ...shop, payerEmail: '' });
  await addPaidSession(world, { ...shop, payerEmail: 'a>,b@example.com' });
  assert.deepEqual(await stored('unconfigured@example.com'), []);
  assert.deepEqual(await stored('a>,b@example.com'), []);
});

test('an e-mail waits for a mail server that is down, and arrives once', async () => {
  const port = await findFreePort();
  const late = mail.worker({}, port);
  await addPaidSession(world, { ...shop, payerEmail: 'late@example.com' });
  await sendDue(late);
  await sendDue(late);
  const [row] = await world.database.db.query(storedMails, { recipient: 'late@example.com' });
  assert.deepEqual([row?.status, row?.attempt_count], ['pending', 1]);
  const waitMs = (row?.next_attempt_at.getTime() ?? 0) - world.clock.time;
  assert.ok(waitMs > 4_000 && waitMs < 6_000, `${waitMs} ms`);
  const revived = await startMailbox({ port, now: world.clock.now });
  try {
    world.clock.time += 60_000;
    await sendDue(late);
    world.clock.time += 3_600_000;
    await sendDue(late);
    assert.deepEqual(
      revived.mails().map(({ to, subject }) => [to, subject]),
      [[['late@example.com'], 'Your receipt from Test merchant']],
    );
  } finally {
    await revived.close();
  }
  assert.deepEqual(await stored('late@example.com'), [['receipt', 'sent']]);
});

test('an e-mail is given up after ten attempts over three days, and its text is deleted', async () => {
  const silent = mail.worker({}, await findFreePort());
  await addPaidSession(world, { ...shop, payerEmail: 'never@example.com' });
  const begin = world.clock.time;
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await sendDue(silent);
    const [row] = await world.database.db.query(storedMails, { recipient: 'never@example.com' });
    if (row?.status !== 'pending') break;
    world.clock.time = row.next_attempt_at.getTime();
  }
  const [row] = await world.database.db.query(storedMails, { recipient: 'never@example.com' });
  assert.deepEqual([row?.status, row?.attempt_count, row?.has_data], ['failed', 10, false]);
  assert.match(row?.last_error ?? '', /ECONNREFUSED/);
  const hours = (world.clock.time - begin) / 3_600_000;
  assert.ok(hours > 60 && hours < 90, `${hours} h`);
});

test('an address that the mail server refuses for good gets no more e-mails; another refusal condemns one e-mail', async () => {
  mail.mailbox.answerRecipient = (address) =>
    address === 'gone@example.com'
      ? '550 5.1.1 gone@example.com is unknown'
      : address === 'policy@example.com'
        ? '550 5.7.1 relaying denied'
        : address === 'full@example.com'
          ? '452 4.2.2 mailbox full'
          : undefined;
  try {
    const payers = ['gone@example.com', 'policy@example.com', 'full@example.com'];
    for (const payerEmail of payers) await addPaidSession(world, { ...shop, payerEmail });
    await sendDue(worker);
    for (const payerEmail of payers) await addPaidSession(world, { ...shop, payerEmail });
    await sendDue(worker);
  } finally {
    mail.mailbox.answerRecipient = () => undefined;
  }
  assert.deepEqual(await stored('gone@example.com'), [
    ['receipt', 'bounced'],
    ['receipt', 'suppressed'],
  ]);
  assert.deepEqual(await stored('policy@example.com'), [
    ['receipt', 'failed'],
    ['receipt', 'failed'],
  ]);
  assert.deepEqual(await stored('full@example.com'), [
    ['receipt', 'pending'],
    ['receipt', 'pending'],
  ]);
  assert.match(logged.join('\n'), /mail\.not_accepted .*address_refused.*RCPT TO 550/);
  assert.doesNotMatch(logged.join('\n'), /example\.com/);
});

test('paying sends no advertisements: an address, a wallet and the payers of a merchant get so many e-mails a day', async () => {
  const { toAddress, byWallet } = payerMailLimits;
  const ofMerchant = 100;
  const begin = world.clock.time;
  const other = { merchantId: await world.addMerchant() };
  const small = {
    ...other,
    key: await world.addKey(other.merchantId),
    accountId: await world.addAccount(other.merchantId),
  };
  const sentBefore = (count: number, row: { recipient?: string; payer?: string; merchantId?: string }) =>
    world.database.db.query(insertSent, {
      ...{ merchantId: shop.merchantId, recipient: '', payer: '', at: world.clock.now() },
      ...{ count: BigInt(count), ...row },
    });
  const payer = `0x${'c7'.repeat(20)}` as const;
  const quiet = { payer: `0x${'c8'.repeat(20)}` } as const;
  await sentBefore(toAddress - 1, { recipient: 'bombed@example.com' });
  await sentBefore(byWallet, { payer });
  await sentBefore(ofMerchant, { merchantId: small.merchantId });
  const pay = async () => {
    await addPaidSession(world, { ...shop, ...quiet, payerEmail: 'bombed@example.com' });
    await addPaidSession(world, { ...shop, payer, payerEmail: 'many@example.com' });
    await addPaidSession(world, {
      ...small,
      ...quiet,
      payerEmail: 'small@example.com',
      unitPrice: 4_999_999,
    });
    await addPaidSession(world, {
      ...small,
      ...quiet,
      payerEmail: 'large@example.com',
      unitPrice: 5_000_000,
    });
    while (await sendDue(mail.worker({ payerMailsPerDay: ofMerchant })));
  };
  const reasons = async (recipient: string) => {
    const rows = await world.database.db.query(storedMails, { recipient });
    return rows.filter(({ last_error: e }) => e !== '').map(({ status, last_error: e }) => `${status}: ${e}`);
  };
  await pay();
  // The last one that a day allows.
  assert.deepEqual(await reasons('bombed@example.com'), []);
  assert.deepEqual(await reasons('many@example.com'), [
    `suppressed: its wallet had ${byWallet} e-mails to payers in 24 hours`,
  ]);
  assert.deepEqual(await reasons('small@example.com'), [
    `suppressed: its merchant had ${ofMerchant} e-mails to payers in 24 hours`,
  ]);
  // Very small payments, which cost a stranger nothing, take no other payer's receipt.
  assert.deepEqual(await reasons('large@example.com'), []);
  // What went back counts with its own amount, not with the price that it did not pay.
  for (const [byte, amount, payerEmail] of [
    ['5a', 4_999_999n, 'cents@example.com'],
    ['5b', 5_000_000n, 'dollars@example.com'],
  ] as const) {
    const sessionId = await addSession(world, small);
    const order = await addOrder(world, sessionId, `0x${byte.repeat(20)}`, { payerEmail });
    await returnDeposit(world, order, amount);
  }
  while (await sendDue(mail.worker({ payerMailsPerDay: ofMerchant })));
  assert.deepEqual(await reasons('cents@example.com'), [
    `suppressed: its merchant had ${ofMerchant} e-mails to payers in 24 hours`,
  ]);
  assert.deepEqual(await stored('dollars@example.com'), [['refund', 'sent']]);
  await pay();
  assert.deepEqual(await reasons('bombed@example.com'), [
    `suppressed: its address had ${toAddress} e-mails to payers in 24 hours`,
  ]);
  world.clock.time = begin + 86_400_001;
  await pay();
  for (const address of ['bombed@example.com', 'many@example.com', 'small@example.com'])
    assert.equal((await stored(address)).at(-1)?.[1], 'sent', address);
});

test('a receipt is in the payer’s language, in both parts', async () => {
  for (const { tag } of languages)
    await addPaidSession(world, { ...shop, payerEmail: `${tag}@example.org`, language: tag });
  while (await sendDue(worker));
  await sendDue(worker);
  const titles = languages.map(({ tag, direction }) => {
    const [got] = mail.mailsTo(`${tag}@example.org`);
    assert.match(got?.html ?? '', new RegExp(`<html lang="${tag}" dir="${direction}">`));
    const title = /<h1[^>]*>([^<]+)<\/h1>/.exec(got?.html ?? '')?.[1] ?? '';
    assert.ok(got?.text.includes(title), tag);
    return title;
  });
  assert.equal(new Set(titles).size, languages.length);
  assert.equal(titles[1], 'Sie haben 10,02\u00a0$ bezahlt');
});

test('a merchant’s texts add no header, no recipient, no markup and no hidden character, and an e-mail loads nothing', async () => {
  const merchantId = await world.addMerchant();
  const bad = {
    merchantId,
    key: await world.addKey(merchantId),
    accountId: await world.addAccount(merchantId),
  };
  const merchantName = `Shop\r\nBcc: victim@example.net\r\n\r\n"<b>\u202etxt</b> ${'x'.repeat(5_000)}`;
  await world.database.db.query(renameMerchant, { merchantId, merchantName });
  await world.database.db.transaction((transaction) =>
    updateBranding(transaction, world.deps, {
      ...{ merchantId, look: { color: '#ff2266' } },
      images: { ...noBrandImages, logo: { name: 'a', url: 'https://pay.example.com/images/a' } },
    }),
  );
  await addPaidSession(world, {
    ...bad,
    payerEmail: 'safe@example.com',
    productName: '<img src=x onerror=1>',
  });
  await sendDue(worker);
  const [got] = mail.mailsTo('safe@example.com');
  assert.deepEqual(got?.to, ['safe@example.com']);
  assert.deepEqual(mail.mailsTo('victim@example.net'), []);
  assert.equal(got?.headers['bcc'], undefined);
  assert.equal(got?.headers['to'], 'safe@example.com');
  assert.ok((got?.fromName.length ?? 0) <= 100 && (got?.subject.length ?? 0) <= 130);
  assert.doesNotMatch(`${got?.subject}${got?.fromName}${got?.text}${got?.html}`, /\u202e/);
  assert.match(got?.html ?? '', /&lt;img src=x onerror=1&gt;/);
  assert.doesNotMatch(got?.html ?? '', /<b>|<img|<[^>]*\ssrc=|url\(|<script|<link/);
  const hrefs = [...(got?.html ?? '').matchAll(/href="([^"]*)"/g)].map(([, url = '']) => url);
  assert.ok(hrefs.length === 1 && hrefs[0]?.startsWith('https://pay.example.com/checkout/'), hrefs.join());
});
