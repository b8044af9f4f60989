import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem';
import type { StoredOrder } from '#orders/stored-order.ts';
import { untilLockWaiter } from '../../../test/harness/lock-waiter.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addPaidSession, happen } from '../../../test/harness/payment-fixture.ts';

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

/** Ten dollars and the fee of 0.2 %, which the payer pays. The token has 6 decimals. */
const paid = 10_020_000;

// proves W9.3, W9.6
test('a settled payment waits for the merchant’s own transaction, which pays its payer through the gateway', async () => {
  const { sessionId, order } = await settledSession();
  const { data } = await create({ sessionId, amount: 4_000_000, reason: 'Broken cup' });
  const { refundId, txRequest, prerequisites } = data;
  const chain = world.deps.chains.byId(order.chainId);
  assert.deepEqual([data.status, data.amount, data.txHash], ['requires_signature', 4_000_000, '']);
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
  const { requiredBalance: _balance, txRequest: _request, prerequisites: _before, ...rest } = data;
  assert.deepEqual(await read(refundId), { ...rest, status: 'completed', txHash });
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

test('of two refunds that exceed the rest together, the executed one counts and the other fails', async () => {
  const { sessionId, order } = await settledSession();
  const all = (await create({ sessionId })).data.refundId;
  const most = (await create({ sessionId, amount: 9_000_000 })).data.refundId;
  const little = (await create({ sessionId, amount: 20_000 })).data.refundId;
  await giveBack(order, 9_000_000, 9_000_000);
  const statuses = [];
  for (const refundId of [all, most, little]) statuses.push((await read(refundId)).status);
  assert.deepEqual(statuses, ['failed', 'completed', 'requires_signature']);
  assert.deepEqual(await typesOf(all), ['refund.created', 'refund.failed']);
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

test('money given back without a refund still shows on the session', async () => {
  const { sessionId, order } = await settledSession();
  await giveBack(order, 500_000, 500_000);
  assert.equal((await session(sessionId)).refundedAmount, 500_000);
});

test('a refund after the settlement is not completed before its transaction is final', async () => {
  const { sessionId, order } = await settledSession();
  const { refundId } = (await create({ sessionId, amount: 500_000 })).data;
  const shown = { arguments: { value: '500000', refundedTotal: '500000' }, isFinal: false };
  await happen(world, order, 'SettlementRefunded', shown);
  assert.equal((await read(refundId)).status, 'requires_signature');
  assert.equal((await session(sessionId)).refundedAmount, 0);
});
