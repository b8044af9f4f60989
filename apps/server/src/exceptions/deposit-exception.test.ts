import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { zeroHash } from 'viem';
import type { ChainEvent } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { raiseDeposit } from './deposit-exception.ts';
import { findExceptions, markResolved } from './exception.ts';
import { exceptionHandler } from './exception-events.ts';

const tokenId = 'ethereum::usdc';
const cent = 10_000n;

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function signOrder(): Promise<StoredOrder> {
  return world.signOrder(await world.openSession(tokenId), tokenId);
}

function tokenOf(id = tokenId) {
  const token = world.chains.token(id);
  assert.ok(token !== undefined);
  return token;
}

/** The final block shows an amount at the order's address. */
async function see(
  order: StoredOrder,
  kind: ExceptionKind,
  { amount, at, decision }: { amount: bigint; at: bigint; decision?: 'accept' },
): Promise<void> {
  const session = await world.session(order.sessionId);
  const seen = { session, order, kind, token: tokenOf(), amount, finalBlock: at };
  await world.database.db.transaction((transaction) =>
    raiseDeposit(transaction, world.moves, { ...seen, ...(decision === undefined ? {} : { decision }) }),
  );
}

/** What payers were told of. */
const returns: { readonly kind: string; readonly amount: string; readonly payer: string }[] = [];

/** A final block returns an amount to the payer. */
async function giveBack(
  order: StoredOrder,
  { amount, at, of = tokenId }: { amount: bigint; at: bigint; of?: string },
): Promise<void> {
  const chain = world.chain('ethereum');
  const block = { number: at, hash: zeroHash, parentHash: zeroHash, time: world.clock.now() };
  const event: ChainEvent = {
    ...{ chainId: chain.chainId, blockNumber: at, blockHash: zeroHash, blockTime: block.time, logIndex: 0 },
    ...{ txHash: `0x${at.toString(16).padStart(64, '0')}`, contract: 'gateway', name: 'Rescued' },
    ...{ orderId: order.orderId, arguments: { token: tokenOf(of).address, value: amount.toString() } },
  };
  const handler = exceptionHandler({
    ...{ ...world.moves, chains: world.chains },
    notify: async (_transaction, facts) => {
      for (const { type, dataJson } of facts)
        if (type === 'session.returned') returns.push(JSON.parse(dataJson).returned);
    },
  });
  await world.database.db.transaction((transaction) => handler.onFinal(transaction, chain, block, [event]));
}

async function exceptionsOf(order: StoredOrder): Promise<string[]> {
  const found = await findExceptions(world.database.db, [order.sessionId]);
  return found.map(({ kind, amountInToken, status, resolvedTx }) =>
    `${kind} ${amountInToken} ${status} ${resolvedTx === '' ? '' : BigInt(resolvedTx)}`.trim(),
  );
}

async function told(order: StoredOrder): Promise<number> {
  const events = await world.eventsOf(order.sessionId);
  return events.filter((type) => type.startsWith('session.exception')).length;
}

test('each wrong deposit that comes after the return of another is an exception with an event of its own', async () => {
  const order = await signOrder();
  await see(order, 'overpaid', { amount: cent, at: 10n });
  await see(order, 'overpaid', { amount: cent, at: 11n });
  await giveBack(order, { amount: cent, at: 12n });
  await see(order, 'overpaid', { amount: cent, at: 11n });
  assert.deepEqual(await exceptionsOf(order), ['overpaid 10000 resolved 12'], 'older observations are stale');

  await see(order, 'overpaid', { amount: cent, at: 12n });
  await giveBack(order, { amount: cent, at: 15n });
  assert.deepEqual(await exceptionsOf(order), ['overpaid 10000 resolved 12', 'overpaid 10000 resolved 15']);
  assert.equal(await told(order), 2);
});

