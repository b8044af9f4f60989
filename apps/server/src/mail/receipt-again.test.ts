import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailStage } from '../../test/harness/mail-stage.ts';
import { addPaidSession } from '../../test/harness/payment-fixture.ts';

const stage = mailStage();

/** A shop with a payment whose payer gave this address, and the browser of a member. */
async function openPayment(payerEmail: string, role: 'support' | 'viewer' = 'support') {
  const { merchants } = stage.world;
  const merchantId = await merchants.addMerchant();
  const paid = { key: await merchants.addKey(merchantId), accountId: await merchants.addAccount(merchantId) };
  const { sessionId } = await addPaidSession(merchants, { ...paid, payerEmail });
  const { email } = await stage.world.addPerson([[merchantId, role]]);
  const browser = await stage.signedIn(email);
  browser.merchantId = merchantId;
  return { browser, sessionId, send: () => browser.post('/session/receipt/send', { sessionId }) };
}

test('a receipt is sent again three times a day, without the page’s secret, and its page lists each', async () => {
  const payer = 'lee@example.com';
  const { browser, sessionId, send } = await openPayment(payer);
  await stage.mail.sendAll();
  const [first] = stage.mail.newMailsTo(payer);
  assert.ok(first !== undefined);
  const codes: number[] = [];
  for (let count = 0; count < 4; count += 1) codes.push((await send()).code);
  assert.deepEqual(codes, [0, 0, 0, 900101]);
  await stage.mail.sendAll();
  const again = stage.mail.newMailsTo(payer);
  assert.deepEqual(
    again.map(({ subject, text }) => [subject, text]),
    Array(3).fill([first.subject, first.text]),
  );
  const { mails } = (await browser.get(`/session/history/${sessionId}`)).data;
  assert.deepEqual(
    mails.map(({ kind, status, isTooMany }: Record<string, unknown>) => [kind, status, isTooMany]),
    Array(4).fill(['receipt', 'sent', false]),
  );
  stage.world.merchants.clock.time += 25 * 3_600_000;
  assert.equal((await send()).code, 0);
});

test('no receipt is sent without an address, for another shop, or by a role that makes no sessions', async () => {
  const without = await openPayment('');
  assert.equal((await without.send()).code, 400101);
  const other = await openPayment('kim@example.com');
  const { sessionId } = other;
  assert.equal((await without.browser.post('/session/receipt/send', { sessionId })).code, 100201);
  assert.equal((await (await openPayment('kim@example.com', 'viewer')).send()).code, 200205);
});
