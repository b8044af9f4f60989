import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  addMissing,
  appendBlocks,
  type BlockHeader,
  finalize,
  findCursor,
  rewind,
  storedBlock,
} from '@florin/evm';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, keccak256, toHex, zeroHash } from 'viem';
import { findDroppedEvents } from '#contracts/dropped-event.ts';
import type { ChainEvent, ChainEventName, ContractName } from '#contracts/event.ts';
import { logSourceOf } from '#contracts/log-source.ts';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { movementHandler } from './movement.ts';

const bookedKinds = statement({
  name: 'movement_test_kinds',
  parameters: { txHashes: 'text[]' },
  columns: { kind: 'text' },
  text: 'select kind from ledger_entries where tx_hash = any (:txHashes) order by entry_id',
});

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

type EventSketch = readonly [
  ContractName,
  ChainEventName,
  logIndex: number,
  values?: Readonly<Record<string, string>>,
];

/** A transaction that a watcher can read several times, and what it adds to the books. */
async function transactionOf(name: string) {
  const chain = world.chain('ethereum');
  const [token] = chain.tokens;
  assert.ok(token !== undefined);
  const { db } = world.database;
  const { clock } = world;
  const handler = movementHandler({ log: silentLog });
  const context = { chain, db, clock, log: silentLog, handler, source: logSourceOf(chain) };
  const cursorNow = async () => {
    const cursor = await findCursor(db, chain.chainId);
    assert.ok(cursor !== undefined);
    return cursor;
  };
  const txHash = keccak256(toHex(name));
  const blockOf = (header: BlockHeader, sketches: readonly EventSketch[]) => ({
    header,
    events: sketches.map(
      ([contract, event, logIndex, values]): ChainEvent => ({
        ...{ chainId: chain.chainId, blockNumber: header.number, blockHash: header.hash },
        ...{ blockTime: header.time, logIndex, txHash, contract, name: event, orderId: zeroHash },
        arguments: { token: getAddress(token.address), ...values },
      }),
    ),
  });
  const read = async (events: readonly EventSketch[], hash: Hex): Promise<BlockHeader> => {
    const begun = await cursorNow();
    const header: BlockHeader = {
      number: begun.headNumber + 1n,
      ...{ hash, parentHash: begun.headHash, time: clock.now(), logsBloom: '0x' as const },
      ...{ baseFeePerGas: 0n, transactionHashes: [txHash] },
    };
    await appendBlocks(context, begun, [blockOf(header, events)]);
    const block = await storedBlock(context, header.number);
    assert.ok(block !== undefined);
    await finalize(context, await cursorNow(), block);
    return header;
  };
  const balances = async () => {
    assert.ok((await ledgerSums(db)).every(({ total }) => total === 0n));
    const own = ['gateway:ethereum', 'vault:ethereum', 'fees'];
    return (await ledgerBalances(db)).filter(({ account }) => own.includes(account));
  };
  const begun = await balances();
  return {
    read: (...events: readonly EventSketch[]) => read(events, keccak256(toHex(`${name}, first`))),
    readAgain: async (header: BlockHeader, ...events: readonly EventSketch[]) =>
      addMissing(context, await cursorNow(), blockOf(header, events)),
    /** Reorgs the final block out, and mines the same transaction in another block. */
    async moveAway(header: BlockHeader, ...events: readonly EventSketch[]) {
      const parent = await storedBlock(context, header.number - 1n);
      assert.ok(parent !== undefined);
      await rewind(context, await cursorNow(), parent);
      return read(events, keccak256(toHex(`${name}, second`)));
    },
    /** The changes by account; the sum of all assets. */
    async booked() {
      const sums: Record<string, bigint> = {};
      for (const { account, balance } of await balances()) sums[account] = (sums[account] ?? 0n) + balance;
      for (const { account, balance } of begun) sums[account] = (sums[account] ?? 0n) - balance;
      return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n));
    },
  };
}

const otherToken = getAddress(`0x${'ab'.repeat(20)}`);

const pairs: Readonly<Record<string, readonly [EventSketch, EventSketch, Record<string, bigint>]>> = {
  'float withdrawn': [
    ['vault', 'Withdrawn', 2, { amount: '7' }],
    ['vault', 'Withdrawn', 5, { amount: '7' }],
    { 'vault:ethereum': -14n },
  ],
  'fees withdrawn': [
    ['gateway', 'FeesWithdrawn', 2, { value: '7' }],
    ['gateway', 'FeesWithdrawn', 5, { value: '8' }],
    { 'gateway:ethereum': -15n, fees: 15n },
  ],
  'two tokens sent': [
    ['gateway', 'Transferred', 2, { amount: '7' }],
    ['gateway', 'Transferred', 5, { amount: '7', token: otherToken }],
    { 'gateway:ethereum': 14n },
  ],
  'one token sent to both': [
    ['gateway', 'Transferred', 4, { amount: '7' }],
    ['vault', 'Transferred', 4, { amount: '9' }],
    { 'gateway:ethereum': 7n, 'vault:ethereum': 9n },
  ],
};

