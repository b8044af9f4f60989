import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import type { X402Required } from '@florin/protocol/x402.ts';
import type { FastifyInstance } from 'fastify';
import { toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Chains } from '#chains/chain.ts';
import { findOrder } from '#orders/order.ts';
import { everyDoor } from '../../test/harness/every-door.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { happen, takeBack } from '../../test/harness/payment-fixture.ts';
import { encoded, signedPayment } from '../../test/life/x402-client.ts';

const ordersOf = statement({
  name: 'x402_payment_test_orders',
  parameters: { businessId: 'text' },
  columns: { order_id: 'text', session_id: 'text' },
  text: 'select orders.order_id, session_id from orders join sessions using (session_id) where business_id = :businessId',
});

let world: MerchantWorld;
let server: FastifyInstance;
let linkId: string;
/** Balance reads of an address, answered only once there are as many as an offer has tokens. */
let asking = 0;
let answer = () => {};
const answered = new Promise<void>((resolve) => {
  answer = resolve;
});

before(async () => {
  world = await MerchantWorld.open();
  const condition = { status: 'available', reason: '', secondsToFinal: 1 } as const;
  const payoutCap = () => microUsd(100_000_000_000n);
  const conditions = { version: () => 1, of: () => condition, payoutCap };
  const chains: Chains = { ...world.deps.chains, conditions };
  server = await everyDoor(world, chains, {
    codeAt: async () => '0x',
    callAt: async () => {
      asking += 1;
      if (asking === 2) answer();
      await answered;
      return toHex(10n ** 24n, { size: 32 });
    },
  });
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const body = {
    ...{ accountId, settlementToken: 'ethereum::usdc', feeModel: 2, linkType: 'custom', linkName: 'Tips' },
    lineItems: [{ itemType: 'user_priced' }],
  };
  linkId = (await world.send('POST', '/payment/link/create', { key, body })).data.linkId;
});
after(async () => {
  await server.close();
  await world.close();
});

test('an offer of a link that is paid on two chains at once accepts one payment and refuses the other', async () => {
  const url = `/aipay/x402/link/${linkId}?amountInUSD=3`;
  const { accepts } = (await server.inject({ url })).json<X402Required>();
  const chosen = accepts.filter(
    ({ network }, at) => accepts.findIndex((each) => each.network === network) === at,
  );
  assert.equal(chosen.length, 2);
  const payer = privateKeyToAccount(generatePrivateKey());
  const validBefore = String(Math.floor(world.clock.time / 1_000) + 300);
  const answers = await Promise.all(
    chosen.map(async (accepted) => {
      const payment = await signedPayment(payer, accepted, { validBefore });
      return server.inject({ url, headers: { 'payment-signature': encoded(payment) } });
    }),
  );
  assert.deepEqual(
    answers.map((each) => [each.statusCode, each.json().code]).sort(),
    [
      [202, 0],
      [409, 100613],
    ],
    answers.map(({ body }) => body).join('\n'),
  );
  assert.equal((await world.database.db.query(ordersOf, { businessId: linkId })).length, 1);
});

test('a payment that a reorg took back is answered as one that no block has yet', async () => {
  const url = `/aipay/x402/link/${linkId}?amountInUSD=4`;
  const [accepted] = (await server.inject({ url })).json<X402Required>().accepts;
  assert.ok(accepted);
  const validBefore = String(Math.floor(world.clock.time / 1_000) + 300);
  const payment = await signedPayment(privateKeyToAccount(generatePrivateKey()), accepted, { validBefore });
  const ask = async () => {
    const reply = await server.inject({ url, headers: { 'payment-signature': encoded(payment) } });
    const { sessionId, status, txHash } = reply.json().data;
    return { sessionId, told: [reply.statusCode, status, txHash] };
  };
  const { sessionId } = await ask();
  const rows = await world.database.db.query(ordersOf, { businessId: linkId });
  const orderId = rows.find((row) => row.session_id === sessionId)?.order_id ?? '';
  const order = await findOrder(world.database.db, orderId);
  assert.ok(order);
  const { txHash } = await happen(world, order, 'Paid');
  assert.deepEqual((await ask()).told, [200, 'paid', txHash]);
  await takeBack(world, order);
  assert.deepEqual((await ask()).told, [202, 'settlement_pending', txHash]);
});
