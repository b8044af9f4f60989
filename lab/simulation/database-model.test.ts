import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, statement } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import { type TestDatabase, testDatabase } from '@florin/server/testing';
import { Connections } from './connections.ts';
import { databaseModel } from './database-model.ts';
import { Faults, noFaults } from './faults.ts';
import { ModelProcess } from './process-model.ts';
import { type Owner, Scheduler } from './scheduler.ts';
import { seededRandom } from './seeded-random.ts';

const createTable = statement({
  name: 'model_test_create_table',
  text: 'create table model_rows (word text, position serial)',
});
const deleteRows = statement({
  name: 'model_test_delete',
  text: 'delete from model_rows',
});
const insertReturning = statement({
  name: 'model_test_insert_returning',
  parameters: { word: 'text' },
  columns: { word: 'text' },
  text: 'insert into model_rows (word) values (:word) returning word',
});
const insert = statement({
  name: 'model_test_insert',
  parameters: { word: 'text' },
  text: 'insert into model_rows (word) values (:word)',
});
const update = statement({
  name: 'model_test_update',
  parameters: { word: 'text' },
  text: 'update model_rows set word = word where word = :word',
});
const selectWords = statement({
  name: 'model_test_select',
  columns: { word: 'text' },
  text: 'select word from model_rows order by position',
});
const divide = statement({
  name: 'model_test_divide',
  parameters: { divisor: 'int4' },
  columns: { result: 'int4' },
  text: 'select 6 / :divisor as result',
});

let database: TestDatabase;
let connections: Connections;
before(async () => {
  database = await testDatabase();
  await database.db.query(createTable);
  connections = await Connections.open(database.url);
});
after(async () => {
  await connections.close();
  await database.close();
});

interface TestProcess {
  readonly db: Database;
  readonly scheduler: Scheduler;
}

/** Runs `work` on the database of one process until no event is left. */
async function runProcess(
  seed: number,
  rates: Partial<typeof noFaults>,
  work: (process: TestProcess) => Promise<void>,
): Promise<{ readonly words: readonly string[]; readonly traceHash: number }> {
  await database.db.query(deleteRows);
  connections.cache.clear();
  const scheduler = new Scheduler();
  const faults = new Faults({ ...noFaults, ...rates }, seededRandom(seed));
  const process = new ModelProcess({ name: 'a', scheduler, faults, skewMs: 0 });
  const world: Owner = { name: 'world', isAlive: true, pausedUntilMs: 0 };
  const db = databaseModel({ process, connections, faults, world, lateStatements: new Set() });
  const finished = work({ db, scheduler });
  await scheduler.run(() => false);
  await finished;
  await process.kill();
  const words = (await database.db.query(selectWords)).map(({ word }) => word);
  return { words, traceHash: scheduler.traceHash };
}

test('a transaction whose connection is lost before, between or after its statements commits entirely or not at all', async () => {
  const outcomes = new Map<string, number>();
  for (let seed = 1; seed <= 300; seed += 1) {
    let progress = 'no answer';
    const work = async ({ db }: TestProcess) => {
      const [outcome] = await Promise.allSettled([
        db.transaction(async (transaction) => {
          await transaction.query(insertReturning, { word: 'first' });
          await transaction.query(insert, { word: 'second' });
          const second = transaction
            .query(insertReturning, { word: 'third' })
            .then(() => (progress = 'some answers'));
          await Promise.all([second, transaction.query(insertReturning, { word: 'fourth' })]);
          progress = 'all answers';
        }),
      ]);
      if (outcome?.status === 'fulfilled') progress = 'committed';
    };
    const { words, traceHash } = await runProcess(seed, { connectionLost: 0.1 }, work);
    if (words.length > 0) assert.deepEqual(words, ['first', 'second', 'third', 'fourth']);
    if (progress === 'committed') assert.equal(words.length, 4);
    else if (progress !== 'all answers') assert.equal(words.length, 0);
    const outcome = `${progress}, ${words.length === 0 ? 'nothing' : 'everything'} stored`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (seed % 30 === 0)
      assert.equal((await runProcess(seed, { connectionLost: 0.1 }, work)).traceHash, traceHash);
  }
  assert.deepEqual([...outcomes.keys()].toSorted(), [
    'all answers, everything stored',
    'all answers, nothing stored',
    'committed, everything stored',
    'no answer, nothing stored',
    'some answers, nothing stored',
  ]);
});