for (const [name, [first, second, books]] of Object.entries(pairs)) {
  for (const [index, only] of [first, second].entries())
    test(`${name}: both events of one transaction are booked, also if the first reading reported only event ${index + 1}`, async () => {
      const transaction = await transactionOf(`${name} ${index}`);
      const header = await transaction.read(only);
      for (let time = 0; time < 2; time += 1) {
        await transaction.readAgain(header, first, second);
        assert.deepEqual(await transaction.booked(), books, `read again ${time + 1} times`);
      }
      await transaction.moveAway(header, first, second);
      assert.deepEqual(await transaction.booked(), books, 'in another block');
    });
}

test('the second reading of a block corrects the amount and the place of a transfer', async () => {
  const transaction = await transactionOf('less');
  const header = await transaction.read(['gateway', 'Transferred', 2, { amount: '18' }]);
  for (const [logIndex, amount] of [
    [2, 9n],
    [2, 18n],
    [4, 18n],
    [2, 9n],
  ] as const) {
    await transaction.readAgain(header, ['gateway', 'Transferred', logIndex, { amount: amount.toString() }]);
    assert.deepEqual(await transaction.booked(), { 'gateway:ethereum': amount });
  }
});

const returns: Readonly<Partial<Record<ChainEventName, readonly string[]>>> = {
  Paid: ['payment'],
  Refunded: ['refund'],
  Reclaimed: ['reclaim'],
  Settled: ['settlement'],
  PaidOut: ['payout'],
  // The lost one is booked and reversed.
  SettlementRefunded: ['settlement_refund', 'settlement_refund', 'settlement_refund'],
  Rescued: ['rescue', 'rescue', 'rescue'],
  FeeAccrued: ['fee_accrual'],
  FeesWithdrawn: ['fee_withdrawal', 'fee_withdrawal'],
  Withdrawn: ['float_withdrawal', 'float_withdrawal'],
  Transferred: ['unmatched', 'unmatched'],
};

for (const [name, kinds] of Object.entries(returns))
  test(`a lost ${name} with an equal one in another transaction is ${kinds.length === 1 ? 'booked once and returned' : kinds.length === 2 ? 'booked twice and missing' : 'reversed and missing'}`, async () => {
    const ethereum = world.chain('ethereum');
    const [token] = ethereum.tokens;
    assert.ok(token !== undefined);
    const order = await world.signOrder(await world.openSession('ethereum::usdc'), 'ethereum::usdc');
    const values = { token: getAddress(token.address), value: '3', amount: '3' };
    const event = [name as ChainEventName, { ...order, orderId: keccak256(toHex(name)) }, values] as const;
    const lost = await world.mineFinal('ethereum', event);
    await world.dropFinal('ethereum', 1n);
    const equal = await world.mineFinal('ethereum', event);
    const booked = await world.database.db.query(bookedKinds, { txHashes: [lost, equal] });
    assert.deepEqual(
      booked.map(({ kind }) => kind),
      kinds,
    );
    const dropped = await findDroppedEvents(world.database.db, ethereum.chainId, 1_000);
    const own = dropped.filter(({ txHash }) => txHash === lost);
    assert.deepEqual(
      own.map(({ returnedAt }) => returnedAt === undefined),
      [kinds.length > 1],
    );
  });

for (const name of ['SettlementRefunded', 'Rescued'] as const)
  test(`a lost ${name} is reversed, and stands once when its own transaction returns`, async () => {
    const transaction = await transactionOf(`own ${name}`);
    const before = await ledgerBalances(world.database.db);
    const twice = [0, 1].map((place): EventSketch => ['gateway', name, place, { value: '11' }]);
    const header = await transaction.read(...twice);
    const booked = await ledgerBalances(world.database.db);
    assert.notDeepEqual(booked, before);
    const empty = await transaction.moveAway(header);
    assert.deepEqual(await ledgerBalances(world.database.db), before);
    const back = await transaction.moveAway(empty, ...twice);
    assert.deepEqual(await ledgerBalances(world.database.db), booked);
    await transaction.readAgain(back, ...twice);
    assert.deepEqual(await ledgerBalances(world.database.db), booked);
  });
