import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { concat, numberToHex, pad } from 'viem';
import { type Chain, type Chains, chainsOf } from '#chains/chain.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import {
  type AttestationSource,
  AttestationUnavailable,
  type AttestedMessage,
} from '#outside/attestation.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import type { SettlementContext } from './context.ts';
import { settlementRound } from './settlement.ts';

const messenger: Hex = `0x${'a1'.repeat(20)}`;
const route: Hex = `0x${'a2'.repeat(20)}`;
const transmitter: Hex = `0x${'a3'.repeat(20)}`;

function withCctp(chain: Chain, domain: number): Chain {
  const maxPerOrder = microUsd(1_000_000_000n);
  const cctp = { domain, transmitter, messenger, route, tokenId: `${chain.name}::usdc`, maxPerOrder };
  return { ...chain, cctp, tokens: chain.tokens.map((token) => ({ ...token, decimals: 6 })) };
}

/** Both chains have CCTP, and the vaults pay nothing. */
function bridgedChains(): Chains {
  const chains = chainsOf(fixtureChains.all.map((chain, index) => withCctp(chain, 6 * index)));
  const conditions = {
    version: () => 0,
    of: () => ({ status: 'available', reason: '', secondsToFinal: 1 }) as const,
    payoutCap: () => microUsd(0n),
  };
  return { ...chains, conditions };
}

let world: SettlementWorld;
before(async () => {
  world = (await SettlementWorld.open()).with({ chains: bridgedChains() });
});
after(() => world.close());

let attested: AttestedMessage[] | 'down' = [];
const attestations: AttestationSource = {
  async messagesOf(domain) {
    assert.equal(domain, 0);
    if (attested === 'down') throw new AttestationUnavailable('no answer');
    return attested;
  },
  close: async () => {},
};

function deps(): SettlementContext {
  return { ...world.deps, attestations };
}

async function mintRound(): Promise<void> {
  await settlementRound(deps(), world.chain('base'), 'mint');
}

/** The message of an order's burn; its parts can be changed. */
function messageOf(
  order: StoredOrder,
  changed: { to?: Hex; sender?: Hex; orderId?: Hex; amount?: bigint } = {},
): Hex {
  const amount = changed.amount ?? order.order.total - order.order.fee;
  const word = (value: Hex) => pad(value, { size: 32 });
  const number = (value: number | bigint, size: number) => numberToHex(value, { size });
  const header = [number(1, 4), number(0, 4), number(6, 4), number(1, 32), word(messenger), word(messenger)];
  const rest = [number(0, 32), number(2000, 4), number(2000, 4)];
  const body = [
    number(1, 4),
    word(order.order.token),
    word(changed.to ?? order.order.to),
    number(amount, 32),
  ];
  const tail = [word(changed.sender ?? route), number(0, 32), number(0, 32), number(0, 32)];
  return concat([...header, ...rest, ...body, ...tail, changed.orderId ?? order.orderId]);
}

function complete(message: Hex): AttestedMessage {
  return { message, attestation: `0x${'5a'.repeat(65)}` };
}

async function burnt(): Promise<{ sessionId: string; order: StoredOrder }> {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  return { sessionId, order };
}

async function mintLeg(order: StoredOrder) {
  return (await world.legs(order)).find(({ leg }) => leg === 'mint');
}

function minted(order: StoredOrder): Record<string, string> {
  return { amount: (order.order.total - order.order.fee).toString(), to: order.order.to, fee: '0' };
}

test('an order that no vault pays is minted by CCTP once it is attested, and completes when the mint is final', async () => {
  attested = [];
  const { sessionId, order } = await burnt();
  assert.deepEqual([order.order.orderType, order.order.targetChain, order.payoutVault], [3, 31_338n, '']);
  await mintRound();
  assert.deepEqual(await mintLeg(order), { leg: 'mint', status: 'waiting', reason: '', attempts: 1 });
  assert.equal((await world.session(sessionId)).status, 'paid');
  attested = [complete(messageOf(order))];
  world.clock.time += 10_000;
  await mintRound();
  assert.deepEqual(
    (await world.sent(order)).map(({ leg, recipient }) => [leg, recipient]),
    [['mint', transmitter]],
  );
  await mintRound();
  assert.equal((await mintLeg(order))?.attempts, 2);
  const owed = async () =>
    (await ledgerBalances(world.database.db)).filter(({ account }) => /^(bridge|merchant)/.test(account));
  assert.equal((await owed()).length, 2);
  const hash = await world.mineFinal('base', ['Minted', order, minted(order)]);
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.completeTx], ['completed', hash]);
  assert.equal(
    (await owed()).every(({ balance }) => balance === 0n),
    true,
  );
});

