import { readFileSync } from 'node:fs';
import { type Database, type Queryable, statement } from '@florin/pg';
import type { SessionSearchBody } from '@florin/protocol/session-search.ts';
import { searchSessions, selectSessionPage } from '@florin/server/parts';
import { type ManySessions, openMillionWorld, searchesOf, seeded } from '@florin/server/testing';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';

const sessionCount = 1_000_000;
/** Searches of each kind: the slowest one in a hundred is the slowest of these. */
const searchesOfEach = 100;
const warmUps = 10;
const pageSize = 25;

const backendPid = statement({
  name: 'bench_search_backend',
  columns: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid',
});
const one = statement({
  name: 'bench_search_one',
  columns: { one: 'int4' },
  text: 'select 1 as one',
});
const sizes = statement({
  name: 'bench_search_sizes',
  columns: { bytes: 'int8', sessions: 'int8' },
  text: `select pg_total_relation_size('session_words') + pg_total_relation_size('session_search') as bytes,
     (select count(*) from session_search) as sessions`,
});

/** Processor time of one of PostgreSQL's processes so far, in milliseconds. Linux counts it in nanoseconds there. */
const cpuMsOf = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;

/** These look at all sessions that one search looks at, and find none. */
const fruitless: readonly (readonly [name: string, body: SessionSearchBody])[] = [
  ['a type that no session has', { sessionType: 'lnk' }],
  ['a status of many, a token of none', { status: 'completed', paidToken: 'ethereum::usdt' }],
  ['a word of many, a token of none', { text: 'example', paidToken: 'ethereum::usdt' }],
];

type Row = Readonly<Record<string, string | number>>;

/** Times each kind of search, each time of another session, and pages of the list. */
export async function timeSearches(
  db: Queryable,
  sessions: ManySessions,
  log: (line: string) => void,
): Promise<Row[]> {
  const { merchantId } = sessions;
  const [backend] = await db.query(backendPid);
  const pid = backend?.pid ?? 0;
  const rows: Row[] = [];
  const time = async (name: string, ask: (run: number) => Promise<number>) => {
    const [times, cpuTimes]: [number[], number[]] = [[], []];
    let found = 0;
    for (let run = -warmUps; run < searchesOfEach; run += 1) {
      const [start, cpu] = [performance.now(), cpuMsOf(pid)];
      const rowCount = await ask(run + warmUps);
      if (run < 0) continue;
      found += rowCount;
      times.push(performance.now() - start);
      cpuTimes.push(cpuMsOf(pid) - cpu);
    }
    const at = (list: number[], share: number) => {
      const inOrder = list.toSorted((left, right) => left - right);
      return Math.round((inOrder[Math.floor(list.length * share)] ?? 0) * 10) / 10;
    };
    rows.push({
      search: name,
      'p50 ms': at(times, 0.5),
      'p99 ms': at(times, 0.99),
      'PostgreSQL p50 ms': at(cpuTimes, 0.5),
      'PostgreSQL p99 ms': at(cpuTimes, 0.99),
      found: Math.round(found / searchesOfEach),
    });
    log(Object.values(rows.at(-1) ?? {}).join('  '));
  };
  await time('select 1', async () => (await db.query(one)).length);
  for (const page of [1, 50, 100])
    await time(`the list, page ${page} of ${pageSize}`, async () => {
      const skip = (page - 1) * pageSize;
      return (await db.query(selectSessionPage, { merchantId, size: pageSize, skip, after: '' })).length;
    });
  // Paid sessions, all over the merchant's.
  const nth = (run: number) => seeded(sessions, (((run * 4_789) % (sessions.count / 10)) + 1) * 10 - 7);
  const kindsAt = (run: number) => [...searchesOf(sessions, nth(run), 'acc_none'), ...fruitless];
  for (const [index, [name]] of kindsAt(0).entries())
    await time(name, async (run) => {
      const body = kindsAt(run)[index]?.[1] ?? {};
      const request = { merchantId, body: { ...body, size: pageSize }, showsEmail: true };
      const { portions } = await searchSessions(db, request);
      let count = 0;
      for await (const portion of portions) count += portion.length;
      return count;
    });
  return rows;
}

async function bytesOfEach(db: Database): Promise<number> {
  const [size] = await db.query(sizes);
  return Math.round(Number(size?.bytes ?? 0n) / Number(size?.sessions ?? 1n));
}

/** Searches and pages over a million sessions of one merchant: how long the slowest take. */
export async function measureSearch(environment: BenchEnvironment): Promise<BenchResult> {
  const { world, sessions } = await openMillionWorld('http://localhost', sessionCount, environment.log);
  environment.onEnd(() => world.close());
  const { db } = world.merchants.database;
  const rows = await db
    .inScope(sessions.merchantId)
    .transaction((transaction) => timeSearches(transaction, sessions, environment.log));
  return {
    subject: 'search',
    title: 'Searching a million sessions',
    effort: { ...environment.effort, connections: 1 },
    measured: [],
    ratios: [],
    halfLoads: [],
    rows,
    notes: [
      `Statements over one connection in the merchant’s scope, from this process, with a page of ${pageSize} sessions read; ${searchesOfEach} searches of each kind, each of another session. The columns of PostgreSQL are its processor time, which other programs on the machine do not change much. The goal is 100 ms at p99.`,
      `${sessions.count.toLocaleString('en')} sessions of the merchant among others; the index takes ${await bytesOfEach(db)} bytes a session.`,
    ],
  };
}
