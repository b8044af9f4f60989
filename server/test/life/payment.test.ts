import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Life } from './life.ts';
import { Payer } from './payer.ts';

let life: Life;
before(async () => {
  life = await Life.start();
  life.mine();
});
after(() => life.close());

async function createFixedLink(options: { settlementToken: string; feeModel: 1 | 2; unitPrice: number }): Promise<string> {
  const product = await life.post<{ productId: string }>('/product/create', {
    name: 'Espresso machine',
    commonPrices: [options.unitPrice],
  });
  const link = await life.post<{ linkId: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Espresso machine',
    accountId: life.accountId,
    settlementToken: options.settlementToken,
    feeModel: options.feeModel,
    lineItems: [{ itemType: 'product', productId: product.productId, quantity: 2, unitPrice: options.unitPrice }],
  });
  return link.linkId;
}

test('a link is paid by an agent and settled: initialized, detected, paid, settling, completed', async () => {
  const token = life.ethereum.token('usdc');
  const linkId = await createFixedLink({ settlementToken: token.tokenId, feeModel: 1, unitPrice: 12_500_000 });
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 100_000_000n);
  const before = await life.ethereum.balanceOf(token, life.merchantWallet);
  const sessionId = await payer.createSession(linkId, token);
  assert.equal((await life.session(sessionId)).session.status, 'initialized');
  const prepared = await payer.prepare(sessionId, token);
  const paymentTx = await payer.execute(life.ethereum, prepared);
  const done = await life.sessionIn(sessionId, 'completed');
  await life.eventOf(sessionId, 'session.completed');
  assert.deepEqual(
    life.eventsOf(sessionId).map((event) => [event.type, event.sequence]),
    [
      ['session.created', 1],
      ['session.payment_detected', 2],
      ['session.paid', 3],
      ['session.settling', 4],
      ['session.completed', 5],
    ],
  );
  assert.equal(done.session.initiateTx, paymentTx);
  assert.equal(done.session.payer, payer.address);
  assert.equal((await life.ethereum.balanceOf(token, life.merchantWallet)) - before, 24_950_000n);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 75_000_000n);
});
