import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { payoutsUnderWay } from './leg.sql.ts';
import { settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function payOut(): Promise<void> {
  await settlementRound(world.deps, world.chain('base'), 'payout');
}

test('a payout that the vault never allows is tried again with growing delays', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  world.available = 0n;
  for (let round = 0; round < 3; round += 1) {
    world.clock.time += 3_600_000;
    await payOut();
  }
  world.available = 10n ** 30n;
  const leg = (await world.legs(order)).find(({ leg: name }) => name === 'payout');
  assert.deepEqual(leg, { leg: 'payout', status: 'waiting', reason: 'vault_short', attempts: 3 });
});

test('sent payouts count against what the vault has left', async () => {
  const orders = [];
  for (let index = 0; index < 2; index += 1) {
    const sessionId = await world.openSession('base::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
    orders.push(order);
    // Enough for one and a half payouts, besides those that earlier tests have sent.
    const [row] = await world.database.db.query(payoutsUnderWay, {
      chainId: 31_338,
      settlementToken: 'base::usdc',
    });
    if (index === 0) world.available = (row?.net_value ?? 0n) * 10n ** 12n + 1_491_000n * 10n ** 12n;
    await payOut();
  }
  world.available = 10n ** 30n;
  const shown = [];
  for (const order of orders) shown.push((await world.legs(order)).find(({ leg }) => leg === 'payout'));
  assert.deepEqual(
    shown.map((leg) => [leg?.status, leg?.reason]),
    [
      ['sent', ''],
      ['waiting', 'vault_short'],
    ],
  );
});

test('a payout over the cap of one order waits without a transaction, and holds up no smaller one', async () => {
  world.perOrderCap = 993_999n * 10n ** 12n;
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await payOut();
  world.perOrderCap = 10n ** 30n;
  const leg = (await world.legs(order)).find(({ leg: name }) => name === 'payout');
  assert.deepEqual(leg, { leg: 'payout', status: 'waiting', reason: 'vault_short', attempts: 1 });
});

test('each reason for which a vault skips a payout is shown', async () => {
  for (const [reason, shown] of [
    ['2', 'reverted'],
    ['3', 'reverted'],
    ['4', 'token_not_served'],
    ['5', 'vault_short'],
    ['8', 'recipient_blocked'],
  ] as const) {
    const sessionId = await world.openSession('base::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
    await payOut();
    await world.mineFinal('base', ['PayoutSkipped', order, { reason }]);
    assert.equal((await world.session(sessionId)).pendingReason, shown, `reason ${reason}`);
  }
});
