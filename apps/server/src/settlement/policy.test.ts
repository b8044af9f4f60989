import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData, getAddress } from 'viem';
import { type Chain, chainsOf } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import type { SettlementSettings } from './context.ts';
import { listOpenLegs, releaseOrder } from './held.ts';
import { payoutsUnderWay } from './leg.sql.ts';
import { newRoundState, type RoundState, settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());
beforeEach(() => {
  world.baseFee = 1n;
  world.gasOf = () => 200_000n;
  world.available = 10n ** 30n;
});

async function round(
  name: 'settle' | 'payout',
  chainName: string,
  settings: Partial<SettlementSettings> = {},
  state?: RoundState,
): Promise<void> {
  const deps = { ...world.deps, log: errorLog };
  await settlementRound(
    { ...deps, settings: { ...deps.settings, ...settings } },
    world.chain(chainName),
    name,
    state,
  );
}

/** The errors in the operator's log. */
const logged: string[] = [];
const errorLog: Log = { ...silentLog, error: (event) => void logged.push(event) };

async function paid(settlementToken = 'ethereum::usdc', unitPrice = 1_000_000): Promise<StoredOrder> {
  const sessionId = await world.openSession(settlementToken, unitPrice);
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  return order;
}

async function toPayOut(unitPrice?: number): Promise<StoredOrder> {
  const order = await paid('base::usdc', unitPrice);
  await world.mineFinal('ethereum', ['Settled', order]);
  return order;
}

async function legOf(order: StoredOrder, name = 'settle') {
  const leg = (await world.legs(order)).find((candidate) => candidate.leg === name);
  return [leg?.status, leg?.reason];
}

function replaced(chain: Chain): Chain {
  const { gateway, vault } = chain;
  const fresh = (byte: string): Hex => getAddress(`0x${byte.repeat(20)}`);
  return { ...chain, gateway: fresh('d1'), vault: fresh('d2'), previousContracts: [{ gateway, vault }] };
}

test('orders of a replaced gateway are settled on it, and new orders on the new one', async () => {
  const old = await paid();
  const moved = world.with({ chains: chainsOf(world.chains.all.map(replaced)) });
  const sessionId = await moved.openSession('ethereum::usdc');
  const young = await moved.signOrder(sessionId, 'ethereum::usdc');
  await moved.mineFinal('ethereum', ['Paid', young]);
  const chain = moved.chain('ethereum');
  for (let times = 0; times < 2; times += 1) await settlementRound(moved.deps, chain, 'settle');
  const recipients = [];
  for (const order of [old, young]) recipients.push((await moved.sent(order))[0]?.recipient);
  assert.deepEqual(recipients, [world.chain('ethereum').gateway, chain.gateway]);
  assert.deepEqual([old.gateway, young.gateway], recipients);
});

test('the vault that an order was signed for pays it, even when another vault is configured now', async () => {
  const order = await toPayOut();
  const moved = world.with({ chains: chainsOf(world.chains.all.map(replaced)) });
  await settlementRound(moved.deps, moved.chain('base'), 'payout');
  const payerOf = async (paid: StoredOrder) =>
    (await moved.sent(paid)).find(({ leg }) => leg === 'payout')?.recipient;
  assert.equal(await payerOf(order), world.chain('base').vault);
  const sessionId = await moved.openSession('base::usdc');
  const young = await moved.signOrder(sessionId, 'ethereum::usdc');
  await moved.mineFinal('ethereum', ['Paid', young], ['Settled', young]);
  await settlementRound(moved.deps, moved.chain('base'), 'payout');
  assert.equal(await payerOf(young), moved.chain('base').vault);
});

test('a batch that would revert is halved until only the order that reverts waits', async () => {
  const orders = [];
  for (let index = 0; index < 5; index += 1) orders.push(await paid());
  const [, bad] = orders;
  assert.ok(bad !== undefined);
  world.gasOf = (data) => (data.includes(bad.order.metaData.slice(2)) ? undefined : 200_000n);
  await round('settle', 'ethereum');
  const legs = [];
  for (const order of orders) legs.push(await legOf(order));
  const sent = ['sent', ''];
  assert.deepEqual(legs, [sent, ['waiting', 'reverted'], sent, sent, sent]);
});

test('a batch that needs too much gas is sent in smaller parts', async () => {
  const orders = [];
  for (let index = 0; index < 4; index += 1) orders.push(await paid());
  world.gasOf = (data) => BigInt(ordersIn(data)) * 6_000_000n;
  await round('settle', 'ethereum');
  const carriers = new Set<bigint | undefined>();
  for (const order of orders) carriers.add((await world.sent(order))[0]?.transaction_id);
  assert.deepEqual([carriers.size, carriers.has(undefined)], [2, false]);
});

