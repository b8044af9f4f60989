import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, toHex } from 'viem';
import { chainsOf } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import type { ContractCall } from '../../test/harness/settlement-node.ts';
import type { LegName } from './leg.ts';
import { settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());
beforeEach(async () => {
  // The tests share a clock: legs of earlier ones would come due.
  await world.database.db.query(holdAll, { at: world.clock.now() });
  world.orderStatus = 2;
  world.paidBy.clear();
  world.otherNodes = [];
  world.refusing.clear();
  logged.length = 0;
});

const thief: Hex = getAddress(`0x${'ee'.repeat(20)}`);
const logged: unknown[] = [];
const log: Log = {
  ...silentLog,
  warn: (event) => void logged.push(event),
  error: (event, _error, fields) => void logged.push(`${event} ${fields?.['mismatch'] ?? ''}`.trim()),
};

const changeOrder = statement({
  name: 'verified_items_test_change',
  parameters: {
    orderId: 'text',
    recipient: 'text',
    via: 'text',
    gateway: 'text',
    vault: 'text',
    net: 'int8',
  },
  text: `update orders set recipient = :recipient, via = :via, gateway = :gateway, payout_vault = :vault, net_value = :net
   where order_id = :orderId`,
});
const holdAll = statement({
  name: 'verified_items_test_hold',
  parameters: { at: 'timestamptz' },
  text: `update settlements set held_at = :at where status = 'waiting'`,
});
const addPayout = statement({
  name: 'verified_items_test_leg',
  parameters: { orderId: 'text', sessionId: 'text', chainId: 'int8', at: 'timestamptz' },
  text: `insert into settlements (order_id, leg, session_id, chain_id, status, retry_at, created_at, updated_at)
   values (:orderId, 'payout', :sessionId, :chainId, 'waiting', :at, :at, :at)`,
});

const moveLeg = statement({
  name: 'verified_items_test_move',
  parameters: { orderId: 'text', chainId: 'int8' },
  text: `update settlements set chain_id = :chainId where order_id = :orderId and leg = 'payout'`,
});

const setToken = statement({
  name: 'verified_items_test_token',
  parameters: { sessionId: 'text', token: 'text' },
  text: 'update sessions set settlement_token = :token where session_id = :sessionId',
});

interface Changes {
  readonly recipient?: Hex;
  readonly via?: Hex;
  readonly gateway?: Hex;
  readonly vault?: Hex;
  readonly net?: bigint;
}

/** Changes the row of an order, as a writer to the database can. */
async function change({ orderId, order, gateway, payoutVault, amounts }: StoredOrder, changes: Changes) {
  await world.database.db.query(changeOrder, {
    ...{ orderId, recipient: order.to, via: order.via, gateway, vault: payoutVault, net: amounts.netValue },
    ...changes,
  });
}

async function paid(settlementToken: string): Promise<StoredOrder> {
  const order = await world.signOrder(await world.openSession(settlementToken), 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  return order;
}

async function toPayOut(): Promise<StoredOrder> {
  const order = await paid('base::usdc');
  await world.mineFinal('ethereum', ['Settled', order]);
  return order;
}

async function send(leg: LegName): Promise<void> {
  const chain = world.chain(leg === 'payout' ? 'base' : 'ethereum');
  await settlementRound({ ...world.deps, log }, chain, leg);
}

async function stateOf(order: StoredOrder, name: LegName): Promise<string> {
  const leg = (await world.legs(order)).find((candidate) => candidate.leg === name);
  return `${leg?.status} ${leg?.reason}`.trim();
}

const waits = 'waiting order_in_doubt';

const changedPayouts: Readonly<Record<string, readonly [Changes, string]>> = {
  'to another recipient': [{ recipient: thief }, 'id'],
  'of more than the payment': [{ net: 777_000_000n }, 'amount'],
  'from another vault': [{ vault: thief }, 'vault'],
  'of a payment at another gateway': [{ gateway: thief }, 'gateway'],
  'of a payment that settled elsewhere': [{ via: thief }, 'via'],
};

for (const [what, [changes, mismatch]] of Object.entries(changedPayouts)) {
  test(`no payout ${what} is signed because a row in the database says so, and the operator is alarmed`, async () => {
    const order = await toPayOut();
    await change(order, changes);
    await send('payout');
    assert.equal(await stateOf(order, 'payout'), waits);
    assert.deepEqual(logged, [`settlement.order_in_doubt ${mismatch}`]);
    assert.equal((await world.session(order.sessionId)).pendingReason, 'order_in_doubt');
    await change(order, {});
    world.clock.time += 10_000;
    await send('payout');
    assert.equal(await stateOf(order, 'payout'), 'sent');
  });
}

test('no vault pays for an order that its gateway does not call settled, whatever the database says', async () => {
  const order = await world.signOrder(await world.openSession('base::usdc'), 'ethereum::usdc');
  const { chainId } = world.chain('base');
  const { orderId, sessionId } = order;
  await world.database.db.query(addPayout, { orderId, sessionId, chainId, at: world.clock.now() });
  for (const status of [0, 1, 3, 4]) {
    world.orderStatus = status;
    await send('payout');
    assert.equal(await stateOf(order, 'payout'), 'waiting');
    world.clock.time += 120_000;
  }
  assert.deepEqual(logged, Array(4).fill('settlement.not_settled_yet'));
  world.clock.time += 600_000;
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), waits);
});