test('a single statement may have committed when its connection is lost, also in a merchant’s scope', async () => {
  const merchantId = newId('merchant', seededRandom(1).bytes);
  for (const inScope of [false, true]) {
    const outcomes = new Set<string>();
    for (let seed = 1; seed <= 60; seed += 1) {
      let progress = 'committed';
      const { words } = await runProcess(seed, { connectionLost: 0.4 }, async ({ db }) => {
        const target = inScope ? db.inScope(merchantId) : db;
        await target.query(insertReturning, { word: 'alone' }).catch(() => {
          progress = 'lost';
        });
      });
      outcomes.add(`${progress}, ${words.length} stored`);
    }
    assert.deepEqual([...outcomes].toSorted(), ['committed, 1 stored', 'lost, 0 stored', 'lost, 1 stored']);
  }
});

test('after a connection is lost, no later statement of its transaction is executed', async () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= 200; seed += 1) {
    let secondInsert = Promise.resolve('');
    let progress = 'lost';
    const { words } = await runProcess(seed, { connectionLost: 0.2 }, async ({ db }) => {
      const work = db.transaction(async (transaction) => {
        await transaction.query(insertReturning, { word: 'first' });
        secondInsert = transaction.query(insertReturning, { word: 'second' }).then(
          () => 'answered',
          () => 'unanswered',
        );
        // The statement is on its way when the commit follows it.
        await Promise.resolve();
      });
      await work.then(
        () => (progress = 'committed'),
        () => {},
      );
    });
    outcomes.add(`${await secondInsert}, ${progress}, ${words.length} stored`);
  }
  assert.ok(
    outcomes.has('answered, committed, 2 stored') && outcomes.has('unanswered, lost, 0 stored'),
    [...outcomes].join('; '),
  );
  for (const outcome of outcomes)
    assert.doesNotMatch(outcome, /unanswered, (committed|lost, 2)|committed, 0|1 stored/);
});

test('after a serialization failure no statement of the transaction is executed, and the transaction is retried', async () => {
  let attempts = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    const { words } = await runProcess(seed, { serializationFailure: 0.1 }, async ({ db }) => {
      const work = db.transaction(async (transaction) => {
        attempts += 1;
        await transaction.query(insert, { word: 'first' });
        await transaction.query(insertReturning, { word: 'second' });
        await transaction.query(insert, { word: 'third' });
      });
      // The service gives up after five failures in a row.
      await work.catch((error: unknown) => assert.match(String(error), /could not serialize/));
    });
    if (words.length > 0) assert.deepEqual(words, ['first', 'second', 'third']);
  }
  assert.ok(attempts > 130, `${attempts} attempts`);
});

test('statements sent after a failed one are refused, and the transaction changes nothing', async () => {
  for (const isBegun of [true, false]) {
    const { words } = await runProcess(1, {}, async ({ db }) => {
      await db.query(selectWords);
      const work = db.transaction(async (transaction) => {
        if (isBegun) await transaction.query(insertReturning, { word: 'first' });
        else await transaction.query(selectWords);
        const failed = assert.rejects(transaction.query(divide, { divisor: 0 }), /division by zero/);
        await Promise.resolve();
        const refused = assert.rejects(transaction.query(selectWords), /current transaction is aborted/);
        await Promise.resolve();
        await assert.rejects(
          transaction.query(insertReturning, { word: 'second' }),
          /current transaction is aborted/,
        );
        await Promise.all([failed, refused]);
      });
      await assert.rejects(work, /division by zero/);
    });
    assert.deepEqual(words, []);
  }
});

test('statements that wait for a transaction continue after it, always in the same order', async () => {
  const orders = new Set<string>();
  for (let seed = 1; seed <= 12; seed += 1) {
    const work = async ({ db, scheduler }: TestProcess) => {
      const owner: Owner = { name: 'test', isAlive: true, pausedUntilMs: 0 };
      await db.query(insert, { word: 'a' });
      await db.query(insert, { word: 'b' });
      const holder = db.transaction(async (transaction) => {
        await transaction.query(update, { word: 'a' });
        await transaction.query(update, { word: 'b' });
        await scheduler.sleep(100, owner);
      });
      await scheduler.sleep(50, owner);
      const waitingTransactions = ['a', 'b'].map((word) =>
        db.transaction(async (transaction) => {
          await transaction.query(update, { word });
          for (const turn of ['1', '2', '3']) await transaction.query(insert, { word: `${word}${turn}` });
        }),
      );
      await Promise.all([holder, ...waitingTransactions]);
    };
    const first = await runProcess(seed, {}, work);
    assert.deepEqual(await runProcess(seed, {}, work), first);
    for (const word of ['a', 'b']) {
      const own = first.words.filter((kept) => kept.startsWith(word));
      assert.deepEqual(own, [word, `${word}1`, `${word}2`, `${word}3`]);
    }
    orders.add(first.words[2] ?? '');
  }
  assert.deepEqual([...orders].toSorted(), ['a1', 'b1']);
});
