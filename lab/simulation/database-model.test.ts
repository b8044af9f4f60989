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

const make = statement({
  name: 'model_test_make',
  parameters: {},
  columns: {},
  text: 'create table model_rows (word text, place serial)',
});
const clear = statement({
  name: 'model_test_clear',
  parameters: {},
  columns: {},
  text: 'delete from model_rows',
});
const keep = statement({
  name: 'model_test_keep',
  parameters: { word: 'text' },
  columns: { word: 'text' },
  text: 'insert into model_rows (word) values (:word) returning word',
});
const add = statement({
  name: 'model_test_add',
  parameters: { word: 'text' },
  columns: {},
  text: 'insert into model_rows (word) values (:word)',
});
const change = statement({
  name: 'model_test_change',
  parameters: { word: 'text' },
  columns: {},
  text: 'update model_rows set word = word where word = :word',
});
const kept = statement({
  name: 'model_test_kept',
  parameters: {},
  columns: { word: 'text' },
  text: 'select word from model_rows order by place',
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
  await database.db.query(make);
  connections = await Connections.open(database.url);
});
after(async () => {
  await connections.close();
  await database.close();
});

interface Life {
  readonly db: Database;
  readonly scheduler: Scheduler;
}

/** Runs `live` on the database of one process until no event is left. */
async function lived(
  seed: number,
  rates: Partial<typeof noFaults>,
  live: (life: Life) => Promise<void>,
): Promise<{ readonly words: readonly string[]; readonly traceHash: number }> {
  await database.db.query(clear);
  connections.cache.clear();
  const scheduler = new Scheduler();
  const faults = new Faults({ ...noFaults, ...rates }, seededRandom(seed));
  const process = new ModelProcess({ name: 'a', scheduler, faults, skewMs: 0 });
  const world: Owner = { name: 'world', isAlive: true, pausedUntilMs: 0 };
  const db = databaseModel({ process, connections, faults, world, lateStatements: new Set() });
  const work = live({ db, scheduler });
  await scheduler.run(() => false);
  await work;
  await process.kill();
  const words = (await database.db.query(kept)).map(({ word }) => word);
  return { words, traceHash: scheduler.traceHash };
}

test('a connection is lost before, among or behind statements, and a transaction is whole or not at all', async () => {
  const met = new Map<string, number>();
  for (let seed = 1; seed <= 300; seed += 1) {
    let told = 'nothing heard';
    const live = async ({ db }: Life) => {
      const [outcome] = await Promise.allSettled([
        db.transaction(async (transaction) => {
          await transaction.query(keep, { word: 'first' });
          await transaction.query(add, { word: 'second' });
          const second = transaction.query(keep, { word: 'third' }).then(() => (told = 'some heard'));
          await Promise.all([second, transaction.query(keep, { word: 'fourth' })]);
          told = 'all heard';
        }),
      ]);
      if (outcome?.status === 'fulfilled') told = 'done';
    };
    const { words, traceHash } = await lived(seed, { connectionLost: 0.1 }, live);
    if (words.length > 0) assert.deepEqual(words, ['first', 'second', 'third', 'fourth']);
    if (told === 'done') assert.equal(words.length, 4);
    else if (told !== 'all heard') assert.equal(words.length, 0);
    const what = `${told}, ${words.length === 0 ? 'nothing' : 'everything'} kept`;
    met.set(what, (met.get(what) ?? 0) + 1);
    if (seed % 30 === 0)
      assert.equal((await lived(seed, { connectionLost: 0.1 }, live)).traceHash, traceHash);
  }
  assert.deepEqual([...met.keys()].toSorted(), [
    'all heard, everything kept',
    'all heard, nothing kept',
    'done, everything kept',
    'nothing heard, nothing kept',
    'some heard, nothing kept',
  ]);
});

test('what commits alone may stand when its connection is lost, in a merchant’s scope too', async () => {
  const merchantId = newId('merchant', seededRandom(1).bytes);
  for (const inScope of [false, true]) {
    const met = new Set<string>();
    for (let seed = 1; seed <= 60; seed += 1) {
      let told = 'done';
      const { words } = await lived(seed, { connectionLost: 0.4 }, async ({ db }) => {
        const place = inScope ? db.inScope(merchantId) : db;
        await place.query(keep, { word: 'alone' }).catch(() => {
          told = 'lost';
        });
      });
      met.add(`${told}, ${words.length} kept`);
    }
    assert.deepEqual([...met].toSorted(), ['done, 1 kept', 'lost, 0 kept', 'lost, 1 kept']);
  }
});

