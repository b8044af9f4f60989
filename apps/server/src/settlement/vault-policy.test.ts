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
import { type RoundMemory, settlementRound } from './settlement.ts';
import { showUnconfigured } from './unconfigured.ts';

const unit = 10n ** 18n;
const boundless = 10n ** 30n;

// A world for each test, so that none waits for payouts of another.
let world: SettlementWorld;
beforeEach(async () => {
  world = await SettlementWorld.open();
  told.length = 0;
});
afterEach(() => world.close());

/** What the operator was alarmed of. */
const told: string[] = [];
const alarms: Log = { ...silentLog, error: (event) => void told.push(event) };

async function payOut(
  given: { in?: SettlementWorld; memory?: RoundMemory; settings?: Partial<SettlementSettings> } = {},
): Promise<void> {
  const at = given.in ?? world;
  const settings = { ...at.deps.settings, ...given.settings };
  await settlementRound({ ...at.deps, log: alarms, settings }, at.chain('base'), 'payout', given.memory);
}

/** A payment on another chain that is settled, so that the vault is to pay for it. */
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

/** Longer than a payout that waits for caps leaves younger ones alone. */
function waitLong(): void {
  world.clock.time += 1_801_000;
}

for (const cap of ['perOrderCap', 'hourlyCap', 'dailyCap'] as const) {
  test(`a payout over a ${cap} that was lowered shows that it waits, holds up no other, and goes once the cap is raised`, async () => {
    const large = await toPayOut(10);
    world[cap] = 5n * unit;
    world.available = 5n * unit;
    const memory = { isGasAlarmed: false, overCaps: new Set<string>() };
    await payOut({ memory });
    waitLong();
    const young = await toPayOut();
    for (let times = 0; times < 2; times += 1) await payOut({ memory });
    assert.deepEqual([await legOf(large), await legOf(young)], ['waiting vault_short', 'sent']);
    assert.deepEqual(
      [await shownOf(large), told],
      ['settlement_pending vault_short', ['settlement.over_vault_caps']],
    );
    world[cap] = boundless;
    world.available = boundless;
    waitLong();
    await payOut({ memory });
    assert.equal(await legOf(large), 'sent');
  });
}

test('a payout for which the vault holds too little leaves the room of the hour to the next one that waits for it', async () => {
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
});

test('a payout that is not sent while its payment is in doubt keeps no room from others', async () => {
  const large = await toPayOut(10);
  world.available = 5n * unit;
  await payOut();
  waitLong();
  const young = await toPayOut();
  // Its settlement was final, and is gone.
  await world.dropFinal('ethereum', 3n);
  await payOut();
  assert.equal(await legOf(large), 'waiting vault_short');
  assert.notEqual(await legOf(young), 'sent');
  const other = await toPayOut();
  await payOut();
  assert.deepEqual([await legOf(large), await legOf(other)], ['waiting vault_short', 'sent']);
});

test('a payout of one vault keeps no room in another', async () => {
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

test('a vault that refuses to be read holds up its own payouts only, which say so', async () => {
  const old = await toPayOut();
  const moved = world.with({ chains: chainsOf(world.chains.all.map(withNewVault)) });
  const young = await toPayOut(1, moved);
  moved.refusing.add(world.chain('base').vault);
  for (let times = 0; times < 2; times += 1) await payOut({ in: moved });
  assert.deepEqual([await legOf(old), await legOf(young)], ['waiting token_paused', 'sent']);
  assert.equal(await shownOf(old), 'settlement_pending token_paused');
});

test('settlements of a chain that has left the configuration say that they wait, and go when it is back', async () => {
  const [waiting, sent] = [await toPayOut(), await toPayOut()];
  world.gasOf = (data) => (data.includes(waiting.orderId.slice(2)) ? undefined : 200_000n);
  const without = world.with({ chains: chainsOf(world.chains.all.filter(({ name }) => name !== 'base')) });
  await showUnconfigured({ ...without.deps, log: alarms });
  assert.deepEqual([await legOf(waiting), await legOf(sent)], Array(2).fill('waiting token_paused'));
  assert.equal(await shownOf(sent), 'settlement_pending token_paused');
  assert.deepEqual(told, Array(2).fill('settlement.chain_not_configured'));
  waitLong();
  await payOut();
  assert.deepEqual([await legOf(waiting), await legOf(sent)], ['waiting reverted', 'sent']);
  await showUnconfigured({ ...without.deps, log: alarms });
  assert.equal(await shownOf(sent), 'settlement_pending not_mined');
});

test("a payout over the operator's cap for one order is held at once, and keeps no room from others", async () => {
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