function ordersIn(data: Hex): number {
  const { args } = decodeFunctionData({ abi: paymentGatewayAbi, data });
  const [orders] = args ?? [];
  return Array.isArray(orders) ? orders.length : 0;
}

test('the first order of a batch waits for others as long as the window, and no longer', async () => {
  const first = await paid();
  await round('settle', 'ethereum', { windowSeconds: 60 });
  assert.deepEqual(await legOf(first), ['waiting', '']);
  world.clock.time += 61_000;
  const second = await paid();
  await round('settle', 'ethereum', { windowSeconds: 60 });
  const [[one], [two]] = [await world.sent(first), await world.sent(second)];
  assert.ok(one !== undefined && one.transaction_id === two?.transaction_id);
});

test('settlements wait while the base fee is above its limit, and one log line says so', async () => {
  const order = await paid();
  world.baseFee = 31_000_000_000n;
  const state = newRoundState();
  logged.length = 0;
  await round('settle', 'ethereum', { maxBaseFeeGwei: 30 }, state);
  assert.deepEqual([await legOf(order), logged], [['waiting', ''], []]);
  world.clock.time += 601_000;
  for (let times = 0; times < 3; times += 1) await round('settle', 'ethereum', { maxBaseFeeGwei: 30 }, state);
  assert.deepEqual(logged, ['settlement.gas_too_high']);
  world.baseFee = 30_000_000_000n;
  await round('settle', 'ethereum', { maxBaseFeeGwei: 30 }, state);
  assert.deepEqual(await legOf(order), ['sent', '']);
});

test('a payout over a cap of the operator is held until a person releases it', async () => {
  const orders = [await toPayOut(), await toPayOut()] as const;
  const outflow = {
    perOrder: microUsd(2_000_000n),
    hourly: microUsd(1_000_000n),
    daily: microUsd(9_000_000n),
  };
  world.clock.time += 2 * 3_600_000;
  logged.length = 0;
  for (let times = 0; times < 2; times += 1) {
    await round('payout', 'base', { outflow });
    world.clock.time += 1_000;
  }
  const legs = await Promise.all(orders.map((order) => legOf(order, 'payout')));
  assert.deepEqual(legs.sort(), [
    ['sent', ''],
    ['waiting', 'outflow_cap'],
  ]);
  assert.deepEqual(logged, ['settlement.held']);
  const held = (await listOpenLegs(world.database.db, 100)).filter(({ retryAt }) => retryAt === undefined);
  assert.deepEqual(
    held.map(({ leg, reason, netValue }) => ({ leg, reason, netValue })),
    [{ leg: 'payout', reason: 'outflow_cap', netValue: 994_000n }],
  );
  const [first] = held;
  assert.ok(first !== undefined);
  const released = await world.database.db.transaction((transaction) =>
    releaseOrder(transaction, first.orderId, world.clock.now()),
  );
  assert.deepEqual(released, [{ leg: 'payout', chainId: 31_338, wasHeld: true }]);
  await round('payout', 'base', { outflow });
  const after = await Promise.all(orders.map((order) => legOf(order, 'payout')));
  assert.deepEqual(after, [
    ['sent', ''],
    ['sent', ''],
  ]);
});

test('a payout that has waited long for a cap of its vault is served before younger ones', async () => {
  const unit = 10n ** 18n;
  const [row] = await world.database.db.query(payoutsUnderWay, {
    chainId: 31_338,
    settlementToken: 'base::usdc',
  });
  const underWay = (row?.net_value ?? 0n) * 10n ** 12n;
  const large = await toPayOut(10_000_000);
  world.available = underWay + 5n * unit;
  await round('payout', 'base');
  world.clock.time += 1_801_000;
  const young = await toPayOut();
  await round('payout', 'base');
  assert.deepEqual(await legOf(large, 'payout'), ['waiting', 'vault_short']);
  assert.deepEqual(await legOf(young, 'payout'), ['waiting', 'vault_short']);
  // When the vault itself holds too little, waiting does not help, so others go first.
  world.held = 5n * unit;
  world.clock.time += 60_000;
  await round('payout', 'base');
  assert.deepEqual(await legOf(large, 'payout'), ['waiting', 'vault_short']);
  assert.deepEqual(await legOf(young, 'payout'), ['sent', '']);
});
