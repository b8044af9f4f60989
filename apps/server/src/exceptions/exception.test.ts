import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type ExceptionKind, exceptionKinds } from '@florin/protocol/exception.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { zeroHash } from 'viem';
import type { ChainEvent, ChainEventName } from '#contracts/event.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { depositPolicy } from '../../test/harness/deposit-moves.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import {
  decide,
  type ExceptionDecision,
  findDecisions,
  findException,
  findExceptions,
  markResolved,
  type RaisedException,
  raise,
} from './exception.ts';
import { exceptionHandler } from './exception-events.ts';

const token = 'ethereum::usdc';
const hour = 3_600_000;

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

type Change = Partial<Pick<RaisedException, 'money' | 'decision' | 'decideBy' | 'txHash'>>;

const inHours = (hours: number): Date => new Date(world.clock.time + hours * hour);

async function signOrder(): Promise<StoredOrder> {
  return world.signOrder(await world.openSession(token), token);
}

async function raiseFor(order: StoredOrder, kind: ExceptionKind, change: Change = {}): Promise<boolean> {
  const session = await world.session(order.sessionId);
  return world.database.db.transaction((transaction) =>
    raise(transaction, world.moves, { session, order, kind, txHash: zeroHash, ...change }),
  );
}

/** The exceptions of the order’s session. */
async function raisedFor(order: StoredOrder) {
  return findExceptions(world.database.db, [order.sessionId]);
}

/** An exception of an order of its own. */
async function raised(kind: ExceptionKind, change: Change = {}) {
  const order = await signOrder();
  assert.equal(await raiseFor(order, kind, change), true);
  const [exception] = await raisedFor(order);
  assert.ok(exception !== undefined);
  const { merchantId } = await world.session(order.sessionId);
  return { order, merchantId, exceptionId: exception.exceptionId };
}

type Raised = Awaited<ReturnType<typeof raised>>;

/** The name of the refusal, or the decision that is stored. */
async function decideOn(
  { merchantId, exceptionId }: Raised,
  decision: ExceptionDecision,
  deposits?: DepositPolicy,
): Promise<string> {
  const { db } = world.database;
  try {
    await db.transaction((transaction) =>
      decide(transaction, { clock: world.clock, deposits }, { merchantId, exceptionId, decision }),
    );
  } catch (error) {
    if (error instanceof Refusal) return error.slug;
    throw error;
  }
  return (await findException(db, { merchantId, exceptionId })).decision;
}

for (const kind of exceptionKinds) {
  const isOver = kind === 'refunded' || kind === 'reclaimed';
  test(`${kind} is ${isOver ? 'resolved' : 'open'} from the beginning, and the merchant gets one event`, async () => {
    const { order } = await raised(kind);
    assert.equal(await raiseFor(order, kind), false);
    const [exception, ...others] = await raisedFor(order);
    assert.deepEqual(others, []);
    assert.equal(exception?.status, isOver ? 'resolved' : 'open');
    assert.deepEqual(
      [exception?.tokenId, exception?.amountInToken],
      [token, order.order.total.toString()],
      'by default it is about the order’s own money',
    );
    assert.deepEqual(await world.eventsOf(order.sessionId), ['session.created', `session.exception ${kind}`]);
  });
}

test('another token or another kind at the same order is an exception of its own', async () => {
  const { order } = await raised('wrong_token', { money: { tokenId: 'ethereum::usdt', amount: 5n } });
  assert.equal(await raiseFor(order, 'wrong_token', { money: { tokenId: 'base::usdc', amount: 6n } }), true);
  assert.equal(await raiseFor(order, 'late'), true);
  assert.deepEqual(
    (await raisedFor(order)).map(({ kind, tokenId, amountInToken }) => [kind, tokenId, amountInToken]),
    [
      ['wrong_token', 'ethereum::usdt', '5'],
      ['wrong_token', 'base::usdc', '6'],
      ['late', token, order.order.total.toString()],
    ],
  );
});

/** What happened before, the decision, and its outcome. */
const decisions: Readonly<
  Record<string, readonly [() => Promise<Raised>, ExceptionDecision, outcome: string]>
