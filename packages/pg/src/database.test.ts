import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { openDatabase } from './database.ts';
import type { Transaction } from './queryable.ts';
import { statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

const one = statement({
  name: 'test_database_one',
  columns: { one: 'int4' },
  text: 'select 1 as one',
});

/** A tunnel to the database that can swallow packets, as a broken network does. */
async function startTunnel(url: URL) {
  let isSwallowing = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = dial(Number(url.port), url.hostname);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => isSwallowing || to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(typeof address === 'object' ? address?.port : '');
  return {
    url: through.href,
    setSwallowing: (value: boolean) => {
      isSwallowing = value;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let database: TestDatabase;
before(async () => {
  database = await openedDatabase();
});
after(() => database.close());

test('a query that the network swallows fails after the time-out, and the next connection works', async (t) => {
  const tunnel = await startTunnel(new URL(database.url));
  const db = openDatabase({
    url: tunnel.url,
    connections: 1,
    answerLimitMs: 2_000,
    onError: () => undefined,
  });
  t.after(async () => {
    tunnel.close();
    await db.close();
  });
  assert.deepEqual(await db.query(one), [{ one: 1 }]);
  tunnel.setSwallowing(true);
  await assert.rejects(db.query(one), /timeout/);
  tunnel.setSwallowing(false);
  assert.deepEqual(await db.query(one), [{ one: 1 }]);

  const work = db.transaction(async (transaction) => {
    await transaction.query(one);
    tunnel.setSwallowing(true);
    return transaction.query(one);
  });
  await assert.rejects(work, /timeout/);
  tunnel.setSwallowing(false);
  assert.deepEqual(await db.transaction((transaction) => transaction.query(one)), [{ one: 1 }]);
});

const keep = statement({
  name: 'test_database_keep',
  parameters: { word: 'text' },
  text: 'insert into test_kept (word) values (:word)',
});
const kept = statement({
  name: 'test_database_kept',
  columns: { word: 'text' },
  text: 'select word from test_kept order by word',
});
const makeKept = statement({
  name: 'test_database_make',
  text: 'create table if not exists test_kept (word text not null)',
});
const clearKept = statement({
  name: 'test_database_clear',
  text: 'delete from test_kept',
});
const misnamed = statement({
  name: 'test_database_misnamed',
  columns: { two: 'int4' },
  text: 'select 1 as one',
});
const mistyped = statement({
  name: 'test_database_mistyped',
  columns: { one: 'text' },
  text: 'select 1 as one',
});
const unlisted = statement({
  name: 'test_database_unlisted',
  text: 'select 1 as one',
});
const nonsense = statement({ name: 'test_database_nonsense', text: 'selct 1' });
const endOwn = statement({
  name: 'test_database_end_own',
  columns: { isEnded: 'bool' },
  text: 'select pg_terminate_backend(pg_backend_pid()) as "isEnded"',
});

test('a transaction is stored completely or not at all, for every kind of first statement', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1, onError: () => undefined });
  t.after(() => db.close());
  await db.query(makeKept);
  const failed = (askFirst: (transaction: Transaction) => Promise<unknown>) =>
    db.transaction(async (transaction) => {
      const second = transaction.query(keep, { word: 'lost' });
      await Promise.all([askFirst(transaction), second]);
    });
  await assert.rejects(failed((transaction) => transaction.query(nonsense)));
  await assert.rejects(failed((transaction) => transaction.query(endOwn)));
  await assert.rejects(
    db.transaction(async (transaction) => {
      // The first statement fails. The second was sent behind it and must not be executed alone.
      await Promise.all([transaction.query(nonsense), transaction.query(keep, { word: 'alone' })]);
    }),
    /syntax error/,
  );
  assert.deepEqual(await db.query(kept), []);
  await db.transaction(async () => {});
  await db.transaction(async (transaction) => {
    await Promise.all(['one', 'three', 'two'].map((word) => transaction.query(keep, { word })));
  });
  assert.deepEqual(await db.query(kept), [{ word: 'one' }, { word: 'three' }, { word: 'two' }]);
});

const makeFailing = statement({
  name: 'test_database_make_failing',
  text: `create or replace function test_fail(state text) returns int language plpgsql
   as $$ begin raise exception 'as asked' using errcode = state; end $$`,
});
const fail = statement({
  name: 'test_database_fail',
  parameters: { state: 'text' },
  columns: { failed: 'int4?' },
  text: 'select test_fail(:state) as failed',
});

test('a serialization failure is run again, even if the caller throws the error of a later statement', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeFailing);
  const begunWith = async (state: string) => {
    let attempts = 0;
    await db.transaction(async (transaction) => {
      attempts += 1;
      await transaction.query(one);
      if (attempts > 1) return;
      const [, behind] = await Promise.allSettled([
        transaction.query(fail, { state }),
        transaction.query(one),
      ]);
      if (behind.status === 'rejected') throw behind.reason;
    });
    return attempts;
  };
  assert.equal(await begunWith('40001'), 2);
  await assert.rejects(begunWith('22000'), /as asked/);
});