/** The same chains, of which the blocks are final once two providers say so. */
const sharedChains = () =>
  chainsOf(world.chains.all.map((chain) => ({ ...chain, finality: { ...chain.finality, quorum: 2 } })));

async function sendOfQuorum(): Promise<void> {
  const chains = sharedChains();
  const [base] = chains.all.filter(({ name }) => name === 'base');
  assert.ok(base);
  await settlementRound({ ...world.deps, chains, log }, base, 'payout');
}

const [open, settled] = [toHex(1, { size: 32 }), toHex(2, { size: 32 })];
const isOfFinal = ({ at }: ContractCall) => typeof at === 'object';

/** What the second of two providers says of a settled order, and whether its payout is sent. */
const secondProviders: Readonly<Record<string, readonly [(call: ContractCall) => Hex | undefined, string]>> =
  {
    'says so, too': [() => settled, 'sent'],
    'says that it is open': [() => open, 'waiting'],
    'does not answer': [() => undefined, 'waiting'],
    'says so of its newest block alone': [(call) => (isOfFinal(call) ? open : settled), 'waiting'],
    'says so of the final block alone': [(call) => (isOfFinal(call) ? settled : open), 'sent'],
    'keeps no state of final blocks': [(call) => (isOfFinal(call) ? undefined : settled), 'sent'],
  };

for (const [what, [answer, status]] of Object.entries(secondProviders)) {
  test(`a gateway calls an order settled, and the second provider ${what}: the payout is ${status}`, async () => {
    const order = await toPayOut();
    world.otherNodes = [answer];
    await sendOfQuorum();
    assert.equal(await stateOf(order, 'payout'), status);
    assert.deepEqual(logged, status === 'sent' ? [] : ['settlement.not_settled_yet']);
  });
}

test('one provider that lies neither makes a vault pay nor stops a payout that two others confirm', async () => {
  const order = await toPayOut();
  world.orderStatus = 1;
  world.otherNodes = [() => settled, () => open];
  await sendOfQuorum();
  assert.equal(await stateOf(order, 'payout'), 'waiting');
  world.clock.time += 10_000;
  world.otherNodes = [() => settled, () => settled];
  await sendOfQuorum();
  assert.equal(await stateOf(order, 'payout'), 'sent');
});

test('providers that are behind the final block hold up no payout, and confirm none', async () => {
  const order = await toPayOut();
  const isBehind = (call: ContractCall) => (isOfFinal(call) ? undefined : open);
  world.otherNodes = [isBehind, isBehind];
  await sendOfQuorum();
  assert.equal(await stateOf(order, 'payout'), 'waiting', 'only one of two says so');
  world.clock.time += 10_000;
  world.otherNodes = [() => settled, isBehind, isBehind];
  await sendOfQuorum();
  assert.equal(await stateOf(order, 'payout'), 'sent');
  const next = await toPayOut();
  world.otherNodes = [isBehind];
  await send('payout');
  assert.equal(await stateOf(next, 'payout'), 'sent', 'one provider is enough');
});

test('the vault of another chain than the order’s does not pay it', async () => {
  const order = await toPayOut();
  await world.database.db.query(moveLeg, { orderId: order.orderId, chainId: order.chainId });
  await settlementRound({ ...world.deps, log }, world.chain('ethereum'), 'payout');
  assert.equal(await stateOf(order, 'payout'), waits);
  assert.equal(logged.at(-1), 'settlement.order_in_doubt chain');
  const { chainId } = world.chain('base');
  await world.database.db.query(moveLeg, { orderId: order.orderId, chainId });
  world.clock.time += 10_000;
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), 'sent');
});

