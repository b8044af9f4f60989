import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { orderKinds } from '@florin/protocol/order.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { ChainEventName } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { arrivalLegOf, pendingReasonOf } from './settlement-events.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

/** A final event: of the first or of a second order of the session, on the payer's chain or on the merchant's. */
type Step = readonly [ChainEventName, of?: 'first' | 'second', chainName?: 'ethereum' | 'base'];

interface Rule {
  /** The token that the merchant gets; payers pay `ethereum::usdc`. */
  readonly settlementToken: 'ethereum::usdc' | 'base::usdc';
  readonly steps: readonly Step[];
  /** The session's status. */
  readonly session: string;
  /** Each leg with its status and reason. */
  readonly first: readonly string[];
  readonly second?: readonly string[];
  readonly exceptions?: readonly string[];
}

const [same, cross] = ['ethereum::usdc', 'base::usdc'] as const;
const payout: Step = ['PaidOut', 'first', 'base'];

const rules: Readonly<Record<string, Rule>> = {
  'a final payment is to be settled': {
    ...{ settlementToken: same, steps: [['Paid']], session: 'paid', first: ['settle waiting'] },
  },
  'a final settlement completes the session': {
    ...{
      settlementToken: same,
      steps: [['Paid'], ['Settled']],
      session: 'completed',
      first: ['settle done'],
    },
  },
  'the same events twice change nothing': {
    ...{ settlementToken: same, steps: [['Paid'], ['Paid'], ['Settled'], ['Settled']] },
    ...{ session: 'completed', first: ['settle done'] },
  },
  'a settlement into a vault is to be paid out by the vault of the other chain': {
    ...{ settlementToken: cross, steps: [['Paid'], ['Settled']], session: 'paid' },
    first: ['payout waiting', 'settle done'],
  },
  'the payout completes the session': {
    ...{ settlementToken: cross, steps: [['Paid'], ['Settled'], payout], session: 'completed' },
    first: ['payout done', 'settle done'],
  },
  'a payout that is read before its settlement is not made again': {
    ...{ settlementToken: cross, steps: [payout, ['Paid'], ['Settled']], session: 'completed' },
    first: ['settle done'],
  },
  'a second payment goes back, and delays nothing': {
    ...{ settlementToken: same, steps: [['Paid'], ['Paid', 'second']], session: 'paid' },
    ...{ first: ['settle waiting'], second: ['refund waiting'], exceptions: ['duplicate'] },
  },
  'a second payment that went back needs no refund any more': {
    ...{ settlementToken: same, steps: [['Paid'], ['Paid', 'second'], ['Reclaimed', 'second']] },
    ...{ session: 'paid', first: ['settle waiting'], second: ['refund done'], exceptions: ['duplicate'] },
  },
  'a second payment that is settled cannot go back, and completes nothing': {
    ...{ settlementToken: same, steps: [['Paid'], ['Paid', 'second'], ['Settled', 'second']] },
    ...{ session: 'paid', first: ['settle waiting'], second: ['refund done settled'] },
    exceptions: ['duplicate', 'duplicate_settled'],
  },
  'no vault pays out for a second payment': {
    ...{ settlementToken: cross, steps: [['Paid'], ['Paid', 'second'], ['Settled', 'second']] },
    ...{ session: 'paid', first: ['settle waiting'], second: ['refund done settled'] },
    exceptions: ['duplicate', 'duplicate_settled'],
  },
  'a refund that was not requested ends the settlement, and the merchant is notified': {
    ...{ settlementToken: same, steps: [['Paid'], ['Refunded']], session: 'paid' },
    ...{ first: ['settle done refunded'], exceptions: ['refunded'] },
  },
  'so does a reclaim, whoever sent it': {
    ...{ settlementToken: same, steps: [['Paid'], ['Reclaimed']], session: 'paid' },
    ...{ first: ['settle done reclaimed'], exceptions: ['reclaimed'] },
  },
  'a rescue settles nothing': {
    ...{ settlementToken: same, steps: [['Paid'], ['Rescued']], session: 'paid', first: ['settle waiting'] },
  },
  'a refund by the merchant leaves the settlement as it is': {
    ...{ settlementToken: same, steps: [['Paid'], ['Settled'], ['SettlementRefunded']] },
    ...{ session: 'completed', first: ['settle done'] },
  },
};

async function legsOf(order: StoredOrder): Promise<string[]> {
  const legs = await world.legs(order);
  return legs.map(({ leg, status, reason }) => `${leg} ${status} ${reason}`.trim());
}

for (const [rule, { settlementToken, steps, session, first, second, exceptions = [] }] of Object.entries(
  rules,
)) {
  test(rule, async () => {
    const sessionId = await world.openSession(settlementToken);
    const orders = {
      first: await world.signOrder(sessionId, same),
      second: await world.signOrder(sessionId, same),
    };
    for (const [name, of = 'first', chainName = 'ethereum'] of steps) {
      const amount = name === 'PaidOut' ? { amount: '994000000000000000' } : {};
      await world.mineFinal(chainName, [name, orders[of], amount]);
    }
    assert.equal((await world.session(sessionId)).status, session);
    assert.deepEqual(await legsOf(orders.first), first);
    assert.deepEqual(await legsOf(orders.second), second ?? []);
    const events = await world.eventsOf(sessionId);
    const raised = events.flatMap((event) => /^session\.exception (.+)$/.exec(event)?.[1] ?? []);
    assert.deepEqual(raised, exceptions);
  });
}

/** By the numbers of the contracts' skip reasons. */
const skipReasons: readonly (readonly ['SettleSkipped' | 'PayoutSkipped', reason: string, PendingReason])[] =
  [
    ['SettleSkipped', '1', 'reverted'],
    ['SettleSkipped', '2', 'reverted'],
    ['SettleSkipped', '3', 'recipient_blocked'],
    ['SettleSkipped', '4', 'reverted'],
    ['SettleSkipped', '6', 'reverted'],
    ['PayoutSkipped', '1', 'reverted'],
    ['PayoutSkipped', '4', 'token_not_served'],
    ['PayoutSkipped', '5', 'vault_short'],
    ['PayoutSkipped', '6', 'vault_short'],
    ['PayoutSkipped', '7', 'vault_short'],
    ['PayoutSkipped', '8', 'recipient_blocked'],
    ['PayoutSkipped', '9', 'reverted'],
    ['PayoutSkipped', '99', 'reverted'],
  ];

for (const [name, reason, shown] of skipReasons) {
  test(`${name} with reason ${reason} is shown as ${shown}`, () => {
    assert.equal(pendingReasonOf({ name, arguments: { reason } }), shown);
  });
}

test('only payouts and mints follow a settlement, and nothing follows a CCTP order that is all fee', async () => {
  const { order, amounts } = await world.signOrder(await world.openSession(same), same);
  const arrival = (orderType: number, netValue = amounts.netValue) =>
    arrivalLegOf({
      order: { ...order, orderType } as StoredOrder['order'],
      amounts: { ...amounts, netValue },
    });
  assert.equal(arrival(orderKinds.escrow), undefined);
  assert.equal(arrival(orderKinds.direct), undefined);
  assert.deepEqual(arrival(orderKinds.vaultPayout), { leg: 'payout', event: 'PaidOut' });
  assert.deepEqual(arrival(orderKinds.cctp), { leg: 'mint', event: 'Minted' });
  assert.equal(arrival(orderKinds.cctp, 0n as typeof amounts.netValue), undefined);
});