test('nothing is executed over a connection that was lost with what was sent before it', async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 200; seed += 1) {
    let stray = Promise.resolve('');
    let told = 'lost';
    const { words } = await lived(seed, { connectionLost: 0.2 }, async ({ db }) => {
      const work = db.transaction(async (transaction) => {
        await transaction.query(keep, { word: 'first' });
        stray = transaction.query(keep, { word: 'stray' }).then(
          () => 'heard',
          () => 'unheard',
        );
        // The statement is on its way when the commit follows it.
        await Promise.resolve();
      });
      await work.then(
        () => (told = 'done'),
        () => {},
      );
    });
    met.add(`${await stray}, ${told}, ${words.length} kept`);
  }
  assert.ok(met.has('heard, done, 2 kept') && met.has('unheard, lost, 0 kept'), [...met].join('; '));
  for (const what of met) assert.doesNotMatch(what, /unheard, (done|lost, 2)|done, 0|1 kept/);
});

test('behind a statement that cannot be serialized nothing is executed, and the transaction is run again', async () => {
  let attempts = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    const { words } = await lived(seed, { serializationFailure: 0.1 }, async ({ db }) => {
      const work = db.transaction(async (transaction) => {
        attempts += 1;
        await transaction.query(add, { word: 'first' });
        await transaction.query(keep, { word: 'second' });
        await transaction.query(add, { word: 'third' });
      });
      // The service gives up after five failures in a row.
      await work.catch((error: unknown) => assert.match(String(error), /could not serialize/));
    });
    if (words.length > 0) assert.deepEqual(words, ['first', 'second', 'third']);
  }
  assert.ok(attempts > 130, `${attempts} attempts`);
});

test('statements that were sent behind a failed one are refused, and nothing of the transaction stands', async () => {
  for (const begins of [true, false]) {
    const { words } = await lived(1, {}, async ({ db }) => {
      await db.query(kept);
      const work = db.transaction(async (transaction) => {
        if (begins) await transaction.query(keep, { word: 'first' });
        else await transaction.query(kept);
        const failed = assert.rejects(transaction.query(divide, { divisor: 0 }), /division by zero/);
        await Promise.resolve();
        const refused = assert.rejects(transaction.query(kept), /current transaction is aborted/);
        await Promise.resolve();
        await assert.rejects(transaction.query(keep, { word: 'second' }), /current transaction is aborted/);
        await Promise.all([failed, refused]);
      });
      await assert.rejects(work, /division by zero/);
    });
    assert.deepEqual(words, []);
  }
});

test('statements that wait for one transaction go on afterwards, always in the same order', async () => {
  const orders = new Set<string>();
  for (let seed = 1; seed <= 12; seed += 1) {
    const live = async ({ db, scheduler }: Life) => {
      const owner: Owner = { name: 'test', isAlive: true, pausedUntilMs: 0 };
      await db.query(add, { word: 'a' });
      await db.query(add, { word: 'b' });
      const holder = db.transaction(async (transaction) => {
        await transaction.query(change, { word: 'a' });
        await transaction.query(change, { word: 'b' });
        await scheduler.sleep(100, owner);
      });
      await scheduler.sleep(50, owner);
      const behind = ['a', 'b'].map((word) =>
        db.transaction(async (transaction) => {
          await transaction.query(change, { word });
          for (const turn of ['1', '2', '3']) await transaction.query(add, { word: `${word}${turn}` });
        }),
      );
      await Promise.all([holder, ...behind]);
    };
    const first = await lived(seed, {}, live);
    assert.deepEqual(await lived(seed, {}, live), first);
    for (const word of ['a', 'b']) {
      const own = first.words.filter((kept) => kept.startsWith(word));
      assert.deepEqual(own, [word, `${word}1`, `${word}2`, `${word}3`]);
    }
    orders.add(first.words[2] ?? '');
  }
  assert.deepEqual([...orders].toSorted(), ['a1', 'b1']);
});
