import { migrate, openDatabase, statement } from '@florin/pg';
import type { SessionSearchBody } from '@florin/protocol/session-search.ts';
import { schema } from '@florin/server/operator';
import { indexSessions, searchSessions } from '@florin/server/parts';
import { cpuOfChildren } from './cpu.ts';
import type { BenchEnvironment } from './environment.ts';
import { fillSessions } from './list-rows.ts';
import type { BenchResult } from './report.ts';

const sessionCount = 1_000_000;
/** Searches of each kind. The slowest one in a hundred is the second slowest of these. */
const searchesOfEach = 200;
const warmUps = 10;

const sizes = statement({
  name: 'bench_search_sizes',
  parameters: {},
  columns: { words: 'int8', search: 'int8' },
  text: `select pg_total_relation_size('session_words') as words, pg_total_relation_size('session_search') as search`,
});
// All sessions are indexed by the walk: the filling statements name 100,000 at a time, unlike the product's.
const forgetQueue = statement({
  name: 'bench_search_forget_queue',
  parameters: {},
  columns: {},
  text: 'delete from session_search_queue',
});
const analyze = statement({
  name: 'bench_search_analyze',
  parameters: {},
  columns: {},
  text: 'analyze session_words, session_search',
});

/** Searches by what the filled sessions have. `n` is another session in each run. */
const kinds: Readonly<Record<string, (n: number) => SessionSearchBody>> = {
  'an order number in the metadata': (n) => ({ metadata: { orderNumber: String(n) } }),
  'an order number as text': (n) => ({ text: String(n) }),
  'the beginning of an order number, some 1,100 sessions': (n) => ({
    text: String(n).padEnd(6, '1').slice(0, 3),
  }),
  'a word of every session': () => ({ text: 'tea' }),
  'a word of no session': (n) => ({ text: `none${n}` }),
  'an e-mail address of no session': (n) => ({ payerEmail: `payer-${n}@example.com` }),
  'a status and a word': () => ({ status: 'expired', text: 'tea' }),
  'a status of no session': () => ({ status: 'settlement_pending' }),
  'an amount of every session, a token of none': () => ({ amountFrom: 3_000_000, paidToken: 'base::usdc' }),
  'a day, and its second page': () => ({ createdFrom: 0, createdTo: 4_000_000_000, size: 100 }),
};

/** Searches over a million sessions of one merchant: how long the slowest take, and what the index costs. */
export async function measureSearch(environment: BenchEnvironment): Promise<BenchResult> {
  const url = await environment.createDatabase('bench_search');
  await migrate(url, schema);
  const db = openDatabase({ schema, url, connections: 1 });
  environment.onEnd(() => db.close());
  const { merchantId } = await fillSessions(url, db, { own: sessionCount, between: 0, others: 0 });
  await db.query(forgetQueue);
  const begin = performance.now();
  while (await db.transaction((transaction) => indexSessions(transaction)));
  const seconds = (performance.now() - begin) / 1_000;
  await db.query(analyze);
  const [size] = await db.query(sizes);
  const scoped = db.inScope(merchantId);
  const rows: Record<string, string | number>[] = [];
  for (const [name, bodyOf] of Object.entries(kinds)) {
    const times: number[] = [];
    let found = 0;
    let cpuBefore = 0;
    for (let run = -warmUps; run < searchesOfEach; run += 1) {
      const body = bodyOf(((run + warmUps) * 4_789) % sessionCount);
      if (run === 0) cpuBefore = cpuOfChildren(environment.effort.postgresPid ?? 0);
      const start = performance.now();
      const { portions } = await searchSessions(scoped, { merchantId, body, showsEmail: true });
      for await (const portion of portions) found += portion.length;
      if (run >= 0) times.push(performance.now() - start);
    }
    const cpu = cpuOfChildren(environment.effort.postgresPid ?? 0) - cpuBefore;
    const inOrder = times.toSorted((left, right) => left - right);
    const at = (share: number) => Math.round((inOrder[Math.floor(inOrder.length * share)] ?? 0) * 10) / 10;
    rows.push({
      search: name,
      'p50 ms': at(0.5),
      'p99 ms': at(0.99),
      'PostgreSQL µs': Math.round(cpu / searchesOfEach),
      found: Math.round(found / (searchesOfEach + warmUps)),
    });
    environment.log(`${name}: ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  }
  const bytes = Number((size?.words ?? 0n) + (size?.search ?? 0n));
  return {
    subject: 'search',
    title: 'Searching a million sessions',
    effort: { ...environment.effort, connections: 1 },
    measured: [],
    ratios: [],
    halfLoads: [],
    rows,
    notes: [
      `Statements over one connection in the merchant’s scope, from this process, with the sessions read; ${searchesOfEach} searches of each kind. The limit is 100 ms at p99.`,
      `To index them from nothing took ${Math.round(seconds)} s, ${Math.round(sessionCount / seconds).toLocaleString('en')} sessions a second; the index takes ${Math.round(bytes / sessionCount)} bytes a session.`,
    ],
  };
}
