import { migrate, openDatabase, type Queryable, statement } from '@florin/pg';
import { schema } from '@florin/server/operator';
import { filteredSessionPage, selectSessionPage, sessionById } from '@florin/server/parts';
import { cpuOf, cpuOfChildren } from './cpu.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Dataset, fillSessions } from './list-rows.ts';
import { describe, type Figures, type Measured, median } from './measure.ts';
import { type BenchResult, ratioOf } from './report.ts';

const pageSize = 100;
const status = 'completed';
const pages = [1, 2, 20, 50, 100, 1_000];
/** What has a floor: to read this many pages by number. Each page alone shows how the time grows. */
const firstPages = 100;
const warmUpRuns = 20;
const datasets: readonly (Dataset & { readonly name: string; readonly pages: readonly number[] })[] = [
  { name: 'alone', own: 1_000_000, between: 0, others: 0, pages },
  { name: 'among 2,000 others', own: 200_000, between: 4, others: 2_000, pages: [1, 50, 100] },
];

const columns = Object.keys(sessionById.columns).join(', ');
const keyset = statement({
  name: 'bench_keyset',
  parameters: { merchantId: 'text', beforeOrdinal: 'int8', limit: 'int8' },
  columns: sessionById.columns,
  text: `select ${columns} from sessions where merchant_id = :merchantId and ordinal <= :beforeOrdinal order by ordinal desc
   limit (select :limit::int8)`,
});
const keysetByStatus = statement({
  name: 'bench_keyset_by_status',
  parameters: { merchantId: 'text', beforeOrdinal: 'int8', limit: 'int8', status: 'text' },
  columns: sessionById.columns,
  text: `select ${columns} from sessions where merchant_id = :merchantId and status = :status and ordinal <= :beforeOrdinal order by ordinal desc
   limit (select :limit::int8)`,
});
const keyOfPage = statement({
  name: 'bench_key_of_page',
  parameters: { merchantId: 'text', skip: 'int8', status: 'text' },
  columns: { ordinal: 'int8', before: 'text?' },
  text: `select ordinal, (select b.session_id from sessions b where b.merchant_id = :merchantId and (:status = '' or b.status = :status)
       and b.ordinal > s.ordinal order by b.ordinal limit 1) as before
   from sessions s where merchant_id = :merchantId and (:status = '' or status = :status)
   order by ordinal desc offset :skip limit 1`,
});
const countAll = statement({
  name: 'bench_count',
  parameters: { merchantId: 'text' },
  columns: { total: 'int8' },
  text: 'select count(*) as total from sessions where merchant_id = :merchantId',
});

/** A statement with its values, which repeats over one connection. */
interface Asked {
  readonly name: string;
  readonly ask: () => Promise<unknown>;
}

interface Pair {
  readonly product: string;
  readonly limit: string;
  /** The floor of the ratio; 0 for none. */
  readonly wanted: number;
}

/** Repeats the statement for some seconds, one answer after the other. */
async function runOnce({ ask }: Asked, seconds: number, postgresPid: number): Promise<Figures> {
  const [ownCpu, postgresCpu] = [cpuOf(process.pid), cpuOfChildren(postgresPid)];
  const times: number[] = [];
  const begin = performance.now();
  while (performance.now() - begin < seconds * 1_000) {
    const start = performance.now();
    await ask();
    times.push(performance.now() - start);
  }
  const elapsed = (performance.now() - begin) / 1_000;
  const inOrder = times.toSorted((left, right) => left - right);
  const round = (value: number) => Math.round(value * 100) / 100;
  return {
    perSecond: Math.round(times.length / elapsed),
    p50Ms: round(median(inOrder)),
    p99Ms: round(inOrder[Math.floor(inOrder.length * 0.99)] ?? 0),
    serverMicroseconds: Math.round((cpuOf(process.pid) - ownCpu) / times.length),
    postgresMicroseconds: Math.round((cpuOfChildren(postgresPid) - postgresCpu) / times.length),
  };
}

/** Measures the statements in turn over several rounds and returns medians. */
async function compareAsked(asked: readonly Asked[], environment: BenchEnvironment): Promise<Measured[]> {
  const { effort, log } = environment;
  const runs = new Map<Asked, Figures[]>(asked.map((each) => [each, []]));
  for (const { ask } of asked) for (let run = 0; run < warmUpRuns; run += 1) await ask();
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const [each, list] of runs) {
      const figures = await runOnce(each, effort.seconds, effort.postgresPid ?? 0);
      list.push(figures);
      log(`${round}/${effort.rounds}  ${describe(each.name, figures)}`);
    }
  }
  return [...runs].map(([{ name }, list]) => {
    const middle = (key: keyof Figures) => median(list.map((figures) => figures[key]));
    return {
      ...{ name, requestBytes: 0, replyBytes: 0, runs: list },
      median: {
        perSecond: middle('perSecond'),
        p50Ms: middle('p50Ms'),
        p99Ms: middle('p99Ms'),
        serverMicroseconds: middle('serverMicroseconds'),
        postgresMicroseconds: middle('postgresMicroseconds'),
      },
    };
  });
}

