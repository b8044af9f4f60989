import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addOrder, addSession } from '../../test/harness/payment-fixture.ts';
import { expireSessions, findSession } from './session.ts';

const putCursor = statement({
  name: 'expiry_test_cursor',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, 9, '0x', :headTime, 3, '0x', :headTime, :headTime)
   on conflict (chain_id) do update set head_time = :headTime, final_time = :headTime`,
});

const putHead = statement({
  name: 'expiry_test_head',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: 'update chain_cursors set head_time = :headTime where chain_id = :chainId',
});

const putMove = statement({
  name: 'expiry_test_move',
  parameters: { orderId: 'text', purpose: 'text', status: 'text' },
  text: `with sent as (
     insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
       updated_at)
     select 1, '0xmoves', count(*), :purpose, '0xto', '0x', 1, 'pending', now(), now() from sent_transactions
     returning transaction_id
   )
   insert into deposit_moves (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at)
   select :orderId, :purpose, '0xtoken', 1, :status, transaction_id, now(), now() from sent
   on conflict (order_id, move, token) do update set status = :status`,
});

const unsign = statement({
  name: 'expiry_test_unsign',
  parameters: { orderId: 'text', seconds: 'int8' },
  text: `insert into orders select (r).* from (
     select jsonb_populate_record(o, jsonb_build_object('order_id', o.order_id || 'deposit', 'signature', '0x',
       'pay_by', o.pay_by + :seconds)) as r
     from orders o where o.order_id = :orderId) as copied`,
});

let world: MerchantWorld;
let shop: { key: string; accountId: string };
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
});
after(() => world.close());

const expire = () =>
  world.database.db.transaction((transaction) => expireSessions(transaction, world.deps, 10));
const statusOf = async (sessionId: string) => (await findSession(world.database.db, sessionId))?.status;

for (const move of ['add', 'collect'] as const) {
  test(`a session does not expire while an ${move} of its deposit is under way, because the deposit came in time`, async () => {
    const { db } = world.database;
    const sessionId = await addSession(world, shop);
    const order = await addOrder(world, sessionId);
    await db.query(putCursor, {
      chainId: order.chainId,
      headTime: new Date(Number(order.order.payBy + 1n) * 1_000),
    });
    await db.query(putMove, { orderId: order.orderId, purpose: move, status: 'sent' });
    await expire();
    assert.equal(await statusOf(sessionId), 'initialized');
    await db.query(putMove, { orderId: order.orderId, purpose: move, status: 'failed' });
    await expire();
    assert.equal(await statusOf(sessionId), 'expired');
  });
}

test('a session does not expire while a deposit that was added to can still be collected', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  await db.query(unsign, { orderId: order.orderId, seconds: 3_600 });
  const final = (afterPayBy: bigint) =>
    db.query(putCursor, {
      chainId: order.chainId,
      headTime: new Date(Number(order.order.payBy + afterPayBy) * 1_000),
    });
  await final(3_600n);
  await db.query(putMove, { orderId: `${order.orderId}deposit`, purpose: 'add', status: 'succeeded' });
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await final(3_601n);
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});

test('an order that only the service collects does not keep its session open', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  await db.query(unsign, { orderId: order.orderId, seconds: 86_400 });
  await db.query(putCursor, {
    chainId: order.chainId,
    headTime: new Date(Number(order.order.payBy) * 1_000),
  });
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await db.query(putCursor, {
    chainId: order.chainId,
    headTime: new Date(Number(order.order.payBy + 1n) * 1_000),
  });
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});

// Last, because it moves our own clock.
// proves W4.13
test('a signed session expires by final blocks of its chain, not by our clock, another chain or blocks that are not final', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  const at = (afterPayBy: bigint) => new Date(Number(order.order.payBy + afterPayBy) * 1_000);
  world.clock.time = at(3_600n).getTime();
  const elsewhere = world.deps.chains.token('base::usdc')?.chainId ?? 0;
  assert.notEqual(elsewhere, order.chainId);
  await db.query(putCursor, { chainId: elsewhere, headTime: at(3_600n) });
  await db.query(putCursor, { chainId: order.chainId, headTime: at(0n) });
  await db.query(putHead, { chainId: order.chainId, headTime: at(3_600n) });
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await db.query(putCursor, { chainId: order.chainId, headTime: at(1n) });
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});