> = {
  'a late payment is accepted in time': [() => raised('late', { decideBy: inHours(1) }), 'accept', 'accept'],
  'a late payment is sent back in time': [() => raised('late', { decideBy: inHours(1) }), 'refund', 'refund'],
  'the last moment still counts': [() => raised('late', { decideBy: inHours(0) }), 'accept', 'accept'],
  'a moment later nothing is decided': [
    () => raised('late', { decideBy: new Date(world.clock.time - 1) }),
    'accept',
    'exception_not_acceptable',
  ],
  'without a deadline there is nothing to decide': [
    () => raised('late'),
    'accept',
    'exception_not_acceptable',
  ],
  'a resolved exception cannot be decided': [
    async () => {
      const late = await raised('late');
      const { db } = world.database;
      await db.transaction((transaction) => markResolved(transaction, world.moves, late));
      return late;
    },
    'refund',
    'exception_not_acceptable',
  ],
  'the link’s policy has decided already': [
    () => raised('late', { decideBy: inHours(1), decision: 'accept' }),
    'refund',
    'exception_decided',
  ],
  'the same decision again changes nothing, even after the deadline': [
    () => raised('late', { decideBy: inHours(-1), decision: 'refund' }),
    'refund',
    'refund',
  ],
  'a short payment is accepted only as far as the operator adds': [
    async () => {
      const order = await signOrder();
      const money = { tokenId: token, amount: order.order.total - 1n };
      await raiseFor(order, 'underpaid', { money, decideBy: inHours(1) });
      const [exception] = await raisedFor(order);
      const { merchantId } = await world.session(order.sessionId);
      return { order, merchantId, exceptionId: exception?.exceptionId ?? '' };
    },
    'accept',
    'exception_not_acceptable',
  ],
  'a short payment that has become complete is accepted': [
    () => raised('underpaid', { decideBy: inHours(1) }),
    'accept',
    'accept',
  ],
  'a session that is paid accepts no second payment': [
    () => raisedBesidePayment(),
    'accept',
    'exception_not_acceptable',
  ],
  'a second payment can be sent back': [() => raisedBesidePayment(), 'refund', 'refund'],
};

async function raisedBesidePayment(): Promise<Raised> {
  const late = await raised('late', { decideBy: inHours(1) });
  await world.mineFinal('ethereum', ['Paid', await world.signOrder(late.order.sessionId, token)]);
  return late;
}

for (const [name, [prepare, decision, outcome]] of Object.entries(decisions)) {
  test(`${name}: ${decision} gives ${outcome}`, async () => {
    const exception = await prepare();
    const before = await findException(world.database.db, exception);
    assert.equal(await decideOn(exception, decision), outcome);
    const now = await findException(world.database.db, exception);
    if (outcome !== decision) assert.deepEqual(now, before, 'a refusal changes nothing');
    const found = await findDecisions(world.database.db, [exception.order.orderId]);
    assert.equal(found.get(exception.order.orderId)?.decision ?? '', now.decision);
  });
}

const insertTerms = statement({
  name: 'exception_test_terms',
  parameters: { orderId: 'text', mostAdded: 'numeric' },
  text: `insert into deposit_terms (order_id, wallet_order_id, tolerance, most_added, late_payment, created_at)
   values (:orderId, :orderId, 0, :mostAdded, 'ask', now())`,
});

test('a short deposit is accepted only up to what the operator adds by the present configuration', async () => {
  const order = await signOrder();
  const { total, fee } = order.order;
  await world.database.db.query(insertTerms, { orderId: order.orderId, mostAdded: total });
  const money = { tokenId: token, amount: total - fee - 5n };
  await raiseFor(order, 'underpaid', { money, decideBy: inHours(1) });
  const [exception] = await raisedFor(order);
  const { merchantId } = await world.session(order.sessionId);
  const short = { order, merchantId, exceptionId: exception?.exceptionId ?? '' };
  const aboveFee = (value: bigint) => ({ ...depositPolicy, addedAboveFee: microUsd(value) });
  assert.equal(await decideOn(short, 'accept'), 'exception_not_acceptable');
  assert.equal(await decideOn(short, 'accept', aboveFee(4n)), 'exception_not_acceptable');
  assert.equal(await decideOn(short, 'accept', aboveFee(5n)), 'accept');
});