test('more money before the return is a larger amount of the same exception, and another event unless it is dust', async () => {
  const order = await signOrder();
  await see(order, 'late', { amount: 3n * cent, at: 10n });
  await see(order, 'late', { amount: 3n * cent + 1n, at: 11n });
  assert.deepEqual([await exceptionsOf(order), await told(order)], [['late 30001 open'], 1]);
  await see(order, 'late', { amount: 5n * cent, at: 12n });
  assert.deepEqual([await exceptionsOf(order), await told(order)], [['late 50000 open'], 2]);
});

test('an accepted deposit keeps its amount: the operator adds to it', async () => {
  const order = await signOrder();
  await see(order, 'underpaid', { amount: 3n * cent, at: 10n, decision: 'accept' });
  await see(order, 'underpaid', { amount: 5n * cent, at: 11n, decision: 'accept' });
  assert.deepEqual([await exceptionsOf(order), await told(order)], [['underpaid 30000 open'], 1]);
});

test('a return of more than was seen is told with what it returned, once', async () => {
  const order = await signOrder();
  await see(order, 'late', { amount: cent, at: 10n });
  await giveBack(order, { amount: 4n * cent, at: 12n });
  await giveBack(order, { amount: 4n * cent, at: 12n });
  assert.deepEqual([await exceptionsOf(order), await told(order)], [['late 40000 resolved 12'], 2]);
});

test('a return of money that no observation has seen is told, once, with the reason that the facts give', async () => {
  const order = await signOrder();
  const { total } = order.order;
  await giveBack(order, { amount: cent - 1n, at: 9n });
  await giveBack(order, { amount: cent, at: 10n });
  await giveBack(order, { amount: cent, at: 10n });
  await giveBack(order, { amount: total, at: 11n });
  await giveBack(order, { amount: 2n * cent, at: 12n, of: 'ethereum::usdt' });
  await see(order, 'underpaid', { amount: cent, at: 9n });
  assert.deepEqual(await exceptionsOf(order), [
    'underpaid 10000 resolved 10',
    `late ${total} resolved 11`,
    'wrong_token 20000 resolved 12',
  ]);
  assert.equal(await told(order), 3);

  const paid = await signOrder();
  await world.mineFinal('ethereum', ['Paid', paid]);
  await giveBack(paid, { amount: cent, at: 13n });
  assert.deepEqual(await exceptionsOf(paid), ['overpaid 10000 resolved 13']);
});

test('a payer is told of each return once, with its reason, and of no dust', async () => {
  const order = await signOrder();
  returns.length = 0;
  await giveBack(order, { amount: cent - 1n, at: 9n });
  await see(order, 'late', { amount: 3n * cent, at: 10n });
  await giveBack(order, { amount: 3n * cent, at: 12n });
  await giveBack(order, { amount: 3n * cent, at: 12n });
  await giveBack(order, { amount: cent, at: 13n, of: 'ethereum::usdt' });
  assert.deepEqual(
    returns.map(({ kind, amount, payer }) => [kind, amount, payer]),
    [
      ['late', '30000', order.order.payer],
      ['wrong_token', '10000', order.order.payer],
    ],
  );
});

test('an exception that the merchant has marked as resolved is not raised again while its money is there', async () => {
  const order = await signOrder();
  await see(order, 'late', { amount: cent, at: 10n });
  const { merchantId } = await world.session(order.sessionId);
  const [exception] = await findExceptions(world.database.db, [order.sessionId]);
  const exceptionId = exception?.exceptionId ?? '';
  await world.database.db.transaction((transaction) =>
    markResolved(transaction, world.moves, { merchantId, exceptionId }),
  );
  await see(order, 'late', { amount: cent, at: 11n });
  assert.deepEqual([await exceptionsOf(order), await told(order)], [['late 10000 resolved'], 1]);
  await giveBack(order, { amount: cent, at: 12n });
  await see(order, 'late', { amount: cent, at: 13n });
  assert.deepEqual(await exceptionsOf(order), ['late 10000 resolved 12', 'late 10000 open']);
  assert.equal(await told(order), 2);
});
