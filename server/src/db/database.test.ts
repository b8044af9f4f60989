import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { openDatabase } from './database.ts';
import { statement } from './statement.ts';

const one = statement('test_database_one', [], { one: 'int4' }, 'select 1 as one');

/** A way to the database that can begin to swallow what is sent through it, as a broken network does. */
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
  database = await testDatabase();
});
after(() => database.close());

test('what a network swallows fails after a while, and the next connection works', async (t) => {
  const tunnel = await startTunnel(new URL(database.url));
  const db = openDatabase({ url: tunnel.url, connections: 1, answerLimitMs: 300, onError: () => undefined });
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
