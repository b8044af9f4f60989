import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { chainsOf } from '#chains/chain.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { delayLeg, findLeg, requestLeg, showLegNotMined } from './leg.ts';
import { settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function settleRound(
  chainName: string,
  name: 'settle' | 'payout' | 'refund' = 'settle',
): Promise<void> {
  await settlementRound(world.deps, world.chain(chainName), name);
}

const refuseAttempts = statement({
  name: 'settlement_test_refuse_attempts',
  parameters: { orderId: 'text' },
  text: `update sent_attempts a set refusal = 'max fee per gas less than block base fee' from settlements l
   where l.order_id = :orderId and a.transaction_id = l.transaction_id`,
});

const payoutValues = { amount: '994000000000000000' };

test('the service makes a settlement again that a third party made and a reorg removed', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  // Our settlement is skipped because the recipient is blocked; later a third party settles.
  await world.mine('ethereum', ['SettleSkipped', order, { reason: '3' }]);
  await world.mine('ethereum', ['Settled', order]);
  await world.makeFinal('ethereum', 1n);
  await world.reorg('ethereum');
  assert.deepEqual(await world.legs(order), [
    { leg: 'settle', status: 'waiting', reason: 'recipient_blocked', attempts: 1 },
  ]);
});

test('a payment that is settled and paid out before its session is known to be paid completes it', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  // As after a restored backup, when the target chain is read again before the chain of the payment.
  const targetTx = await world.mineFinal('base', ['PaidOut', order, payoutValues]);
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.completeTx], ['completed', targetTx]);
  assert.deepEqual(await world.legs(order), [{ leg: 'settle', status: 'done', reason: '', attempts: 0 }]);
});

const other = `0x${'ee'.repeat(20)}`;
/** Payouts of something else than orders are owed: the vault's chain, and what differs. */
const wrongPayouts = () =>
  [
    ['base', { to: other }],
    ['base', { amount: '1' }],
    ['base', { token: other }],
    ['ethereum', { token: world.chain('base').tokens[0]?.address ?? '' }],
  ] as const;

async function vaultBalance(chainName: string): Promise<bigint> {
  const isOfVault = (each: { account: string; asset: string }) =>
    each.account === `vault:${chainName}` && each.asset === 'base::usdc';
  return (await ledgerBalances(world.database.db)).find(isOfVault)?.balance ?? 0n;
}

/** The payout waits for a person: no later round sends it, and its session says why. */
async function assertHeld(sessionId: string, order: StoredOrder): Promise<void> {
  world.clock.time += 86_400_000;
  await settleRound('base', 'payout');
  const { status, pendingReason } = await world.session(sessionId);
  assert.deepEqual([status, pendingReason], ['settlement_pending', 'order_in_doubt']);
  const payout = (await world.legs(order)).find(({ leg }) => leg === 'payout');
  assert.deepEqual([payout?.status, payout?.reason], ['waiting', 'order_in_doubt']);
}