test('the first of two different decisions is final', async () => {
  const late = await raised('late', { decideBy: inHours(1) });
  assert.equal(await decideOn(late, 'accept'), 'accept');
  assert.equal(await decideOn(late, 'accept'), 'accept');
  assert.equal(await decideOn(late, 'refund'), 'exception_decided');
});

test('another merchant, or an unknown id, finds no exception to read, resolve or decide', async () => {
  const late = await raised('late', { decideBy: inHours(1) });
  const { db } = world.database;
  for (const strange of [
    { ...late, merchantId: 'mer_other' },
    { ...late, exceptionId: 'exc_none' },
  ]) {
    const isUnknown = { name: 'Refusal', slug: 'exception_not_found' };
    await assert.rejects(findException(db, strange), isUnknown);
    await assert.rejects(
      db.transaction((transaction) => markResolved(transaction, world.moves, strange)),
      isUnknown,
    );
    assert.equal(await decideOn(strange, 'refund'), 'exception_not_found');
  }
  assert.equal((await findException(db, late)).status, 'open');
});

/** The kinds that each final event ends; all other events end none. */
const endings: Readonly<Partial<Record<ChainEventName, readonly ExceptionKind[]>>> = {
  Paid: ['underpaid', 'late'],
  Settled: ['duplicate', 'unsettled'],
  Refunded: ['duplicate', 'unsettled'],
  Reclaimed: ['duplicate', 'unsettled'],
  Rescued: ['duplicate', 'underpaid', 'overpaid', 'late', 'wrong_token'],
};
const chainEventNames: readonly ChainEventName[] = [
  ...([
    'Paid',
    'Settled',
    'Refunded',
    'Reclaimed',
    'SettleSkipped',
    'SettlementRefunded',
    'Rescued',
    'FeeAccrued',
  ] as const),
  ...(['PaidOut', 'PayoutSkipped', 'Minted', 'FeesWithdrawn', 'Withdrawn', 'Transferred'] as const),
];

const block = () => ({ number: 1n, hash: zeroHash, parentHash: zeroHash, time: world.clock.now() });

function eventOf(order: StoredOrder, name: ChainEventName, said: Record<string, string>): ChainEvent {
  const { chainId } = world.chain('ethereum');
  return {
    ...{ chainId, blockNumber: 1n, blockHash: zeroHash, blockTime: world.clock.now(), logIndex: 0 },
    ...{ txHash: `0x${'7e'.repeat(32)}`, contract: 'gateway', name, orderId: order.orderId, arguments: said },
  };
}

async function makeFinal(order: StoredOrder, name: ChainEventName, said: Record<string, string>) {
  const chain = world.chain('ethereum');
  const event = eventOf(order, name, said);
  const handler = exceptionHandler({ ...world.moves, chains: world.chains });
  await world.database.db.transaction(async (transaction) => {
    await handler.onBlock(transaction, chain, block(), [event]);
    await handler.onReorg(transaction, chain, [event]);
    assert.ok(
      (await findExceptions(transaction, [order.sessionId])).every(({ resolvedTx }) => resolvedTx === ''),
      'an event that is not final ends nothing',
    );
    await handler.onFinal(transaction, chain, block(), [event]);
  });
}

async function takeBack(order: StoredOrder, name: ChainEventName, said: Record<string, string>) {
  const handler = exceptionHandler({ ...world.moves, chains: world.chains });
  await world.database.db.transaction(async (transaction) =>
    handler.onDropped?.(transaction, world.chain('ethereum'), [eventOf(order, name, said)]),
  );
}

for (const name of chainEventNames) {
  test(`a final ${name} ends ${endings[name]?.join(', ') ?? 'no exception'}`, async () => {
    const order = await signOrder();
    for (const kind of exceptionKinds) await raiseFor(order, kind);
    const address = world.chains.token(token)?.address ?? '';
    await makeFinal(order, name, { token: address });
    const ended = (await raisedFor(order)).filter(({ resolvedTx }) => resolvedTx !== '');
    assert.deepEqual(
      ended.map(({ kind }) => kind),
      endings[name] ?? [],
    );
    assert.ok(ended.every(({ status }) => status === 'resolved'));
  });
}

