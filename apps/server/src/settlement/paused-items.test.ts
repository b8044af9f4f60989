import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { requestLeg } from './leg.ts';
import { settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

function addressOf(tokenId: string): Hex {
  const token = world.chains.token(tokenId);
  if (token === undefined) throw new Error(`no token ${tokenId}`);
  return token.address;
}

async function round(chainName: string, leg: 'settle' | 'payout' | 'refund'): Promise<void> {
  world.clock.time += 1_000_000;
  await settlementRound(world.deps, world.chain(chainName), leg);
}

async function legOf(order: StoredOrder, name: string): Promise<string> {
  const leg = (await world.legs(order)).find((candidate) => candidate.leg === name);
  return `${leg?.status} ${leg?.reason}`.trim();
}

async function shownOf({ sessionId }: StoredOrder): Promise<string> {
  const { status, pendingReason } = await world.session(sessionId);
  return `${status} ${pendingReason}`.trim();
}

async function paid(settlementToken: string, tokenId: string): Promise<StoredOrder> {
  const order = await world.signOrder(await world.openSession(settlementToken), tokenId);
  await world.mineFinal('ethereum', ['Paid', order]);
  return order;
}

test('a settlement in a token that its issuer has paused says so, sends nothing, delays no other token, and goes on by itself', async () => {
  const usdc = addressOf('ethereum::usdc');
  world.pausedTokens.add(usdc);
  const paused = await paid('ethereum::usdc', 'ethereum::usdc');
  const other = await paid('ethereum::usdt', 'ethereum::usdt');
  await round('ethereum', 'settle');
  assert.deepEqual(
    [await legOf(paused, 'settle'), await legOf(other, 'settle')],
    ['waiting token_paused', 'sent'],
  );
  assert.equal(await shownOf(paused), 'settlement_pending token_paused');
  assert.deepEqual(await world.sent(paused), []);
  world.pausedTokens.delete(usdc);
  await round('ethereum', 'settle');
  assert.equal(await legOf(paused, 'settle'), 'sent');
});

test('a payout and a refund in a paused token wait with the same reason', async () => {
  const payout = await paid('base::usdc', 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Settled', payout]);
  const refund = await paid('ethereum::usdc', 'ethereum::usdc');
  const { chainId } = world.chain('ethereum');
  await world.database.db.transaction((transaction) =>
    requestLeg(transaction, refund, { name: 'refund', chainId, at: world.clock.now() }),
  );
  world.pausedTokens.add(addressOf('base::usdc')).add(addressOf('ethereum::usdc'));
  await round('base', 'payout');
  await round('ethereum', 'refund');
  const reasons = [await legOf(payout, 'payout'), await legOf(refund, 'refund'), await shownOf(payout)];
  assert.deepEqual(reasons, [
    'waiting token_paused',
    'waiting token_paused',
    'settlement_pending token_paused',
  ]);
});

test('a node that does not say whether a token is paused stops no settlement', async () => {
  world.pausedTokens.clear();
  const order = await paid('ethereum::usdc', 'ethereum::usdc');
  world.refusing.add(addressOf('ethereum::usdc'));
  await round('ethereum', 'settle');
  assert.equal(await legOf(order, 'settle'), 'sent');
});