test('a payout to another address, of another amount or token, or on another chain is booked and held', async () => {
  for (const [chainName, differs] of wrongPayouts()) {
    const sessionId = await world.openSession('base::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
    await settleRound('base', 'payout');
    const values = { ...payoutValues, ...differs };
    const held = await vaultBalance(chainName);
    await world.mineFinal(chainName, ['PaidOut', order, values]);
    assert.equal(await vaultBalance(chainName), held - BigInt(values.amount));
    await assertHeld(sessionId, order);
  }
});

test('a payout of something else that was final before the settlement is booked, and the right one is held', async () => {
  for (const [chainName, differs] of wrongPayouts()) {
    const sessionId = await world.openSession('base::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    const values = { ...payoutValues, ...differs };
    const held = await vaultBalance(chainName);
    await world.mineFinal(chainName, ['PaidOut', order, values]);
    assert.equal(await vaultBalance(chainName), held - BigInt(values.amount));
    await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
    await assertHeld(sessionId, order);
  }
});

test('money that a settlement sends to a vault is float, even if the order names another recipient', async () => {
  const { vault } = world.chain('ethereum');
  const floatOf = async () => {
    const balances = await ledgerBalances(world.database.db);
    return ['vault:ethereum', 'float'].map(
      (account) =>
        balances.find((each) => each.account === account && each.asset === 'ethereum::usdc')?.balance ?? 0n,
    );
  };
  const [held = 0n, float = 0n] = await floatOf();
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.mineFinal('ethereum', ['Settled', order, { to: vault }]);
  assert.deepEqual(await floatOf(), [held + 998_000n, float - 998_000n]);
  assert.equal((await world.session(sessionId)).status, 'completed');
  const crossing = await world.openSession('base::usdc');
  const toElsewhere = await world.signOrder(crossing, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', toElsewhere]);
  await world.mineFinal('ethereum', ['Settled', toElsewhere, { to: `0x${'d4'.repeat(20)}` }]);
  assert.deepEqual(await floatOf(), [held + 998_000n, float - 998_000n], 'to a vault that is not ours');
});

test('the merchant is notified when a payment goes back to its payer instead of being settled', async () => {
  for (const [name, kind] of [
    ['Reclaimed', 'reclaimed'],
    ['Refunded', 'refunded'],
  ] as const) {
    const sessionId = await world.openSession('ethereum::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order]);
    await world.mineFinal('ethereum', [name, order]);
    assert.deepEqual((await world.eventsOf(sessionId)).slice(-1), [`session.exception ${kind}`]);
    assert.deepEqual(await world.legs(order), [{ leg: 'settle', status: 'done', reason: kind, attempts: 0 }]);
  }
});

test('a requested refund is no exception', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  const at = world.clock.now();
  const chainId = world.chain('ethereum').chainId;
  await world.database.db.transaction((transaction) =>
    requestLeg(transaction, order, { name: 'refund', chainId, at }),
  );
  await world.mineFinal('ethereum', ['Refunded', order]);
  const events = await world.eventsOf(sessionId);
  assert.equal(events.filter((type) => type.startsWith('session.exception')).length, 0);
});

test('the merchant is notified when a stranger settles a second payment before it goes back', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const first = await world.signOrder(sessionId, 'ethereum::usdc');
  const second = await world.signOrder(sessionId, 'base::usdc');
  await world.mineFinal('ethereum', ['Paid', first]);
  await world.mineFinal('base', ['Paid', second]);
  await world.mineFinal('base', ['Settled', second]);
  assert.deepEqual((await world.eventsOf(sessionId)).slice(-2), [
    'session.exception duplicate',
    'session.exception duplicate_settled',
  ]);
  assert.deepEqual(await world.legs(second), [
    { leg: 'refund', status: 'done', reason: 'settled', attempts: 0 },
  ]);
});

test('a token that is no longer configured stops neither its chain nor the books', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdt');
  const all = world.chains.all.map((chain) => ({ ...chain, tokens: [] }));
  const bare = world.with({ chains: chainsOf(all) });
  await bare.mineFinal('ethereum', ['Paid', order]);
  await bare.mineFinal('ethereum', ['Settled', order]);
  await bare.mineFinal('base', ['PaidOut', order, { amount: '994000000000000000' }]);
  assert.equal((await world.session(sessionId)).status, 'completed');
  const balances = await ledgerBalances(world.database.db);
  assert.equal(balances.find(({ asset }) => asset === 'ethereum::usdt')?.asset, 'ethereum::usdt');
});

test('a payout whose token is no longer configured waits, and holds up no other payout', async () => {
  const sessions = [
    await world.openSession('base::usdc'),
    await world.openSession('ethereum::usdt'),
  ] as const;
  const orders = [
    await world.signOrder(sessions[0], 'ethereum::usdc'),
    await world.signOrder(sessions[1], 'base::usdc'),
  ] as const;
  await world.mineFinal('ethereum', ['Paid', orders[0]], ['Settled', orders[0]]);
  await world.mineFinal('base', ['Paid', orders[1]], ['Settled', orders[1]]);
  const all = world.chains.all.map((chain) =>
    chain.name === 'ethereum'
      ? { ...chain, tokens: chain.tokens.filter((token) => token.symbol !== 'USDT') }
      : chain,
  );
  const bare = world.with({ chains: chainsOf(all) });
  for (const chain of bare.chains.all) await settlementRound(bare.deps, chain, 'payout');
  assert.equal((await findLeg(world.database.db, orders[0].orderId, 'payout'))?.status, 'sent');
  const waiting = (await world.legs(orders[1])).find((leg) => leg.leg === 'payout');
  assert.deepEqual(waiting, { leg: 'payout', status: 'waiting', reason: 'token_not_served', attempts: 1 });
  assert.equal((await world.session(sessions[1])).status, 'settlement_pending');
});

test('a completed session is not shown as delayed by a worker that read its leg earlier', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  const seen = await findLeg(world.database.db, order.orderId, 'settle');
  assert.ok(seen?.status === 'sent');
  await world.mineFinal('ethereum', ['Settled', order]);
  await world.database.db.transaction((transaction) => showLegNotMined(transaction, world.moves, seen));
  assert.equal((await world.session(sessionId)).status, 'completed');
});

