import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase, statement } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { schema } from '#db/schema.ts';
import type { Clock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { defaultRateLimits, limitedDoor } from './rate-limit.ts';
import { buildServer, type Door } from './server.ts';
import { sharedLimits } from './shared-limits.ts';

const bucketsLeft = statement({
  name: 'shared_limits_test_rows',
  columns: { rows: 'int8' },
  text: 'select count(*) as rows from rate_buckets',
});
const lapse = statement({
  name: 'shared_limits_test_lapse',
  text: "update rate_buckets set full_at = full_at - interval '1 day'",
});

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

/** A process on a host whose clock is its own. */
function processOf(db: Parameters<typeof sharedLimits>[1]['db'] = database.db) {
  const clock = { ms: 5_000, now: () => new Date(0), monotonicMs: () => clock.ms, sleep: async () => {} };
  return { clock, ...sharedLimits(defaultRateLimits, { clock: clock satisfies Clock, db }) };
}

async function rows(): Promise<number> {
  const [row] = await database.db.query(bucketsLeft);
  return Number(row?.rows);
}

const slow = { count: 60, seconds: 3_600, burst: 60 };

/** How many of these requests pass. */
const passing = (take: (caller: string) => { isAllowed: boolean }, caller: string, count: number) =>
  Array.from({ length: count }, () => take(caller).isAllowed).filter(Boolean).length;

test('what one process let pass, another one no longer lets pass after both have told each other', async () => {
  const [one, other] = [processOf(), processOf()];
  const takes = [one.limits.bucketsOf('shared', slow), other.limits.bucketsOf('shared', slow)] as const;
  assert.equal(passing(takes[0], 'caller', 40), 40);
  await one.exchange();
  // The first request that it sees of the caller makes it ask.
  assert.equal(passing(takes[1], 'caller', 1), 1);
  await other.exchange();
  assert.equal(passing(takes[1], 'caller', 100), 19);
  await other.exchange();
  assert.equal(passing(takes[0], 'caller', 1), 1, 'it does not know yet');
  await one.exchange();
  assert.equal(passing(takes[0], 'caller', 100), 0);
  assert.equal(passing(takes[1], 'another', 100), 60);
});

test('what processes let pass at the same time is taken from what comes later', async () => {
  const processes = [processOf(), processOf(), processOf()];
  const takes = processes.map(({ limits }) => limits.bucketsOf('debt', slow));
  for (const take of takes) assert.equal(passing(take, 'caller', 100), 60);
  for (const { exchange } of processes) await exchange();
  assert.deepEqual(
    takes.map((take) => passing(take, 'caller', 1)),
    [0, 0, 0],
  );
  for (const { exchange } of processes) await exchange();
  // 120 too many have passed, and a minute gives one.
  for (const { clock } of processes) clock.ms += 100 * 60_000;
  assert.deepEqual(
    takes.map((take) => [take('caller').isAllowed, take('caller').remaining]),
    [
      [false, 0],
      [false, 0],
      [false, 0],
    ],
  );
  for (const { clock } of processes) clock.ms += 25 * 60_000;
  assert.deepEqual(
    takes.map((take) => take('caller').isAllowed),
    [true, true, true],
  );
});

test('concurrent attempts in several processes are exactly as many as the limit says', async () => {
  const rate = { count: 10, seconds: 3_600, burst: 10 };
  const takes = Array.from({ length: 4 }, () => processOf().limits.exactly('exact', rate));
  const verdicts = await Promise.all(Array.from({ length: 60 }, (_, index) => takes[index % 4]?.('person')));
  const allowed = verdicts.filter((verdict) => verdict?.isAllowed);
  assert.equal(allowed.length, 10);
  assert.deepEqual(allowed.map((verdict) => verdict?.remaining).sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const refused = await takes[0]?.('person');
  assert.ok(
    refused && !refused.isAllowed && refused.retryAfterSeconds > 300 && refused.retryAfterSeconds <= 360,
  );
  assert.equal((await takes[1]?.('another'))?.isAllowed, true);
});

test('requests that came while the database was away count from the time when they came', async () => {
  const { clock, limits, exchange } = processOf();
  const rate = { count: 50, seconds: 1, burst: 100 };
  const take = limits.bucketsOf('failover', rate);
  await exchange();
  clock.ms += 28_000;
  for (let index = 0; index < 466; index += 1) assert.ok(take('steady', 28_000 - index * 60).isAllowed);
  await exchange();
  assert.ok(take('steady').remaining > 90);
});

test('without the database each process holds the limit for itself, and shares it afterwards', async () => {
  const db = openDatabase({ schema, url: 'postgres://nobody@127.0.0.1:1/none', connections: 1 });
  let current: Parameters<typeof sharedLimits>[1]['db'] = db;
  const process = processOf({ query: (...call) => current.query(...call) });
  const take = process.limits.bucketsOf('outage', slow);
  assert.equal(passing(take, 'caller', 100), 60);
  await assert.rejects(process.exchange());
  assert.equal(passing(take, 'caller', 100), 0);
  await assert.rejects(
    process.limits.exactly('outage exact', slow)('caller'),
    'an attempt without a count does not pass',
  );
  current = database.db;
  process.clock.ms += 60_000;
  await process.exchange();
  assert.equal(passing(take, 'caller', 100), 1);
  await process.exchange();
  const other = processOf();
  const takeThere = other.limits.bucketsOf('outage', slow);
  takeThere('caller');
  await other.exchange();
  // What was counted during the outage is told to none.
  assert.equal(takeThere('caller').remaining, 57);
  await db.close();
});

test('many callers make few rows, those with most requests are told, and rows go when they say nothing', async () => {
  const { clock, limits, exchange } = processOf();
  const take = limits.bucketsOf('flood', slow);
  const before = await rows();
  for (let index = 0; index < 60_000; index += 1) take(`stranger ${index}`);
  assert.equal(passing(take, 'heavy', 30), 30);
  await exchange();
  const told = (await rows()) - before;
  assert.ok(told > 0 && told <= 200, `${told} rows`);
  const other = processOf();
  const takeThere = other.limits.bucketsOf('flood', slow);
  takeThere('heavy');
  await other.exchange();
  assert.equal(takeThere('heavy').remaining, 28);
  await database.db.query(lapse);
  clock.ms += 60_000;
  await exchange();
  assert.equal(await rows(), 0);
});

test('two servers on one database share the limit of one address', async () => {
  const processes = [processOf(), processOf()];
  const servers: FastifyInstance[] = [];
  for (const { limits } of processes) {
    const door: Door = (scope) => void scope.post('/payment/prepare', async () => ({}));
    servers.push(
      await buildServer({
        ...{ log: silentLog, random: systemRandom, origin: 'https://pay.example.com' },
        ready: async () => ({ ready: true, checks: {} }),
        doors: [limitedDoor('agent', door, limits)],
      }),
    );
  }
  const statuses = async () => {
    const asked = servers.map((server) =>
      server.inject({ method: 'POST', url: '/payment/prepare', payload: {}, remoteAddress: '203.0.113.7' }),
    );
    return (await Promise.all(asked)).map(({ statusCode }) => statusCode);
  };
  for (let count = 0; count < 40; count += 1) assert.deepEqual(await statuses(), [200, 200]);
  for (const { exchange } of [...processes, ...processes]) await exchange();
  assert.deepEqual(await statuses(), [200, 429], 'the first told what it knew before the second');
  await processes[0]?.exchange();
  assert.deepEqual(await statuses(), [429, 429]);
  for (const server of servers) await server.close();
});
