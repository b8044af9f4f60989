import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData } from 'viem';
import type { StoredOrder } from '#orders/stored-order.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { settlementRound } from './settlement.ts';
import { alarmUnsettled } from './unsettled.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

/** The errors in the operator's log. */
const logged: string[] = [];
const errorLog: Log = { ...silentLog, error: (event) => void logged.push(event) };

async function paid(settlementToken = 'ethereum::usdc'): Promise<StoredOrder> {
  const order = await world.signOrder(await world.openSession(settlementToken), 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  return order;
}

const goTo = (seconds: bigint) => {
  world.clock.time = Number(seconds) * 1_000;
};

async function alarms(order: StoredOrder): Promise<string[]> {
  const types = await world.eventsOf(order.sessionId);
  return types.filter((type) => type.startsWith('session.exception'));
}

/** Runs a round and returns the names of the gateway's functions that it planned to call, with the orders. */
async function calledIn(): Promise<string[]> {
  const calls = new Set<string>();
  world.gasOf = (data: Hex) => {
    const { functionName, args } = decodeFunctionData({ abi: paymentGatewayAbi, data });
    const orders = (functionName === 'settle' ? args[0] : [args?.[0]]) as readonly { metaData: Hex }[];
    calls.add([functionName, ...orders.map(({ metaData }) => metaData)].join(' '));
    return 200_000n;
  };
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  return [...calls].toSorted();
}

test('an unsettled payment alarms operator and merchant once, when half of its time is over', async () => {
  const order = await paid();
  const { payBy, reclaimAt } = order.order;
  const deps = { ...world.deps, log: errorLog };
  goTo(payBy + (reclaimAt - payBy) / 2n - 1n);
  await alarmUnsettled(deps);
  assert.deepEqual([await alarms(order), logged], [[], []]);
  goTo(payBy + (reclaimAt - payBy) / 2n);
  for (let times = 0; times < 2; times += 1) await alarmUnsettled(deps);
  assert.deepEqual(await alarms(order), ['session.exception unsettled']);
  assert.deepEqual(logged.splice(0), ['settlement.overdue']);
  await world.mineFinal('ethereum', ['Settled', order]);
  const settled = await paid();
  await world.mineFinal('ethereum', ['Settled', settled]);
  goTo(settled.order.reclaimAt);
  await alarmUnsettled(deps);
  assert.deepEqual([await alarms(settled), logged], [[], []], 'a settled payment alarms nobody');
});

test('a payment that a reorg took back is not told as unsettled until it is back', async () => {
  const order = await paid();
  const { payBy, reclaimAt } = order.order;
  await world.dropFinal('ethereum', 1n);
  goTo(payBy + (reclaimAt - payBy) / 2n);
  const deps = { ...world.deps, log: errorLog };
  await alarmUnsettled(deps);
  assert.deepEqual([await alarms(order), logged], [[], []]);
  await world.mineFinal('ethereum', ['Paid', order]);
  await alarmUnsettled(deps);
  assert.deepEqual(
    [await alarms(order), logged.splice(0)],
    [['session.exception unsettled'], ['settlement.overdue']],
  );
  await world.mineFinal('ethereum', ['Settled', order]);
});

test('the service settles a payment before its time to reclaim, and returns it to its payer from then on', async () => {
  const first = await paid();
  const second = await paid();
  goTo(first.order.reclaimAt - 1n);
  const settling = [first, second].map(({ order }) => order.metaData).toSorted();
  const [settle = '', ...others] = await calledIn();
  assert.deepEqual([settle.split(' ').toSorted().slice(0, 2), others], [settling, []]);

  const same = await paid();
  const late = [same, await paid('base::usdc')];
  goTo(same.order.reclaimAt);
  const open = await paid();
  assert.deepEqual(
    await calledIn(),
    [`settle ${open.order.metaData}`, ...late.map(({ order }) => `reclaim ${order.metaData}`)].toSorted(),
  );
  for (const order of late) {
    // The session shows no settlement, because there will be none.
    assert.equal((await world.session(order.sessionId)).status, 'paid');
    await world.mineFinal('ethereum', ['Reclaimed', order]);
    assert.deepEqual(await alarms(order), ['session.exception reclaimed']);
    assert.deepEqual(await world.legs(order), [
      { leg: 'settle', status: 'done', reason: 'reclaimed', attempts: 1 },
    ]);
    assert.equal((await world.session(order.sessionId)).refundedAmount, order.amounts.totalValue);
  }
});

test('a return that would revert, because the clock of the chain is behind, is tried again', async () => {
  const order = await paid();
  goTo(order.order.reclaimAt);
  world.gasOf = () => undefined;
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  assert.deepEqual(await world.legs(order), [
    { leg: 'settle', status: 'waiting', reason: 'reverted', attempts: 1 },
  ]);
  world.clock.time += 60_000;
  assert.deepEqual(await calledIn(), [`reclaim ${order.order.metaData}`]);
});
