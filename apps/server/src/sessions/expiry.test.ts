import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addOrder, addSession } from '../../test/harness/payment-fixture.ts';
import { expireSessions, findSession } from './session.ts';

const putCursor = statement(
  'expiry_test_cursor',
  ['int8', 'timestamptz'],
  {},
  `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values ($1, 9, '0x', $2, 3, '0x', $2, $2)
   on conflict (chain_id) do update set head_time = $2, final_time = $2`,
);

const putHead = statement(
  'expiry_test_head',
  ['int8', 'timestamptz'],
  {},
  'update chain_cursors set head_time = $2 where chain_id = $1',
);

const putMove = statement(
  'expiry_test_move',
  ['text', 'text', 'text'],
  {},
  `with sent as (
     insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
       updated_at)
     select 1, '0xmoves', count(*), $2, '0xto', '0x', 1, 'pending', now(), now() from sent_transactions
     returning transaction_id
   )
   insert into deposit_moves (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at)
   select $1, $2, '0xtoken', 1, $3, transaction_id, now(), now() from sent
   on conflict (order_id, move, token) do update set status = $3`,
);

const unsign = statement(
  'expiry_test_unsign',
  ['text', 'int8'],
  {},
  `insert into orders select (r).* from (
     select jsonb_populate_record(o, jsonb_build_object('order_id', o.order_id || 'deposit', 'signature', '0x',
       'pay_by', o.pay_by + $2)) as r
     from orders o where o.order_id = $1) as copied`,
);

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
  test(`a session does not expire while an ${move} of its deposit is on its way: what came in time is not late`, async () => {
    const { db } = world.database;
    const sessionId = await addSession(world, shop);
    const order = await addOrder(world, sessionId);
    await db.query(putCursor, [order.chainId, new Date(Number(order.order.payBy + 1n) * 1_000)]);
    await db.query(putMove, [order.orderId, move, 'sent']);
    await expire();
    assert.equal(await statusOf(sessionId), 'initialized');
    await db.query(putMove, [order.orderId, move, 'failed']);
    await expire();
    assert.equal(await statusOf(sessionId), 'expired');
  });
}

test('a session whose deposit was added to does not expire while that can be collected: it was not late', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  await db.query(unsign, [order.orderId, 3_600]);
  const final = (afterPayBy: bigint) =>
    db.query(putCursor, [order.chainId, new Date(Number(order.order.payBy + afterPayBy) * 1_000)]);
  await final(3_600n);
  await db.query(putMove, [`${order.orderId}deposit`, 'add', 'succeeded']);
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await final(3_601n);
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});

test('an order that is only collected keeps no session open: nobody but the service can pay it', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  await db.query(unsign, [order.orderId, 86_400]);
  await db.query(putCursor, [order.chainId, new Date(Number(order.order.payBy) * 1_000)]);
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await db.query(putCursor, [order.chainId, new Date(Number(order.order.payBy + 1n) * 1_000)]);
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});

// Last, because it moves our own clock.
// proves W4.13
test('a signed session closes by final blocks of its chain: not by our clock, another chain or blocks that are not final', async () => {
  const { db } = world.database;
  const sessionId = await addSession(world, shop);
  const order = await addOrder(world, sessionId);
  const at = (afterPayBy: bigint) => new Date(Number(order.order.payBy + afterPayBy) * 1_000);
  world.clock.time = at(3_600n).getTime();
  const elsewhere = world.deps.chains.token('base::usdc')?.chainId ?? 0;
  assert.notEqual(elsewhere, order.chainId);
  await db.query(putCursor, [elsewhere, at(3_600n)]);
  await db.query(putCursor, [order.chainId, at(0n)]);
  await db.query(putHead, [order.chainId, at(3_600n)]);
  await expire();
  assert.equal(await statusOf(sessionId), 'initialized');
  await db.query(putCursor, [order.chainId, at(1n)]);
  await expire();
  assert.equal(await statusOf(sessionId), 'expired');
});