test('statements that are sent together are answered in order, up to the one that fails', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeFailing);
  await db.query(makeKept);
  // Twice: the connection prepares the statements in the first run and reuses them in the second.
  for (const _ of [1, 2]) {
    let settled: PromiseSettledResult<unknown>[] = [];
    const work = db.transaction(async (transaction) => {
      settled = await Promise.allSettled([
        transaction.query(one),
        transaction.query(fail, { state: '22000' }),
        transaction.query(keep, { word: 'behind' }),
      ]);
    });
    await assert.rejects(work, /as asked/);
    assert.deepEqual(
      settled.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason))),
      [
        [{ one: 1 }],
        'error: as asked',
        'error: current transaction is aborted, commands ignored until end of transaction block',
      ],
    );
  }
  assert.deepEqual(
    (await db.query(kept)).filter(({ word }) => word === 'behind'),
    [],
  );
});

test('statements that are not awaited run in order and before the commit', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeKept);
  await db.query(clearKept);
  await db.transaction(async (transaction) => {
    void transaction.query(keep, { word: 'first' });
    assert.deepEqual(await transaction.query(kept), [{ word: 'first' }]);
    void transaction.query(keep, { word: 'second' });
    await transaction.query(clearKept);
    void transaction.query(keep, { word: 'third' });
  });
  assert.deepEqual(await db.query(kept), [{ word: 'third' }]);
  await db.transaction(async (transaction) => {
    void transaction.query(keep, { word: 'alone' });
  });
  assert.deepEqual(await db.query(kept), [{ word: 'alone' }, { word: 'third' }]);
  await assert.rejects(
    db.transaction(async (transaction) => {
      void transaction.query(keep, { word: 'taken back' });
      throw new Error('given up');
    }),
    /given up/,
  );
  assert.equal((await db.query(kept)).length, 2);
  await db.query(clearKept);
});

test('a statement that fails rolls back the whole transaction, which runs again if that may help', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeFailing);
  await db.query(makeKept);
  const begunWith = async (state: string, isFirst: boolean) => {
    let attempts = 0;
    await db.transaction(async (transaction) => {
      attempts += 1;
      if (!isFirst) await transaction.query(one);
      const asked = [transaction.query(keep, { word: 'before' })];
      if (attempts === 1) asked.push(transaction.query(fail, { state }).then(() => []));
      asked.push(transaction.query(keep, { word: 'behind' }));
      await Promise.allSettled(asked);
    });
    return attempts;
  };
  for (const isFirst of [false, true]) {
    await db.query(clearKept);
    await assert.rejects(begunWith('22000', isFirst), /as asked/);
    assert.deepEqual(await db.query(kept), []);
    assert.equal(await begunWith('40001', isFirst), 2);
    assert.deepEqual(await db.query(kept), [{ word: 'before' }, { word: 'behind' }]);
  }
  await db.query(clearKept);
});

test('a commit that PostgreSQL answers with ROLLBACK is an error', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeFailing);
  const work = db.transaction(async (transaction) => {
    await transaction.query(one);
    // The commit is sent before the failure is known.
    const unheard = transaction.query(fail, { state: '22000' });
    unheard.catch(() => undefined);
    await Promise.resolve();
  });
  await assert.rejects(work, /as asked|rolled the transaction back/);
});

test('an answer with other columns than declared is refused', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  for (const wrong of [misnamed, mistyped, unlisted])
    await assert.rejects(
      db.transaction((transaction) => transaction.query(wrong)),
      /other columns than it declares/,
    );
});

test('a transaction in which a statement has failed is an error, even if the caller has caught that', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeFailing);
  const work = db.transaction(async (transaction) => {
    await transaction.query(one);
    await transaction.query(fail, { state: '22000' }).catch(() => undefined);
  });
  await assert.rejects(work, /as asked/);
});

test('a statement that comes after the end of its transaction does not reach the connection', async (t) => {
  const db = openDatabase({ url: database.url, connections: 1 });
  t.after(() => db.close());
  await db.query(makeKept);
  let stray: Promise<PromiseSettledResult<unknown>[]> | undefined;
  const begun = db.transaction(async (transaction) => {
    const first = transaction.query(one);
    stray = Promise.allSettled([first, first.then(() => transaction.query(keep, { word: 'stray' }))]);
    throw new Error('given up');
  });
  await assert.rejects(begun, /given up/);
  assert.deepEqual(
    (await stray)?.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  let late: Transaction | undefined;
  await db.transaction(async (transaction) => {
    late = transaction;
    await transaction.query(one);
  });
  await assert.rejects(async () => await late?.query(keep, { word: 'late' }), /came after the end/);
  await db.transaction(async (transaction) => {
    late = transaction;
  });
  await assert.rejects(async () => await late?.query(keep, { word: 'late' }), /came after the end/);
  const words = (await db.query(kept)).map(({ word }) => word);
  assert.deepEqual(
    words.filter((word) => word === 'stray' || word === 'late'),
    [],
  );
});
