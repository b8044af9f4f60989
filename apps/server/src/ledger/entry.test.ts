import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import fc from 'fast-check';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { book, type Entry, ledgerBalances, ledgerSums, type Posting } from './entry.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const asset = 'base::usdc';
const paid: Entry = {
  ...{ kind: 'payment', orderId: 'order', chainId: 1, txHash: '0xaa', at: new Date(0) },
  postings: [
    { account: 'gateway:base', asset, amount: 10n },
    { account: 'merchant:0xc4', asset, amount: -9n },
    { account: 'fees:due', asset, amount: -1n },
  ],
};

const record = (entry: Entry) => database.db.transaction((transaction) => book(transaction, entry));

const countPostings = statement({
  name: 'entry_test_postings',
  parameters: { orderId: 'text' },
  columns: { postings: 'int8' },
  text: `select count(*) as postings from ledger_postings join ledger_entries using (entry_id)
   where order_id = :orderId`,
});

const postingsOf = async (orderId: string) =>
  (await database.db.query(countPostings, { orderId }))[0]?.postings;

const otherFacts: Readonly<Record<string, Partial<Entry>>> = {
  'another order': { orderId: 'another order' },
  'another kind': { kind: 'settlement' },
  'another chain': { chainId: 2 },
  'another fact': { fact: 'another fact' },
};
for (const [name, changed] of Object.entries(otherFacts))
  test(`a fact is booked once, and ${name} separately`, async () => {
    const entry = { ...paid, orderId: `first of ${name}` };
    assert.deepEqual([await record(entry), await record(entry)], [true, false]);
    assert.equal(await record({ ...entry, ...changed }), true);
    assert.equal(await record({ ...entry, ...changed }), false);
  });

test('a fact that is booked again keeps its first transaction, time and postings', async () => {
  const entry = { ...paid, orderId: 'repeated' };
  await record(entry);
  const before = await ledgerBalances(database.db);
  const postings = paid.postings.map((posting) => ({ ...posting, amount: 5n * posting.amount }));
  assert.equal(await record({ ...entry, txHash: '0xbb', at: new Date(1), postings }), false);
  assert.deepEqual(await ledgerBalances(database.db), before);
});

test('two transactions that book a fact at once book it once', async () => {
  const entry = { ...paid, orderId: 'concurrent' };
  const booked = await Promise.all([record(entry), record(entry), record(entry)]);
  assert.deepEqual(booked.toSorted(), [false, false, true]);
  assert.equal(await postingsOf('concurrent'), 3n);
});

test('postings of zero are omitted', async () => {
  const zero = { account: 'fees', asset, amount: 0n };
  await record({ ...paid, orderId: 'with zeros', postings: [zero, ...paid.postings, zero] });
  assert.equal(await postingsOf('with zeros'), 3n);
});

test('an entry is committed only if its postings sum to zero per asset', async () => {
  const amount = fc.bigInt({ min: -3n, max: 3n });
  const posting: fc.Arbitrary<Posting> = fc.record({
    account: fc.constantFrom('gateway:base', 'fees', 'float'),
    asset: fc.constantFrom(asset, 'base::usdt'),
    amount,
  });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(posting, { maxLength: 5 }), fc.boolean(), async (given, isBalanced) => {
      const opposite = given.map((each) => ({ ...each, account: 'unmatched', amount: -each.amount }));
      const postings = isBalanced ? [...given, ...opposite] : given;
      const sums = new Map<string, bigint>();
      for (const each of postings) sums.set(each.asset, (sums.get(each.asset) ?? 0n) + each.amount);
      number += 1;
      const booked = record({ ...paid, orderId: `random ${number}`, postings });
      if ([...sums.values()].every((sum) => sum === 0n)) assert.equal(await booked, true);
      else await assert.rejects(booked, /does not sum to zero/);
    }),
    { numRuns: 60 },
  );
  assert.ok((await ledgerSums(database.db)).every(({ total }) => total === 0n));
});

test('an order that ends otherwise after a reorg below finality has the entry of its first end reversed, each time', async () => {
  const postings = (amount: bigint) => [
    { account: 'gateway:moved', asset, amount: -amount },
    { account: 'merchant:moved', asset, amount },
  ];
  const settled: Entry = { ...paid, kind: 'settlement', orderId: 'ends', postings: postings(9n) };
  const reclaimed: Entry = { ...settled, kind: 'reclaim', postings: postings(10n) };
  const other: Entry = { ...reclaimed, orderId: 'other ends', chainId: 1, postings: postings(0n) };
  const gateway = async () =>
    (await ledgerBalances(database.db)).find(({ account }) => account === 'gateway:moved')?.balance;
  const steps: readonly (readonly [Entry, boolean, bigint])[] = [
    [settled, true, -9n],
    [other, true, -9n],
    [reclaimed, true, -10n],
    [reclaimed, false, -10n],
    [settled, true, -9n],
    [settled, false, -9n],
    [reclaimed, true, -10n],
  ];
  for (const [entry, isBooked, balance] of steps)
    assert.deepEqual([await record(entry), await gateway()], [isBooked, balance]);
});
