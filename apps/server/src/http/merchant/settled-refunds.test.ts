import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { decodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem';
import type { StoredOrder } from '#orders/stored-order.ts';
import { untilLockWaiter } from '../../../test/harness/lock-waiter.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addOrder, addPaidSession, addSession, happen } from '../../../test/harness/payment-fixture.ts';

let world: MerchantWorld;
let key: string;
let accountId: string;
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});
after(() => world.close());

const create = (body: object) => world.send('POST', '/refund/create', { key, body });
const cancel = (refundId: string) => world.send('POST', '/refund/cancel', { key, body: { refundId } });
const read = async (refundId: string) => (await world.send('GET', `/refund/${refundId}`, { key })).data;
const session = async (sessionId: string) =>
  (await world.send('GET', `/session/${sessionId}`, { key })).data.session;
const typesOf = async (objectId: string) => (await world.eventsOf(objectId)).map(({ type }) => type);

async function settledSession(): Promise<{ sessionId: string; order: StoredOrder }> {
  const paidSession = await addPaidSession(world, { key, accountId });
  await happen(world, paidSession.order, 'Settled');
  return paidSession;
}

/** The chain shows that the payer got `value` back after the settlement; `sum` is the gateway's total. */
const giveBack = (order: StoredOrder, value: number, sum: number) =>
  happen(world, order, 'SettlementRefunded', {
    arguments: { value: String(value), refundedTotal: String(sum) },
  });

/** A refund without what a wallet would sign. */
function unsigned(data: Refund) {
  const { requiredBalance: _b, txRequest: _t, prerequisites: _p, refundedAmount: _r, ...rest } = data;
  return rest;
}

/** Ten dollars and the fee of 0.2 %, which the payer pays. The token has 6 decimals. */
const paid = 10_020_000;

// proves W9.3, W9.6
test('a settled payment waits for the merchant’s own transaction, which pays its payer through the gateway', async () => {
  const { sessionId, order } = await settledSession();
  const { data } = await create({ sessionId, amount: 4_000_000, reason: 'Broken cup' });
  const { refundId, txRequest, prerequisites } = data;
  const chain = world.deps.chains.byId(order.chainId);
  assert.deepEqual([data.status, data.amount, data.txHash], ['requires_signature', 4_000_000, '']);
  assert.deepEqual([data.orderId, data.refundedAmount], [order.orderId, 0]);
  assert.deepEqual(
    [txRequest.chainId, txRequest.to, txRequest.value],
    [String(order.chainId), chain?.gateway, '0'],
  );
  assert.deepEqual(decodeFunctionData({ abi: paymentGatewayAbi, data: txRequest.data as Hex }), {
    functionName: 'refundSettled',
    args: [{ ...order.order, payer: getAddress(order.order.payer) }, 4_000_000n],
  });
  assert.deepEqual(
    prerequisites.map(({ purpose, txRequest: { to, data: call } }: typeof data) => [
      purpose,
      to,
      decodeFunctionData({ abi: erc20Abi, data: call as Hex }).args,
    ]),
    [['approve_exact_amount', order.order.token, [getAddress(chain?.gateway ?? '0x'), 4_000_000n]]],
  );
  assert.deepEqual(data.requiredBalance, {
    tokenId: order.tokenId,
    chainId: String(order.chainId),
    tokenAddress: order.order.token,
    amountInToken: '4000000',
  });
  assert.deepEqual(await read(refundId), data);
  const listed = await world.send('GET', '/refund/list/1/1', { key });
  assert.deepEqual(listed.data.refunds, [data]);

  const { txHash } = await giveBack(order, 4_000_000, 4_000_000);
  assert.deepEqual(await read(refundId), { ...unsigned(data), status: 'completed', txHash });
  const shown = await session(sessionId);
  assert.deepEqual([shown.status, shown.refundedAmount], ['completed', 4_000_000]);
  assert.deepEqual(await typesOf(refundId), ['refund.created', 'refund.completed']);
  assert.deepEqual((await world.eventsOf(refundId))[0]?.data, { refund: data });
});

