import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockRegistry } from './advisory-lock.ts';
import { openDatabase } from './database.ts';
import { openPlainPool } from './plain-pool.ts';
import { statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

const one = statement({
  name: 'test_outage_one',
  columns: { one: 'int4' },
  text: 'select 1 as one',
});
const make = statement({
  name: 'test_outage_make',
  text: 'create table test_outage (word text not null)',
});
const keep = statement({
  name: 'test_outage_keep',
  parameters: { word: 'text' },
  text: 'insert into test_outage (word) values (:word)',
});
const kept = statement({
  name: 'test_outage_kept',
  columns: { word: 'text' },
  text: 'select word from test_outage order by word',
});
const { awaitLock } = lockRegistry({ door: { key: 'door', guards: 'a door' } });
const lockDoor = statement({
  name: 'test_outage_lock_door',
  columns: { locked: 'bool' },
  text: `select true as locked from ${awaitLock('door')}`,
});
const hurry = statement({
  name: 'test_outage_hurry',
  text: "set lock_timeout = '50ms'",
});

let database: TestDatabase;
before(async () => {
  database = await openedDatabase();
  await database.db.query(make);
});
after(() => database.close());

/** The way to the database: while it is cut, connections end at once, as behind a proxy that has no primary. */
async function startWay() {
  const target = new URL(database.url);
  let isCut = false;
  let onData = () => {};
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const behind = dial(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (from === client) onData();
        to.write(chunk);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(database.url);
  url.port = String(typeof address === 'object' ? address?.port : '');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: url.href,
    cut,
    /** The packet is lost with the connection. */
    cutAtNextPacket() {
      onData = () => {
        onData = () => {};
        cut();
      };
    },
    mend() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}

async function startBehindWay(
  t: { after(work: () => Promise<void>): void },
  outageWaitMs: number,
  connections = 2,
) {
  const way = await startWay();
  const outages: number[] = [];
  const db = openDatabase({
    ...{ url: way.url, connections, outageWaitMs, onError: () => undefined },
    onBack: (ms) => outages.push(ms),
  });
  t.after(async () => {
    await db.close();
    way.close();
  });
  return { way, db, outages };
}

test('callers wait while the database is away, and get their answers when it is back', async (t) => {
  const { way, db, outages } = await startBehindWay(t, 60_000);
  assert.deepEqual(await db.query(one), [{ one: 1 }]);
  way.cut();
  await sleep(50);
  const asked = [
    ...Array.from({ length: 30 }, () => db.query(one)),
    db.transaction((transaction) => transaction.query(one)),
  ];
  const waiting = Promise.all(asked);
  await sleep(300);
  way.mend();
  assert.deepEqual(
    await waiting,
    asked.map(() => [{ one: 1 }]),
  );
  assert.equal(outages.length, 1, 'one outage was told once');
});

test('a transaction that was lost before its commit runs again, whole', async (t) => {
  const { way, db } = await startBehindWay(t, 60_000);
  let attempts = 0;
  await db.transaction(async (transaction) => {
    attempts += 1;
    await transaction.query(keep, { word: `attempt ${attempts}` });
    if (attempts > 1) return;
    way.cut();
    setTimeout(() => way.mend(), 300);
    await transaction.query(one);
  });
  assert.deepEqual(await db.query(kept), [{ word: 'attempt 2' }]);
});

test('a commit whose answer is lost is an error at once, because it may have been stored', async (t) => {
  const { way, db } = await startBehindWay(t, 60_000);
  let attempts = 0;
  const work = db.transaction(async (transaction) => {
    attempts += 1;
    await transaction.query(one);
    way.cutAtNextPacket();
  });
  await assert.rejects(work, /Connection terminated|ECONNRESET|EPIPE/);
  assert.equal(attempts, 1);
  way.mend();
  assert.deepEqual(await db.query(one), [{ one: 1 }]);
});

test('alone, a change whose answer is lost is an error, because it may have been stored, and a read is sent again', async (t) => {
  const { way, db } = await startBehindWay(t, 60_000);
  await db.query(one);
  way.cutAtNextPacket();
  await assert.rejects(db.query(keep, { word: 'perhaps' }), /Connection terminated|ECONNRESET|EPIPE/);
  way.mend();
  await db.query(one);
  way.cutAtNextPacket();
  setTimeout(() => way.mend(), 300);
  assert.deepEqual(await db.query(one), [{ one: 1 }]);
});

test('an outage that lasts too long is an error, then and for later callers at once, until it ends', async (t) => {
  const { way, db, outages } = await startBehindWay(t, 400);
  way.cut();
  const start = performance.now();
  await assert.rejects(db.query(one), /Connection terminated|ECONNRESET/);
  // Timers may be a moment early.
  assert.ok(performance.now() - start >= 390, 'the first caller waited');
  await sleep(100);
  const late = performance.now();
  await assert.rejects(db.query(one), /Connection terminated|ECONNRESET/);
  assert.ok(performance.now() - late < 350, 'a later caller did not');
  way.mend();
  while (outages.length === 0) await sleep(20);
  way.cut();
  const next = db.query(one);
  await sleep(50);
  way.mend();
  assert.deepEqual(await next, [{ one: 1 }], 'the next outage is a new one');
});

test('a server that cannot be written to is waited for', async (t) => {
  const { db } = await startBehindWay(t, 60_000);
  const { client, setReadOnly } = await readOnlySwitch();
  t.after(() => client.close());
  await setReadOnly('on');
  const stored = [
    db.query(keep, { word: 'alone' }),
    db.transaction((transaction) => transaction.query(keep, { word: 'together' })),
  ];
  await sleep(300);
  await setReadOnly('off');
  await Promise.all(stored);
  const words = (await db.query(kept)).map(({ word }) => word);
  assert.deepEqual(
    words.filter((word) => word === 'alone' || word === 'together'),
    ['alone', 'together'],
  );
});

/** New connections to the database get transactions that only read, as on a standby. */
async function readOnlySwitch() {
  const { default: pg } = await import('pg');
  const { pathname } = new URL(database.url);
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  return {
    client: { close: () => connection.end() },
    setReadOnly: (value: 'on' | 'off') =>
      connection.query(
        `begin read write; alter database ${pg.escapeIdentifier(pathname.slice(1))}
         set default_transaction_read_only = ${value}; commit`,
      ),
  };
}

test('a statement that waited too long for a lock says so with its name', async (t) => {
  const db = openDatabase({ url: database.url, connections: 2 });
  t.after(() => db.close());
  await db.transaction(async (holder) => {
    await holder.query(lockDoor);
    const late = db.transaction(async (transaction) => {
      await transaction.query(hurry);
      await transaction.query(lockDoor);
    });
    await assert.rejects(late, /lock timeout, in test_outage_lock_door/);
  });
});

test('a pool for a library waits as well, repeats what reads alone, and a lost connection ends no process', async (t) => {
  const way = await startWay();
  const pool = openPlainPool({ url: way.url, connections: 1, outageWaitMs: 60_000 });
  t.after(async () => {
    await pool.end();
    way.close();
  });
  const cutForAMoment = () => {
    way.cutAtNextPacket();
    setTimeout(() => way.mend(), 300);
  };
  const client = await pool.connect();
  const { rows } = await client.query('select $1::int + 1 as two', [1]);
  assert.deepEqual(rows, [{ two: 2 }]);
  const limits = 'select setting from pg_settings where name in ($1, $2) order by name';
  const { rows: set } = await client.query(limits, ['lock_timeout', 'statement_timeout']);
  assert.deepEqual(set, [{ setting: '10000' }, { setting: '15000' }]);
  cutForAMoment();
  const start = performance.now();
  assert.deepEqual((await client.query('select 2 as two')).rows, [{ two: 2 }], 'on another connection');
  assert.ok(
    performance.now() - start < 9_000,
    'whoever waits leaves its connection to the look at the database',
  );
  cutForAMoment();
  const insert = client.query("insert into test_outage (word) values ('perhaps twice')");
  await assert.rejects(insert, /Connection terminated|ECONNRESET|EPIPE/);
  client.release();
  const other = await pool.connect();
  await other.query('begin');
  cutForAMoment();
  await assert.rejects(other.query('select 1'), /Connection terminated|ECONNRESET|EPIPE/);
  other.release(true);
  way.cut();
  setTimeout(() => way.mend(), 300);
  const last = await pool.connect();
  assert.equal((await last.query('select 1 as one')).rowCount, 1, 'connecting waits');
  last.release();
});

test('a caller of a pool for a library that has waited too long gets the failure, and releases nothing twice', async (t) => {
  const way = await startWay();
  const pool = openPlainPool({ url: way.url, connections: 1, outageWaitMs: 300 });
  t.after(async () => {
    await pool.end();
    way.close();
  });
  const client = await pool.connect();
  way.cut();
  await assert.rejects(client.query('select 1 as one'), /Connection terminated|ECONNRESET|EPIPE/);
  client.release();
});