test('the merchant’s return of a whole second payment ends its exceptions, and a part ends none', async () => {
  const order = await signOrder();
  for (const kind of exceptionKinds) await raiseFor(order, kind);
  const ended = async () =>
    (await raisedFor(order)).filter(({ resolvedTx }) => resolvedTx !== '').map(({ kind }) => kind);
  const { total } = order.order;
  await makeFinal(order, 'SettlementRefunded', { value: '1', refundedTotal: String(total - 1n) });
  assert.deepEqual(await ended(), []);
  await makeFinal(order, 'SettlementRefunded', { value: '1', refundedTotal: String(total) });
  assert.deepEqual(await ended(), ['duplicate', 'duplicate_settled']);
});

test('a rescue ends only the exceptions of the rescued token', async () => {
  const other = 'ethereum::usdt';
  const { order } = await raised('overpaid');
  await raiseFor(order, 'overpaid', { money: { tokenId: other, amount: 3n } });
  const openTokens = async () =>
    (await raisedFor(order)).filter(({ status }) => status === 'open').map(({ tokenId }) => tokenId);
  await makeFinal(order, 'Rescued', { token: `0x${'ab'.repeat(20)}` });
  assert.deepEqual(await openTokens(), [token, other], 'an unknown token ends nothing');
  await makeFinal(order, 'Rescued', { token: world.chains.token(other)?.address ?? '' });
  assert.deepEqual(await openTokens(), [token]);
});

for (const name of ['Refunded', 'Reclaimed', 'Rescued', 'SettlementRefunded'] as const)
  test(`a ${name} that a reorg below finality took back opens the exceptions that it ended, and ends them when it returns`, async () => {
    const order = await signOrder();
    for (const kind of exceptionKinds) await raiseFor(order, kind);
    const said = {
      token: world.chains.token(token)?.address ?? '',
      value: '0',
      refundedTotal: String(order.order.total),
    };
    const before = await raisedFor(order);
    const shown = (exceptions: typeof before) =>
      exceptions.map(({ kind, status, resolvedTx }) => [kind, status, resolvedTx]);
    await makeFinal(order, name, said);
    const ended = await raisedFor(order);
    assert.notDeepEqual(shown(ended), shown(before));
    await takeBack(order, name, said);
    assert.deepEqual(shown(await raisedFor(order)), shown(before));
    await makeFinal(order, name, said);
    assert.deepEqual(shown(await raisedFor(order)), shown(ended));
  });

test('an exception stays ended whose return is gone while another one shows what is at the address', async () => {
  const { order } = await raised('overpaid', { txHash: '' });
  const said = { token: world.chains.token(token)?.address ?? '', value: '1' };
  await makeFinal(order, 'Rescued', said);
  await raiseFor(order, 'overpaid', { txHash: '' });
  await takeBack(order, 'Rescued', said);
  assert.deepEqual(
    (await raisedFor(order)).map(({ kind, status }) => [kind, status]),
    [
      ['overpaid', 'resolved'],
      ['overpaid', 'open'],
    ],
  );
});

test('the exceptions of a payment that a reorg below finality took back end, and open again with it', async () => {
  const order = await signOrder();
  const ofPayment = ['duplicate', 'duplicate_settled', 'unsettled'];
  for (const kind of exceptionKinds) await raiseFor(order, kind);
  const shown = async () =>
    (await raisedFor(order)).flatMap(({ kind, status, isGone }) =>
      ofPayment.includes(kind) || isGone ? [[kind, status, isGone]] : [],
    );
  const open = ofPayment.map((kind) => [kind, 'open', false]);
  assert.deepEqual(await shown(), open);
  const others = (await raisedFor(order)).filter(({ kind }) => !ofPayment.includes(kind));
  await takeBack(order, 'Paid', {});
  assert.deepEqual(
    await shown(),
    ofPayment.map((kind) => [kind, 'resolved', true]),
  );
  assert.deepEqual(
    (await raisedFor(order)).filter(({ kind }) => !ofPayment.includes(kind)),
    others,
  );
  const before = (await world.eventsOf(order.sessionId)).length;
  for (const kind of exceptionKinds) assert.equal(await raiseFor(order, kind), ofPayment.includes(kind));
  assert.deepEqual(await shown(), open);
  assert.equal((await world.eventsOf(order.sessionId)).length, before + ofPayment.length);
});