// proves W9.3, W9.4
test('partial refunds add up, and never request more than was paid', async () => {
  const { sessionId, order } = await settledSession();
  await create({ sessionId, amount: 1_000_000 });
  await giveBack(order, 1_000_000, 1_000_000);
  const more = await create({ sessionId, amount: paid - 1_000_000 + 1 });
  assert.deepEqual(
    [more.code, more.message],
    [100701, `Refund exceeds the refundable amount: ${paid} Micro-USD were paid, of which 1000000 went back`],
  );
  const rest = await create({ sessionId });
  assert.deepEqual([rest.data.amount, rest.data.status], [paid - 1_000_000, 'requires_signature']);
  await giveBack(order, paid - 1_000_000, paid);
  assert.equal((await read(rest.data.refundId)).status, 'completed');
  assert.equal((await session(sessionId)).refundedAmount, paid);
  assert.equal((await create({ sessionId })).code, 100702);
});

test('refunds that wait never exceed the rest together, and one fails when less is left than it returns', async () => {
  const { sessionId, order } = await settledSession();
  const most = (await create({ sessionId, amount: 9_000_000 })).data.refundId;
  const over = await create({ sessionId, amount: paid - 9_000_000 + 1 });
  assert.deepEqual(
    [over.code, over.message],
    [
      100701,
      `Refund exceeds the refundable amount: ${paid} Micro-USD were paid, of which 9000000 wait for a signature: sign or cancel those refunds`,
    ],
  );
  const little = (await create({ sessionId, amount: 20_000 })).data.refundId;
  // From a wallet of the merchant, without a request.
  await giveBack(order, 5_000_000, 5_000_000);
  const statuses = [];
  for (const refundId of [most, little]) statuses.push((await read(refundId)).status);
  assert.deepEqual(statuses, ['failed', 'requires_signature']);
  assert.deepEqual(await typesOf(most), ['refund.created', 'refund.failed']);
});

// proves W9.4
test('a refund requested while another becomes final counts the amount of that one', async () => {
  const { sessionId, order } = await settledSession();
  const first = (await create({ sessionId, amount: 6_000_000 })).data.refundId;
  const asked: ReturnType<typeof create>[] = [];
  await happen(world, order, 'SettlementRefunded', {
    arguments: { value: '6000000', refundedTotal: '6000000' },
    meanwhile: () => {
      asked.push(create({ sessionId, amount: 6_000_000 }), create({ sessionId }));
      return Promise.race([Promise.all(asked), untilLockWaiter(world.database.db)]);
    },
  });
  const [same, rest] = await Promise.all(asked);
  assert.equal((await read(first)).status, 'completed');
  assert.deepEqual(
    [same?.code, rest?.data.amount, rest?.data.status],
    [100701, paid - 6_000_000, 'requires_signature'],
  );
});

test('money given back without a refund, or once more, shows on the session and is a refund of its own', async () => {
  const { sessionId, order } = await settledSession();
  const own = async () => {
    const { refunds } = (await world.send('GET', '/refund/list/1/10', { key })).data;
    return refunds.filter((each: Refund) => each.sessionId === sessionId);
  };
  const { txHash } = await giveBack(order, 500_000, 500_000);
  assert.equal((await session(sessionId)).refundedAmount, 500_000);
  const [alone, ...none] = await own();
  const { refundId, createAt, updateAt, ...facts } = alone;
  const completed = { sessionId, orderId: order.orderId, exceptionId: '', status: 'completed' };
  assert.deepEqual(
    [facts, none],
    [{ ...completed, amount: 500_000, reason: '', txHash, cancelledAt: '' }, []],
  );
  assert.deepEqual(await typesOf(refundId), ['refund.completed']);
  assert.deepEqual((await world.eventsOf(refundId))[0]?.data, { refund: alone });

  // The wallet signs a part that was asked for once, twice.
  const asked = (await create({ sessionId, amount: 1_000_000 })).data.refundId;
  const first = await giveBack(order, 1_000_000, 1_500_000);
  const second = await giveBack(order, 1_000_000, 2_500_000);
  const rows = (await own()).map((each: Refund) => [each.amount, each.status, each.txHash]);
  assert.deepEqual(rows, [
    [1_000_000, 'completed', second.txHash],
    [1_000_000, 'completed', first.txHash],
    [500_000, 'completed', txHash],
  ]);
  assert.equal((await read(asked)).txHash, first.txHash);
  assert.equal((await session(sessionId)).refundedAmount, 2_500_000);
});

