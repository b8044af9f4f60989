import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { migrate, openDatabase } from '@florin/pg';
import pg from 'pg';
import { createMerchant } from '#merchants/merchant.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { schema } from './schema.ts';
import { connectionProblems, findScopeProblems } from './scope-check.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

async function execute(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

test('an ordinary role in a migrated database has no problems', async () => {
  assert.deepEqual(await findScopeProblems(database.db), []);
});

test('a role above row-level security is refused, and so is a connection whose options were dropped', () => {
  assert.deepEqual(connectionProblems({ role: 'florin', is_above: false, scope: '*' }), []);
  const [above] = connectionProblems({ role: 'postgres', is_above: true, scope: '*' });
  assert.match(above ?? '', /^the database role postgres is a superuser or has BYPASSRLS/);
  const [dropped] = connectionProblems({ role: 'florin', is_above: false, scope: '' });
  assert.match(dropped ?? '', /^the option florin\.merchant=\* did not arrive with the connection/);
});

test('a table without row-level security is reported', async () => {
  await execute('alter table sessions no force row level security');
  try {
    assert.deepEqual(await findScopeProblems(database.db), [
      'row-level security is off for sessions: run florin migrate, and leave policies as they are',
    ]);
  } finally {
    await execute('alter table sessions force row level security');
  }
});

test("a policy that shows a merchant's rows to others is reported", async () => {
  const deps = { clock: systemClock, random: systemRandom };
  await database.db.transaction((transaction) =>
    createMerchant(transaction, deps, { merchantName: 'Tea House' }),
  );
  await execute('create policy open_house on merchants using (true)');
  try {
    const problems = await findScopeProblems(database.db);
    assert.deepEqual(
      problems.map((problem) => problem.split(':')[0]),
      ['a connection that is narrowed to one merchant sees others'],
    );
  } finally {
    await execute('drop policy open_house on merchants');
  }
});

/** The start of a connection as forwarded by a pooler that drops options. */
function withoutOptions(start: Buffer): Buffer {
  const fields = start.toString('utf8', 8).split('\0');
  const at = fields.indexOf('options');
  const kept = at < 0 ? fields : fields.toSpliced(at, 2);
  const rest = Buffer.from(kept.join('\0'));
  const head = Buffer.from(start.subarray(0, 8));
  head.writeInt32BE(8 + rest.length);
  return Buffer.concat([head, rest]);
}

test('a pooler that drops the start-up options is reported, and nothing is migrated through it', async () => {
  const target = new URL(database.url);
  const pooler = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    client.once('data', (start: Buffer) => {
      server.write(withoutOptions(start));
      client.pipe(server).pipe(client);
    });
  });
  await once(pooler.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(database.url);
  url.port = String((pooler.address() as AddressInfo).port);
  const db = openDatabase({ schema, url: url.href, connections: 1 });
  try {
    const dropped = /^the option florin\.merchant=\* did not arrive with the connection/;
    const problems = await findScopeProblems(db);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', dropped);
    await assert.rejects(migrate(url.href, schema), (error: Error) => dropped.test(error.message));
  } finally {
    await db.close();
    pooler.close();
  }
});