test('no vault pays an order that another vault of its chain has paid, and an address without a vault stops nothing', async () => {
  const order = await toPayOut();
  const formerVault = getAddress(`0x${'ab'.repeat(20)}`);
  const previous = [{ gateway: getAddress(`0x${'aa'.repeat(20)}`), vault: formerVault }];
  const chains = chainsOf(
    world.chains.all.map((chain) =>
      chain.name === 'base' ? { ...chain, previousContracts: previous } : chain,
    ),
  );
  const [base] = chains.all.filter(({ name }) => name === 'base');
  assert.ok(base);
  const payOut = () => settlementRound({ ...world.deps, chains, log }, base, 'payout');
  world.paidBy.add(formerVault);
  await payOut();
  assert.equal(await stateOf(order, 'payout'), waits);
  assert.deepEqual(logged, ['settlement.order_in_doubt paid']);
  world.paidBy.clear();
  world.otherNodes = [({ to }) => toHex(to === formerVault || 2, { size: 32 })];
  world.clock.time += 10_000;
  await payOut();
  assert.equal(await stateOf(order, 'payout'), waits, 'one provider says so');
  world.otherNodes = [];
  world.refusing.add(formerVault);
  world.clock.time += 10_000;
  await payOut();
  assert.equal(await stateOf(order, 'payout'), 'sent');
});

test('no vault pays for an order whose money the gateway has given to its merchant', async () => {
  const order = await paid('ethereum::usdc');
  await world.mineFinal('ethereum', ['Settled', order]);
  const { orderId, sessionId, chainId } = order;
  await world.database.db.query(addPayout, { orderId, sessionId, chainId, at: world.clock.now() });
  await settlementRound({ ...world.deps, log }, world.chain('ethereum'), 'payout');
  assert.equal(await stateOf(order, 'payout'), waits);
  assert.deepEqual(logged, ['settlement.order_in_doubt type']);
});

test('no vault pays in another token than that of the order’s channel', async () => {
  const order = await toPayOut();
  await world.database.db.query(setToken, { sessionId: order.sessionId, token: 'ethereum::usdc' });
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), waits);
  assert.deepEqual(logged, ['settlement.order_in_doubt settlement_token']);
  await world.database.db.query(setToken, { sessionId: order.sessionId, token: 'base::usdc' });
  world.clock.time += 10_000;
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), 'sent');
});

test('a payout waits while the chain of its payment cannot be read or is not configured, and goes on afterwards', async () => {
  const order = await toPayOut();
  const { gateway } = world.chain('ethereum');
  world.refusing.add(gateway);
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), 'waiting');
  world.refusing.delete(gateway);
  const without = world.with({ chains: chainsOf(world.chains.all.filter(({ name }) => name === 'base')) });
  world.clock.time += 10_000;
  await settlementRound({ ...without.deps, clock: world.clock, log }, world.chain('base'), 'payout');
  assert.deepEqual(logged, ['settlement.not_settled_yet', 'settlement.order_in_doubt chain']);
  world.clock.time += 60_000;
  await send('payout');
  assert.equal(await stateOf(order, 'payout'), 'sent');
});

test('a settlement goes neither to another gateway nor through another way out, and holds up no other', async () => {
  const [foreign, diverted, changed, senseless, sound] = [
    await paid('ethereum::usdc'),
    await paid('ethereum::usdc'),
    await paid('base::usdc'),
    await paid('ethereum::usdc'),
    await paid('ethereum::usdc'),
  ];
  await change(foreign, { gateway: thief });
  await change(diverted, { via: thief });
  await change(changed, { recipient: thief });
  await change(senseless, { recipient: '0xnobody' });
  await send('settle');
  const states = await Promise.all(
    [foreign, diverted, changed, senseless, sound].map((order) => stateOf(order, 'settle')),
  );
  assert.deepEqual(states, [waits, waits, waits, waits, 'sent']);
  assert.deepEqual(
    logged.sort(),
    ['gateway', 'id', 'id', 'via'].map((mismatch) => `settlement.order_in_doubt ${mismatch}`),
  );
});

test('money goes back through a configured gateway alone, and `via` stops no return', async () => {
  const [foreign, diverted] = [await paid('ethereum::usdc'), await paid('base::usdc')];
  await change(foreign, { gateway: thief });
  await change(diverted, { via: thief });
  world.clock.time = Number(diverted.order.reclaimAt) * 1_000;
  await send('settle');
  assert.deepEqual([await stateOf(foreign, 'settle'), await stateOf(diverted, 'settle')], [waits, 'sent']);
});