test('a refund after the settlement is not completed before its transaction is final', async () => {
  const { sessionId, order } = await settledSession();
  const { refundId } = (await create({ sessionId, amount: 500_000 })).data;
  const shown = { arguments: { value: '500000', refundedTotal: '500000' }, isFinal: false };
  await happen(world, order, 'SettlementRefunded', shown);
  assert.equal((await read(refundId)).status, 'requires_signature');
  assert.equal((await session(sessionId)).refundedAmount, 0);
});

test('a refund that waits for a wallet is cancelled, and what was signed before still counts once', async () => {
  const { sessionId, order } = await settledSession();
  const { data } = await create({ sessionId, amount: 4_000_000 });
  const { refundId } = data;
  const cancelled = await cancel(refundId);
  const at = '2030-01-01 00:00:00';
  assert.deepEqual(cancelled.data, { ...unsigned(data), status: 'cancelled', cancelledAt: at, updateAt: at });
  assert.deepEqual(await read(refundId), cancelled.data);
  assert.deepEqual((await cancel(refundId)).data, cancelled.data);
  const events = async () => (await world.eventsOf(refundId)).map(({ type, data: told }) => [type, told]);
  assert.deepEqual((await events()).slice(1), [['refund.cancelled', { refund: cancelled.data }]]);
  assert.equal((await session(sessionId)).refundedAmount, 0);

  const { txHash } = await giveBack(order, 4_000_000, 4_000_000);
  const late = { ...cancelled.data, status: 'completed', txHash };
  assert.deepEqual(await read(refundId), late);
  assert.deepEqual((await events()).slice(2), [['refund.completed', { refund: late }]]);
  assert.equal((await session(sessionId)).refundedAmount, 4_000_000);
  const refused = await cancel(refundId);
  assert.deepEqual(
    [refused.code, refused.message],
    [100711, 'Refund cannot be cancelled: its status is completed'],
  );
  assert.equal((await create({ sessionId, amount: paid - 4_000_000 + 1 })).code, 100701);
  assert.equal((await create({ sessionId })).data.amount, paid - 4_000_000);
});

test('a refund is cancelled once, whatever arrives at the same time, and by its own merchant alone', async () => {
  const { sessionId, order } = await settledSession();
  const { refundId } = (await create({ sessionId })).data;
  const foreign = await world.addKey(await world.addMerchant());
  const body = { refundId };
  assert.equal((await world.send('POST', '/refund/cancel', { key: foreign, body })).code, 100703);
  const replies = await Promise.all(Array.from({ length: 12 }, () => cancel(refundId)));
  assert.deepEqual(
    replies.map(({ code }) => code),
    Array(12).fill(0),
  );
  assert.deepEqual(await typesOf(refundId), ['refund.created', 'refund.cancelled']);

  const seen = (await create({ sessionId, amount: 1_000_000 })).data.refundId;
  const shown = { arguments: { value: '1000000', refundedTotal: '1000000' }, isFinal: false };
  const { txHash } = await happen(world, order, 'SettlementRefunded', shown);
  const refused = await cancel(seen);
  assert.equal(refused.message, `Refund cannot be cancelled: ${txHash} returns it, and is not final yet`);
  assert.deepEqual(await typesOf(seen), ['refund.created']);
});

/** A session that was paid twice, of which the second payment was settled too, and its exception. */
async function settledTwice() {
  const sessionId = await addSession(world, { key, accountId });
  const first = await addOrder(world, sessionId);
  const second = await addOrder(world, sessionId, `0x${'e5'.repeat(20)}`);
  for (const [order, name] of [
    [first, 'Paid'],
    [first, 'Settled'],
    [second, 'Paid'],
    [second, 'Settled'],
  ] as const)
    await happen(world, order, name);
  const exceptions = async () => {
    const listed = (await world.send('GET', '/exception/list/1/100', { key })).data.exceptions;
    return listed.filter((each: { sessionId: string }) => each.sessionId === sessionId);
  };
  const { exceptionId } = (await exceptions()).find(
    ({ kind }: { kind: string }) => kind === 'duplicate_settled',
  );
  return { sessionId, first, second, exceptionId, exceptions };
}

