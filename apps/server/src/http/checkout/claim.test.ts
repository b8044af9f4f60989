import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import type { FastifyInstance } from 'fastify';
import { decodeFunctionData, getAddress } from 'viem';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import {
  addOrder,
  addPaidSession,
  addSession,
  happen,
  takeBack,
} from '../../../test/harness/payment-fixture.ts';
import { buildServer } from '../server.ts';
import { checkoutDoor } from './checkout-door.ts';

// As the loop of deposits stores what it sees.
const putArrived = statement({
  name: 'claim_test_arrived',
  parameters: { orderId: 'text', amount: 'numeric' },
  text: `insert into deposit_sightings (order_id, chain_id, pay_by, block_number, amount, final_amount)
   select order_id, chain_id, pay_by, 1, :amount, 0 from orders where order_id = :orderId
   on conflict (order_id) do update set amount = :amount`,
});

const forgetReceivers = statement({
  name: 'claim_test_receivers',
  parameters: { sessionId: 'text' },
  text: 'update orders set receiver = null where session_id = :sessionId',
});

let world: MerchantWorld;
let server: FastifyInstance;
let shop: { key: string; accountId: string };
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [checkoutDoor(checkoutOptionsOf(world))],
  });
});
after(async () => {
  await server.close();
  await world.close();
});

async function claim(body: object) {
  const reply = await server.inject({ method: 'POST', url: '/checkout/api/claim', payload: body });
  return reply.json<{
    code: number;
    data: { amount: string; txRequest?: { data: Hex } };
  }>();
}
/** The order as viem decodes it. */
const checksummed = (order: Order) => ({ ...order, payer: getAddress(order.payer) });
const pageOf = async (sessionId: string) =>
  (await server.inject({ method: 'GET', url: `/checkout/${sessionId}/claim` })).body;

test('an unsettled payment can be reclaimed after its time, by a call that pays only its payer', async () => {
  const { sessionId, order } = await addPaidSession(world, shop);
  const asked = { sessionId, orderId: order.orderId, token: order.order.token, purpose: 'reclaim' };
  assert.ok((await pageOf(sessionId)).includes('id="reclaim"'));
  const early = (await claim(asked)).data;
  // The call names the whole refund address.
  assert.deepEqual([early.amount, early.txRequest], [order.order.total.toString(), undefined]);
  world.clock.time = Number(order.order.reclaimAt) * 1_000;
  const { data } = await claim(asked);
  const call = decodeFunctionData({ abi: paymentGatewayAbi, data: data.txRequest?.data ?? '0x' });
  assert.deepEqual([call.functionName, call.args?.[0]], ['reclaim', checksummed(order.order)]);
  await happen(world, order, 'Reclaimed');
});

test('a payment that a reorg took back is said to be checked', async () => {
  const { sessionId, order } = await addPaidSession(world, shop);
  const words = 'The payment is being checked, because it may no longer count.';
  assert.equal((await pageOf(sessionId)).split(words).length, 2);
  await takeBack(world, order);
  // In the page, beside the texts for its script.
  assert.equal((await pageOf(sessionId)).split(words).length, 3);
});

test('a session without a payment and without an address has nothing to reclaim, and its page says so', async () => {
  const sessionId = await addSession(world, shop);
  const page = await pageOf(sessionId);
  assert.ok(page.includes('This payment has no deposit address.'));
  assert.equal(page.includes('id="reclaim"'), false);
});

test('the whole addresses of a session are for its secret alone', async () => {
  const sessionId = await addSession(world, shop);
  const { orderId, order } = await addOrder(world, sessionId);
  // One that was asked for without the secret. Its money may go back to a stranger, so the owner must not copy it.
  await addOrder(world, sessionId, `0x${'e5'.repeat(20)}`, { proof: 'signature' });
  const { data } = await world.send('GET', `/session/${sessionId}`, { key: shop.key });
  const read = async (secret: string) => {
    const url = `/checkout/api/session/${sessionId}/places`;
    const reply = await server.inject({ method: 'GET', url, headers: { 'x-client-code': secret } });
    return reply.json();
  };
  const { code, data: whole } = await read(data.session.clientCode);
  assert.deepEqual(
    [code, whole.places.length, whole.places[0].orderId, whole.places[0].refundAddress],
    [0, 1, orderId, getAddress(order.payer)],
  );
  assert.match(whole.places[0].address, /^0x[0-9a-fA-F]{40}$/);
  assert.deepEqual([(await read('wrong')).code, (await read('')).code], [100_202, 100_202]);
});

test('an unpaid order cannot be reclaimed, and a foreign token can be sent back at once', async () => {
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  const asked = { sessionId, orderId: order.orderId, token: `0x${'ab'.repeat(20)}` };
  const reclaim = (await claim({ ...asked, purpose: 'reclaim' })).data;
  assert.deepEqual([reclaim.amount, reclaim.txRequest], ['0', undefined]);
  const { data } = await claim({ ...asked, purpose: 'rescue' });
  const call = decodeFunctionData({ abi: paymentGatewayAbi, data: data.txRequest?.data ?? '0x' });
  assert.equal(call.functionName, 'rescue');
  assert.deepEqual(call.args?.[0], checksummed(order.order));
  assert.equal((await claim({ ...asked, purpose: 'steal' })).code, 400101);
});

test('the page says what has arrived at an address before the session ends, and what becomes of it', async () => {
  const sessionId = await addSession(world, shop);
  const own = await addOrder(world, sessionId);
  // A stranger may have asked for it, so the page tells no payer to send the rest there.
  const apart = await addOrder(world, sessionId, `0x${'e5'.repeat(20)}`, { proof: 'signature' });
  const { db } = world.database;
  const total = own.order.total;
  await db.query(putArrived, { orderId: own.orderId, amount: total - 2_000_000n });
  await db.query(putArrived, { orderId: apart.orderId, amount: total - 3_000_000n });
  const said = async () =>
    ((await pageOf(sessionId)).match(/>[^<]*has arrived\. [^<]*/g) ?? []).map((text) =>
      // The clock moves from test to test.
      text.replaceAll(/\s/g, ' ').replaceAll(/by \w+ \d.* [AP]M UTC/g, 'by TIME'),
    );
  const both = [
    '>8.02 USDC has arrived. It counts towards this payment if the missing 2.00 USDC arrives here by TIME. Otherwise it goes back automatically after that.',
    '>7.02 USDC has arrived. It counts towards this payment only if the rest arrives here by TIME. Otherwise it goes back automatically after that.',
  ];
  assert.deepEqual(await said(), both);
  // Orders of older versions have no stored address: the money is told by its order.
  await db.query(forgetReceivers, { sessionId });
  assert.deepEqual(await said(), both);
  await db.query(putArrived, { orderId: own.orderId, amount: total });
  assert.equal((await said())[0], '>10.02 USDC has arrived. That is enough. It becomes the payment.');
});