/** The first 100 pages in turn by number, and the same rows by the key of each page's first row. */
async function askForFirstPages(db: Queryable, merchantId: string, name: string) {
  const keys: bigint[] = [];
  for (let page = 0; page < firstPages; page += 1) {
    const [key] = await db.query(keyOfPage, { merchantId, skip: page * pageSize, status: '' });
    if (key !== undefined) keys.push(key.ordinal);
  }
  const label = `${name}, all, pages 1 to ${keys.length}`;
  const pair: Pair = { limit: `keyset: ${label}`, product: `list: ${label}`, wanted: 0.5 };
  let [byKey, byNumber] = [0, 0];
  const asked: Asked[] = [
    {
      name: pair.limit,
      ask: () => {
        byKey = (byKey + 1) % keys.length;
        return db.query(keyset, { merchantId, beforeOrdinal: keys[byKey] ?? 0n, limit: pageSize });
      },
    },
    {
      name: pair.product,
      ask: () => {
        byNumber = (byNumber + 1) % keys.length;
        return db.query(selectSessionPage, {
          merchantId,
          size: pageSize,
          skip: byNumber * pageSize,
          after: '',
        });
      },
    },
  ];
  return { asked, pair };
}

/** Each page by its number, and the same rows by the key of the first row. */
async function askForPages(db: Queryable, merchantId: string, dataset: (typeof datasets)[number]) {
  const asked: Asked[] = [];
  const pairs: Pair[] = [];
  const byStatus = filteredSessionPage('sessions');
  for (const page of dataset.pages) {
    const skip = (page - 1) * pageSize;
    for (const wanted of ['', status]) {
      const [key] = await db.query(keyOfPage, { merchantId, skip, status: wanted });
      if (key === undefined) continue;
      const label = `${dataset.name}, ${wanted === '' ? 'all' : wanted}, page ${page.toLocaleString('en')}`;
      const pair = { limit: `keyset: ${label}`, product: `list: ${label}`, wanted: 0 };
      const byKey = { merchantId, beforeOrdinal: key.ordinal, limit: pageSize };
      const cursor = { limit: pair.limit, product: `cursor: ${label}`, wanted: 0.5 };
      const byPage = { merchantId, size: pageSize, skip, after: '' };
      const behind = { merchantId, size: pageSize, skip: 0, after: key.before ?? '' };
      pairs.push(pair, cursor);
      if (wanted === '')
        asked.push(
          { name: pair.limit, ask: () => db.query(keyset, byKey) },
          { name: pair.product, ask: () => db.query(selectSessionPage, byPage) },
          { name: cursor.product, ask: () => db.query(selectSessionPage, behind) },
        );
      else
        asked.push(
          { name: pair.limit, ask: () => db.query(keysetByStatus, { ...byKey, status: wanted }) },
          { name: pair.product, ask: () => db.query(byStatus, { ...byPage, values: [wanted] }) },
          { name: cursor.product, ask: () => db.query(byStatus, { ...behind, values: [wanted] }) },
        );
    }
  }
  return { asked, pairs };
}

/** Pages of session lists by number, with their exact totals, compared with the same pages by key. */
export async function measureLists(environment: BenchEnvironment): Promise<BenchResult> {
  const measured: Measured[] = [];
  const pairs: Pair[] = [];
  const notes = [
    'Both sides are statements over one connection, in the scope of one merchant, from this process: a page of 100 with the exact total, by its number and by a cursor, and the same rows from their first key, without a total. The floor is for the first 100 pages together: a page by number skips index entries, so a later one takes longer.',
  ];
  for (const [index, dataset] of datasets.entries()) {
    const url = await environment.createDatabase(`bench_list_${index}`);
    await migrate(url, schema);
    const db = openDatabase({ schema, url, connections: 1 });
    environment.onEnd(() => db.close());
    const { merchantId, addUpMs } = await fillSessions(url, db, dataset);
    const scoped = db.inScope(merchantId);
    const { asked, pairs: own } = await askForPages(scoped, merchantId, dataset);
    const first = await askForFirstPages(scoped, merchantId, dataset.name);
    asked.push(...first.asked);
    pairs.push(first.pair);
    asked.push(
      { name: `count(*): ${dataset.name}`, ask: () => scoped.query(countAll, { merchantId }) },
      {
        name: `total alone: ${dataset.name}`,
        ask: () =>
          scoped.query(selectSessionPage, { merchantId, size: pageSize, skip: 1_000_000_000, after: '' }),
      },
    );
    pairs.push(...own, {
      limit: `count(*): ${dataset.name}`,
      product: `total alone: ${dataset.name}`,
      wanted: 1,
    });
    measured.push(...(await compareAsked(asked, environment)));
    const rows = (dataset.own * (dataset.between + 1)).toLocaleString('en');
    notes.push(
      `${dataset.name}: ${dataset.own.toLocaleString('en')} sessions of the merchant among ${rows}; to add up all lists afterwards took ${Math.round(addUpMs)} ms.`,
    );
  }
  return {
    subject: 'list',
    title: 'Lists: a page by its number',
    effort: { ...environment.effort, connections: 1 },
    measured,
    ratios: pairs.map((pair) => ratioOf(measured, pair)),
    halfLoads: [],
    notes,
  };
}
