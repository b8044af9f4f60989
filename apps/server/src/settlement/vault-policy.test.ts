import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { maxMicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress } from 'viem';
import { type Chain, chainsOf } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import type { SettlementSettings } from './context.ts';
import { newRoundState, type RoundState, settlementRound } from './settlement.ts';
import { showUnconfigured } from './stuck-leg.ts';

const unit = 10n ** 18n;
const boundless = 10n ** 30n;

// Each test has a world of its own, so that no payout waits for those of another test.
let world: SettlementWorld;
beforeEach(async () => {
  world = await SettlementWorld.open();
  logged.length = 0;
});
afterEach(() => world.close());

/** The errors in the operator's log. */
const logged: string[] = [];
const errorLog: Log = { ...silentLog, error: (event) => void logged.push(event) };

async function payOut(
  given: { in?: SettlementWorld; state?: RoundState; settings?: Partial<SettlementSettings> } = {},
): Promise<void> {
  const at = given.in ?? world;
  const settings = { ...at.deps.settings, ...given.settings };
  await settlementRound({ ...at.deps, log: errorLog, settings }, at.chain('base'), 'payout', given.state);
}

/** A settled payment on another chain, which the vault is to pay out. */
async function toPayOut(usd = 1, at = world): Promise<StoredOrder> {
  const sessionId = await at.openSession('base::usdc', usd * 1_000_000);
  const order = await at.signOrder(sessionId, 'ethereum::usdc');
  await at.mineFinal('ethereum', ['Paid', order]);
  await at.mineFinal('ethereum', ['Settled', order]);
  return order;
}

async function legOf(order: StoredOrder): Promise<string> {
  const leg = (await world.legs(order)).find((candidate) => candidate.leg === 'payout');
  return `${leg?.status} ${leg?.reason}`.trim();
}

async function shownOf({ sessionId }: StoredOrder): Promise<string> {
  const { status, pendingReason } = await world.session(sessionId);
  return `${status} ${pendingReason}`.trim();
}

/** Until a payout that waits for caps is served before younger ones. */
function waitLong(): void {
  world.clock.time += 1_801_000;
}

for (const cap of ['perOrderCap', 'hourlyCap', 'dailyCap'] as const) {
  test(`a payout over a ${cap} that was lowered shows that it waits, holds up no other, and is made once the cap is raised`, async () => {
    const large = await toPayOut(10);
    world[cap] = 5n * unit;
    world.available = 5n * unit;
    const state = newRoundState();
    await payOut({ state });
    waitLong();
    const young = await toPayOut();
    for (let times = 0; times < 2; times += 1) await payOut({ state });
    assert.deepEqual([await legOf(large), await legOf(young)], ['waiting vault_short', 'sent']);
    assert.deepEqual(
      [await shownOf(large), logged],
      ['settlement_pending vault_short', ['settlement.over_vault_caps']],
    );
    world[cap] = boundless;
    world.available = boundless;
    waitLong();
    await payOut({ state });
    assert.equal(await legOf(large), 'sent');
  });
}

// proves W4.20
test('a payout that the vault holds too little for leaves the hour’s cap to the next one, and is made once it suffices', async () => {
  const huge = await toPayOut(100);
  world.clock.time += 1_000;
  const large = await toPayOut(10);
  Object.assign(world, { held: 50n * unit, available: 5n * unit });
  await payOut();
  waitLong();
  const young = await toPayOut();
  await payOut();
  assert.deepEqual(
    [await legOf(huge), await legOf(large), await legOf(young)],
    Array(3).fill('waiting vault_short'),
  );
  world.available = 20n * unit;
  waitLong();
  await payOut();
  assert.deepEqual([await legOf(huge), await legOf(large)], ['waiting vault_short', 'sent']);
  Object.assign(world, { held: boundless, available: boundless });
  for (const _round of [1, 2]) {
    waitLong();
    await payOut();
  }
  const sent = async (order: StoredOrder) => (await world.sent(order)).map(({ leg }) => leg);
  assert.deepEqual([await sent(huge), await sent(large), await sent(young)], Array(3).fill(['payout']));
});

test('a payout whose order does not match keeps nothing from others', async () => {
  const large = await toPayOut(10);
  world.available = 5n * unit;
  await payOut();
  waitLong();
  const young = await toPayOut();
  // Its final settlement is reverted.
  await world.dropFinal('ethereum', 3n);
  await payOut();
  assert.equal(await legOf(large), 'waiting vault_short');
  assert.notEqual(await legOf(young), 'sent');
  const other = await toPayOut();
  await payOut();
  assert.deepEqual([await legOf(large), await legOf(other)], ['waiting vault_short', 'sent']);
});

test('a payout of one vault keeps nothing in another', async () => {
  const large = await toPayOut(10);
  world.available = 5n * unit;
  await payOut();
  waitLong();
  const moved = world.with({ chains: chainsOf(world.chains.all.map(withNewVault)) });
  moved.available = 5n * unit;
  const young = await toPayOut(1, moved);
  await payOut({ in: moved });
  assert.deepEqual([await legOf(large), await legOf(young)], ['waiting vault_short', 'sent']);
});

function withNewVault(chain: Chain): Chain {
  const { gateway, vault } = chain;
  const fresh: Hex = getAddress(`0x${'d2'.repeat(20)}`);
  return { ...chain, vault: fresh, previousContracts: [{ gateway, vault }] };
}

test('a vault that refuses to be read holds up only its own payouts, which show it', async () => {
  const old = await toPayOut();
  const moved = world.with({ chains: chainsOf(world.chains.all.map(withNewVault)) });
  const young = await toPayOut(1, moved);
  moved.refusing.add(world.chain('base').vault);
  for (let times = 0; times < 2; times += 1) await payOut({ in: moved });
  assert.deepEqual([await legOf(old), await legOf(young)], ['waiting token_not_served', 'sent']);
  assert.equal(await shownOf(old), 'settlement_pending token_not_served');
});

test('settlements of a chain that is no longer configured show that they wait, and continue once it is back', async () => {
  const [waiting, sent] = [await toPayOut(), await toPayOut()];
  world.gasOf = (data) => (data.includes(waiting.orderId.slice(2)) ? undefined : 200_000n);
  const without = world.with({ chains: chainsOf(world.chains.all.filter(({ name }) => name !== 'base')) });
  await showUnconfigured({ ...without.deps, log: errorLog });
  assert.deepEqual([await legOf(waiting), await legOf(sent)], Array(2).fill('waiting token_not_served'));
  assert.equal(await shownOf(sent), 'settlement_pending token_not_served');
  assert.deepEqual(logged, Array(2).fill('settlement.chain_not_configured'));
  waitLong();
  await payOut();
  assert.deepEqual([await legOf(waiting), await legOf(sent)], ['waiting reverted', 'sent']);
  await showUnconfigured({ ...without.deps, log: errorLog });
  assert.equal(await shownOf(sent), 'settlement_pending not_mined');
});

test("a payout above the operator's cap for one order is held at once, and keeps nothing from others", async () => {
  const large = await toPayOut(10);
  world.available = 5n * unit;
  await payOut();
  waitLong();
  const young = await toPayOut();
  const outflow = {
    perOrder: microUsd(9_000_000n),
    hourly: microUsd(maxMicroUsd),
    daily: microUsd(maxMicroUsd),
  };
  for (let times = 0; times < 2; times += 1) await payOut({ settings: { outflow } });
  assert.equal(await legOf(large), 'waiting outflow_cap');
  world.clock.time += 60_000;
  await payOut({ settings: { outflow } });
  assert.equal(await legOf(young), 'sent');
});