test('a settlement that stays unmined is shown as delayed, once', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  world.clock.time += 601_000;
  await settleRound('ethereum');
  await settleRound('ethereum');
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.pendingReason], ['settlement_pending', 'not_mined']);
  const events = await world.eventsOf(sessionId);
  assert.equal(events.filter((type) => type === 'session.settlement_pending').length, 1);
});

test('a settlement whose transaction every node refuses is shown as delayed within a minute', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  await world.database.db.query(refuseAttempts, { orderId: order.orderId });
  await settleRound('ethereum');
  assert.equal((await world.session(sessionId)).status, 'settling');
  world.clock.time += 31_000;
  await settleRound('ethereum');
  const { status, pendingReason } = await world.session(sessionId);
  assert.deepEqual([status, pendingReason], ['settlement_pending', 'not_mined']);
});

test('settlements of a replaced settler key are sent again after a while', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  const sentBefore = (await findLeg(world.database.db, order.orderId, 'settle'))?.transactionId;
  const successor = world.with({ settlerKey: `0x${'33'.repeat(32)}` });
  const chain = successor.chain('ethereum');
  await settlementRound(successor.deps, chain, 'settle');
  assert.equal((await findLeg(world.database.db, order.orderId, 'settle'))?.transactionId, sentBefore);
  successor.clock.time += 601_000;
  await settlementRound(successor.deps, chain, 'settle');
  successor.clock.time += 601_000;
  await settlementRound(successor.deps, chain, 'settle');
  const leg = await findLeg(world.database.db, order.orderId, 'settle');
  assert.deepEqual([leg?.status, leg?.attempts], ['sent', 2]);
  assert.notEqual(leg?.transactionId, sentBefore);
});

test('a worker that could not send a leg does not delay it after another worker has sent it', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  const read = await findLeg(world.database.db, order.orderId, 'settle');
  assert.ok(read?.status === 'waiting');
  await settleRound('ethereum');
  await world.database.db.transaction((transaction) => delayLeg(transaction, world.moves, read, 'reverted'));
  assert.equal((await findLeg(world.database.db, order.orderId, 'settle'))?.status, 'sent');
  assert.equal((await world.session(sessionId)).status, 'settling');
});

for (const [reason, what] of [
  ['4', 'for which the stranger is no settler'],
  ['6', 'that can only be reclaimed'],
] as const)
  test(`a stranger’s refused settlement of an order ${what} delays nothing`, async () => {
    const sessionId = await world.openSession('base::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order]);
    await settleRound('ethereum');
    await world.mineFinal('ethereum', ['SettleSkipped', order, { reason }]);
    assert.deepEqual(await world.legs(order), [{ leg: 'settle', status: 'sent', reason: '', attempts: 1 }]);
    assert.equal((await world.session(sessionId)).status, 'settling');
  });

test('a skipped settlement delays nothing if the payment is back by the same final block', async () => {
  for (const name of ['Reclaimed', 'Refunded'] as const) {
    const sessionId = await world.openSession('ethereum::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order]);
    await settleRound('ethereum');
    await world.mine('ethereum', ['SettleSkipped', order, { reason: '3' }]);
    await world.mineFinal('ethereum', [name, order]);
    assert.deepEqual(
      (await world.legs(order)).map(({ status }) => status),
      ['done'],
    );
    const { status, refundedAmount } = await world.session(sessionId);
    assert.deepEqual([status, refundedAmount], ['paid', order.amounts.totalValue], name);
  }
});

test('a payment that is read after its return is not settled forever', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Refunded', order]);
  // Only a second reading of its block finds it.
  await world.mineFinal('ethereum', ['Paid', order]);
  await settleRound('ethereum');
  await world.mineFinal('ethereum', ['SettleSkipped', order, { reason: '1' }]);
  const { status, refundedAmount } = await world.session(sessionId);
  assert.deepEqual([status, refundedAmount], ['paid', order.amounts.totalValue]);
  assert.deepEqual(
    (await world.legs(order)).map(({ leg, status: now }) => [leg, now]),
    [['settle', 'done']],
  );
  assert.equal((await world.eventsOf(sessionId)).at(-1), 'session.exception refunded');
});

// Last, because the chain stays halted.
test('a halted chain gets no settlements, and no vault pays for payments on it', async () => {
  const sessions = [await world.openSession('base::usdc'), await world.openSession('base::usdc')] as const;
  const order = await world.signOrder(sessions[0], 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await world.halt('ethereum');
  await settleRound('base', 'payout');
  assert.equal((await findLeg(world.database.db, order.orderId, 'payout'))?.status, 'waiting');
  await assert.rejects(world.signOrder(sessions[1], 'ethereum::usdc'), { slug: 'chain_unavailable' });
  await world.signOrder(sessions[1], 'base::usdc');
});
