import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase } from './database.ts';
import { statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

const one = statement({
  name: 'test_transaction_one',
  columns: { one: 'int4' },
  text: 'select 1 as one',
});
const make = statement({
  name: 'test_transaction_make',
  text: 'create table if not exists test_rows (word text not null)',
});
const clear = statement({
  name: 'test_transaction_clear',
  text: 'delete from test_rows',
});
const keep = statement({
  name: 'test_transaction_keep',
  parameters: { word: 'text' },
  text: 'insert into test_rows (word) values (:word)',
});
const kept = statement({
  name: 'test_transaction_kept',
  columns: { word: 'text' },
  text: 'select word from test_rows order by word',
});
const makeFailing = statement({
  name: 'test_transaction_make_failing',
  text: `create or replace function test_refuse(state text) returns int language plpgsql
   as $$ begin raise exception 'as asked' using errcode = state; end $$`,
});
const fail = statement({
  name: 'test_transaction_fail',
  parameters: { state: 'text' },
  columns: { failed: 'int4?' },
  text: 'select test_refuse(:state) as failed',
});
const fresh = statement({
  name: 'test_transaction_fresh',
  columns: { two: 'int4' },
  text: 'select 2 as two',
});
const mistyped = statement({
  name: 'test_transaction_mistyped',
  columns: { one: 'text' },
  text: 'select 1 as one',
});
const forget = statement({
  name: 'test_transaction_forget',
  text: 'discard all',
});

let database: TestDatabase;
before(async () => {
  database = await openedDatabase();
  await database.db.query(make);
  await database.db.query(makeFailing);
});
after(() => database.close());

/** A database with one connection, so that all statements meet on it. */
function lone(t: { after(work: () => Promise<void>): void }) {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  return db;
}

test('a commit includes every statement asked before it, awaited or not', async (t) => {
  const db = lone(t);
  let stray: Promise<unknown> | undefined;
  // More turns of the microtask queue bring the statement nearer to the commit.
  for (let turns = 0; turns < 5; turns += 1) {
    await db.query(clear);
    await db.transaction(async (transaction) => {
      await transaction.query(one);
      void transaction.query(keep, { word: 'written' });
      afterTurns(turns, () => {
        stray = transaction.query(keep, { word: 'asked' }).then(
          () => 'asked',
          () => 'refused',
        );
      });
    });
    const outcome = await stray;
    assert.deepEqual(
      (await db.query(kept)).map(({ word }) => word),
      outcome === 'asked' ? ['asked', 'written'] : ['written'],
      `${turns} turns`,
    );
    if (turns === 0) assert.equal(outcome, 'asked');
  }
});

test('a transaction is reported as committed exactly when PostgreSQL has committed it', async (t) => {
  for (let turns = 0; turns < 5; turns += 1) {
    const db = lone(t);
    await db.query(clear);
    let stray: Promise<unknown> | undefined;
    const [outcome] = await Promise.allSettled([
      db.transaction(async (transaction) => {
        await transaction.query(one);
        void transaction.query(keep, { word: 'written' });
        // PostgreSQL executes the statement; the client refuses the answer.
        afterTurns(turns, () => {
          stray = transaction.query(mistyped).catch(() => undefined);
        });
      }),
    ]);
    await stray;
    const isKept = (await db.query(kept)).length === 1;
    assert.equal(outcome.status === 'fulfilled', isKept, `${turns} turns`);
  }
});

function afterTurns(turns: number, work: () => void): void {
  if (turns === 0) work();
  else queueMicrotask(() => afterTurns(turns - 1, work));
}

test('a serialization failure is run again, regardless of the answers to later statements', async (t) => {
  const db = lone(t);
  let attempts = 0;
  const work = db.transaction(async (transaction) => {
    attempts += 1;
    await transaction.query(one);
    if (attempts > 1) return;
    const first = Promise.allSettled([transaction.query(fail, { state: '40001' }), transaction.query(fresh)]);
    await Promise.resolve();
    // The statement relies on the one that its predecessor should have prepared.
    const [behind] = await Promise.allSettled([transaction.query(fresh)]);
    await first;
    if (behind?.status === 'rejected') throw behind.reason;
  });
  await work;
  assert.equal(attempts, 2);
});

test('an answer with undeclared columns is refused each time', async (t) => {
  const db = lone(t);
  const refused = () =>
    assert.rejects(
      db.transaction((transaction) => transaction.query(mistyped)),
      /other columns than it declares/,
    );
  await refused();
  await refused();
  const other = lone(t);
  await assert.rejects(other.query(mistyped), /other columns than it declares/);
  await assert.rejects(
    other.transaction((transaction) => transaction.query(mistyped)),
    /other columns than it declares/,
  );
});

test('a connection that has lost its prepared statements is not used again', async (t) => {
  const db = lone(t);
  const work = () => db.transaction((transaction) => transaction.query(one));
  await work();
  await db.query(forget);
  await assert.rejects(work(), /prepared statement/);
  assert.deepEqual(await work(), [{ one: 1 }]);
});