test('a merchant sees that an attestation is late, and the session recovers', async () => {
  attested = 'down';
  const { sessionId, order } = await burnt();
  await mintRound();
  assert.equal((await world.session(sessionId)).status, 'paid');
  world.clock.time += 601_000;
  await mintRound();
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.pendingReason], ['settlement_pending', 'attestation_pending']);
  attested = [complete(messageOf(order))];
  world.clock.time += 601_000;
  await mintRound();
  assert.equal((await world.session(sessionId)).status, 'settling');
});

test('a second payment that was burnt before it could go back is minted, and delays and completes nothing', async () => {
  attested = [];
  const onTheBridge = async () =>
    (await ledgerBalances(world.database.db)).find(({ account }) => account === 'bridge:ethereum')?.balance;
  const before = await onTheBridge();
  const sessionId = await world.openSession('base::usdc');
  const first = await world.signOrder(sessionId, 'ethereum::usdc');
  const second = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', first], ['Paid', second]);
  await world.mineFinal('ethereum', ['Settled', second]);
  assert.deepEqual((await world.eventsOf(sessionId)).slice(-1), ['session.exception duplicate_settled']);
  // Attested late: only the payment that counts would show its session as waiting.
  world.clock.time += 601_000;
  await mintRound();
  assert.deepEqual(await mintLeg(second), {
    leg: 'mint',
    status: 'waiting',
    reason: 'attestation_pending',
    attempts: 1,
  });
  assert.equal((await world.session(sessionId)).status, 'paid');
  attested = [complete(messageOf(second))];
  world.clock.time += 601_000;
  await mintRound();
  assert.equal((await mintLeg(second))?.status, 'sent');
  await world.mineFinal('base', ['Minted', second, minted(second)]);
  assert.equal((await mintLeg(second))?.status, 'done');
  assert.equal((await world.session(sessionId)).status, 'paid');
  assert.equal(await onTheBridge(), before);
});

test('a second payment whose mint is read before its burn, as after a restored backup, is not minted again', async () => {
  const sessionId = await world.openSession('base::usdc');
  const first = await world.signOrder(sessionId, 'ethereum::usdc');
  const second = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('base', ['Minted', second, minted(second)]);
  await world.mineFinal('ethereum', ['Paid', first], ['Paid', second], ['Settled', second]);
  assert.equal(await mintLeg(second), undefined);
  assert.equal((await world.session(sessionId)).status, 'paid');
});

test('only a message for the whole order, from our route to its merchant, is delivered', async () => {
  const { order } = await burnt();
  const other: Hex = `0x${'e1'.repeat(20)}`;
  attested = [
    complete(messageOf(order, { to: other })),
    complete(messageOf(order, { sender: other })),
    complete(messageOf(order, { amount: order.order.total })),
    complete(messageOf(order, { orderId: `0x${'01'.repeat(32)}` })),
    complete('0x1234'),
  ];
  await mintRound();
  assert.equal((await mintLeg(order))?.status, 'waiting');
});

test('a delivery that a third party has made already delays nothing', async () => {
  const { sessionId, order } = await burnt();
  attested = [complete(messageOf(order))];
  world.gasOf = () => undefined;
  await mintRound();
  world.gasOf = () => 200_000n;
  assert.deepEqual(await mintLeg(order), { leg: 'mint', status: 'waiting', reason: '', attempts: 1 });
  await world.mineFinal('base', ['Minted', order, minted(order)]);
  assert.equal((await world.session(sessionId)).status, 'completed');
  assert.equal((await mintLeg(order))?.status, 'done');
});

test('a mint of another amount, or to another recipient, completes nothing', async () => {
  const { sessionId, order } = await burnt();
  await world.mineFinal('base', ['Minted', order, { ...minted(order), amount: '1' }]);
  await world.mineFinal('base', ['Minted', order, { ...minted(order), to: messenger }]);
  assert.equal((await world.session(sessionId)).status, 'paid');
  assert.equal((await mintLeg(order))?.status, 'waiting');
});

test('a reorged mint shows the session as waiting, and the session recovers', async () => {
  const { sessionId, order } = await burnt();
  attested = [complete(messageOf(order))];
  await mintRound();
  await world.mine('base', ['Minted', order, minted(order)]);
  await world.reorg('base');
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.pendingReason], ['settlement_pending', 'reorged']);
  await world.mineFinal('base', ['Minted', order, minted(order)]);
  assert.equal((await world.session(sessionId)).status, 'completed');
});

test('a burn shows that it waits when CCTP is no longer configured on its chain', async () => {
  attested = [];
  const { sessionId, order } = await burnt();
  await mintRound();
  const without = world.with({
    chains: chainsOf(world.chains.all.map(({ cctp: _, ...chain }): Chain => chain)),
  });
  without.clock.time += 601_000;
  await settlementRound({ ...without.deps, attestations }, without.chain('base'), 'mint');
  const { status, pendingReason } = await world.session(sessionId);
  assert.deepEqual([status, pendingReason], ['settlement_pending', 'attestation_pending']);
  assert.equal((await mintLeg(order))?.status, 'waiting');
});
