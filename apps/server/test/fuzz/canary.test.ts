import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import type { Log } from '#telemetry/log.ts';
import { startService } from '../../src/service/service.ts';
import { Life } from '../life/life.ts';
import { Payer, succeeded } from '../life/payer.ts';
import { keys } from '../life/roles.ts';

/** Every log entry of the service, written out with all nested values. */
const lines: string[] = [];
function record(...values: unknown[]): void {
  lines.push(inspect(values, { depth: 20, maxStringLength: null, maxArrayLength: null }));
}
const capturing: Log = {
  info: record,
  warn: record,
  error: record,
};

let life: Life;
before(async () => {
  life = await Life.start((options) => startService({ ...options, log: capturing }));
  life.mine();
});
after(() => life.close());

function canary(): string {
  return `canary${randomBytes(12).toString('hex')}`;
}

test('no key, signature, e-mail address, body or metadata of a payment is logged', async () => {
  const texts = {
    product: canary(),
    link: canary(),
    metadata: canary(),
    webhook: canary(),
    answer: canary(),
  };
  const email = `${canary()}@example.com`;
  const unknownKey = `sk_live_${canary()}`;
  const token = life.ethereum.token('usdc');
  // Failed deliveries are also logged.
  life.receiver.behave({ kind: 'answer', status: 500, body: texts.answer });
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: texts.product,
    commonPrices: [5_000_000],
  });
  const shared = { accountId: life.accountId, settlementToken: 'ethereum::usdc' };
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', {
    ...shared,
    linkType: 'fixed',
    linkName: texts.link,
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 5_000_000 }],
  });
  const checkout = await life.post<{ sessionId: string; clientCode: string }>('/session/checkout/create', {
    ...shared,
    lineItems: [{ itemType: 'product', productId }],
    metadata: { note: texts.metadata },
  });
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 50_000_000n);
  const sessionId = await payer.createSession(linkId, token);
  const preparation = await payer.preparation(sessionId, token);
  const prepared = succeeded(await payer.ask('POST', '/payment/prepare', preparation));
  // The same request with an error: careless logs reveal most in refusals.
  const withEmail = { ...preparation, message: { ...preparation.message, payerEmail: email } };
  assert.notEqual((await payer.ask('POST', '/payment/prepare', withEmail)).code, 0);
  assert.notEqual((await payer.ask('POST', '/payment/session/create', withEmail)).code, 0);
  await payer.execute(life.ethereum, prepared);
  await life.sessionIn(sessionId, 'completed');
  await life.eventOf(sessionId, 'session.created');
  const wrongKey = { headers: { authorization: `Bearer ${unknownKey}` } };
  assert.equal((await fetch(`${life.options.origin}/payment/v1/account/list`, wrongKey)).status, 401);
  const broken = {
    method: 'POST',
    headers: { authorization: `Bearer ${life.secretKey}` },
    body: texts.product,
  };
  assert.equal((await fetch(`${life.options.origin}/payment/v1/product/create`, broken)).status, 415);
  await fetch(`${life.options.origin}/checkout/${checkout.sessionId}?c=${checkout.clientCode}`);

  assert.ok(lines.length > 10, `${lines.length} lines were logged`);
  const secrets = {
    ...texts,
    email,
    unknownKey,
    apiKey: life.secretKey,
    webhookKey: life.webhookKey,
    clientCode: checkout.clientCode,
    signature: preparation.signature,
    orderKey: keys.orderSigner,
    settlerKey: keys.settler,
    databaseUrl: life.database.url,
    masterKey: Buffer.from(life.options.masterKeys[0]).toString('hex'),
    sender: payer.wallet.privateKey,
  };
  const all = lines.join('\n').toLowerCase();
  const logged = Object.entries(secrets).filter(([, secret]) => {
    const plain = secret.replace(/^(0x|whsec_)/, '').toLowerCase();
    return all.includes(plain);
  });
  assert.deepEqual(
    logged.map(([name]) => name),
    [],
  );
});