test('a second payment that was settled goes back to its own payer, and ends its exception', async () => {
  const { sessionId, first, second, exceptionId, exceptions } = await settledTwice();
  const { data } = await create({ sessionId, exceptionId });
  assert.deepEqual(
    [data.status, data.amount, data.orderId, data.exceptionId, data.refundedAmount],
    ['requires_signature', paid, second.orderId, exceptionId, 0],
  );
  const call = decodeFunctionData({ abi: paymentGatewayAbi, data: data.txRequest.data as Hex });
  assert.deepEqual(call.args, [{ ...second.order, payer: getAddress(second.order.payer) }, BigInt(paid)]);
  const { txHash } = await giveBack(second, paid, paid);
  assert.deepEqual(await read(data.refundId), { ...unsigned(data), status: 'completed', txHash });
  const [settled, announced] = await exceptions();
  assert.deepEqual(
    [settled, announced].map(({ kind, status, resolvedTx }) => [kind, status, resolvedTx]),
    [
      ['duplicate_settled', 'resolved', txHash],
      ['duplicate', 'resolved', settled.txHash],
    ],
  );
  // The payment that paid the session is as it was, and can be refunded by itself.
  assert.equal((await session(sessionId)).refundedAmount, 0);
  const own = await create({ sessionId });
  assert.deepEqual([own.data.amount, own.data.orderId, own.data.exceptionId], [paid, first.orderId, '']);
  const again = await create({ sessionId, exceptionId });
  assert.match(again.message, /^Not refundable in this state: the exception is resolved$/);
});

test('a second payment goes back in parts, and never more than it was', async () => {
  const { sessionId, first, second, exceptionId, exceptions } = await settledTwice();
  await giveBack(first, 9_000_000, 9_000_000);
  const more = await create({ sessionId, exceptionId, amount: paid + 1 });
  assert.equal(more.message, `Refund exceeds the refundable amount: ${paid} Micro-USD were paid`);
  const part = (await create({ sessionId, exceptionId, amount: 4_000_000 })).data;
  assert.equal(part.amount, 4_000_000);
  await giveBack(second, 4_000_000, 4_000_000);
  assert.deepEqual(
    [
      (await read(part.refundId)).status,
      (await exceptions())[0].status,
      (await session(sessionId)).refundedAmount,
    ],
    ['completed', 'open', 9_000_000],
  );
  const over = await create({ sessionId, exceptionId, amount: paid - 4_000_000 + 1 });
  assert.equal(
    over.message,
    `Refund exceeds the refundable amount: ${paid} Micro-USD were paid, of which 4000000 went back`,
  );
  const rest = (await create({ sessionId, exceptionId })).data;
  assert.deepEqual([rest.amount, rest.refundedAmount], [paid - 4_000_000, 4_000_000]);
  // Cancelled, and mined all the same: it counts once, and ends the exception.
  assert.equal((await cancel(rest.refundId)).data.status, 'cancelled');
  await giveBack(second, paid - 4_000_000, paid);
  assert.deepEqual(
    [(await read(rest.refundId)).status, (await exceptions())[0].status],
    ['completed', 'resolved'],
  );
  assert.equal((await session(sessionId)).refundedAmount, 9_000_000);
});

test('only an open exception of the session, about a settled second payment, is refunded', async () => {
  const { sessionId, exceptionId, exceptions } = await settledTwice();
  const other = await settledTwice();
  const foreign = await world.addKey(await world.addMerchant());
  const said = async (body: object) => {
    const { code, message } = await create(body);
    return [code, message.split(': ').at(-1)];
  };
  assert.deepEqual(await said({ sessionId, exceptionId: 'exc_none' }), [100704, 'exc_none']);
  assert.deepEqual(await said({ sessionId, exceptionId: other.exceptionId }), [100704, other.exceptionId]);
  const body = { sessionId, exceptionId };
  assert.equal((await world.send('POST', '/refund/create', { key: foreign, body })).code, 100201);
  const [, duplicate] = await exceptions();
  assert.deepEqual(await said({ sessionId, exceptionId: duplicate.exceptionId }), [
    100702,
    'its money is not in your wallet',
  ]);
  await world.send('POST', '/exception/resolve', { key, body: { exceptionId } });
  assert.deepEqual(await said(body), [100702, 'the exception is resolved']);
});
