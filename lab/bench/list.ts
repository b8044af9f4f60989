import {
  type ColumnSpec,
  migrate,
  openDatabase,
  type Parameter,
  type Queryable,
  type Statement,
  statement,
} from '@florin/pg';
import { schema } from '@florin/server/operator';
import { sessionById, sessionPage, sessionPageByStatus } from '@florin/server/parts';
import { cpuOf, cpuOfChildren } from './cpu.ts';
import type { Environment } from './environment.ts';
import { type Crowd, fillSessions } from './list-rows.ts';
import { describe, type Figures, type Measured, median } from './measure.ts';
import { type Result, ratioOf } from './report.ts';

const pageSize = 100;
const status = 'completed';
const pages = [1, 2, 20, 50, 100, 1_000];
const warmUpRuns = 20;
const crowds: readonly (Crowd & { readonly name: string; readonly pages: readonly number[] })[] = [
  { name: 'alone', own: 1_000_000, between: 0, others: 0, pages },
  { name: 'among 2,000 others', own: 200_000, between: 4, others: 2_000, pages: [1, 50, 100] },
];

const columns = Object.keys(sessionById.columns).join(', ');
const keyset = statement(
  'bench_keyset',
  ['text', 'int8', 'int8'],
  sessionById.columns,
  `select ${columns} from sessions where merchant_id = $1 and ordinal <= $2 order by ordinal desc
   limit (select $3::int8)`,
);
const keysetByStatus = statement(
  'bench_keyset_by_status',
  ['text', 'int8', 'int8', 'text'],
  sessionById.columns,
  `select ${columns} from sessions where merchant_id = $1 and status = $4 and ordinal <= $2 order by ordinal desc
   limit (select $3::int8)`,
);
const keyOfPage = statement(
  'bench_key_of_page',
  ['text', 'int8', 'text'],
  { ordinal: 'int8', before: 'text?' },
  `select ordinal, (select b.session_id from sessions b where b.merchant_id = $1 and ($3 = '' or b.status = $3)
       and b.ordinal > s.ordinal order by b.ordinal limit 1) as before
   from sessions s where merchant_id = $1 and ($3 = '' or status = $3)
   order by ordinal desc offset $2 limit 1`,
);
const countAll = statement(
  'bench_count',
  ['text'],
  { total: 'int8' },
  'select count(*) as total from sessions where merchant_id = $1',
);

/** A statement with its values, asked again and again over one connection. */
interface Asked {
  readonly name: string;
  readonly ask: () => Promise<unknown>;
}

interface Pair {
  readonly product: string;
  readonly limit: string;
}

/** Asks for so long, one answer after the other. */
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

/** Asks in turn, round after round; medians. */
async function compareAsked(asked: readonly Asked[], environment: Environment): Promise<Measured[]> {
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

function asking<C extends Record<string, ColumnSpec>>(
  db: Queryable,
  name: string,
  { statement: asked, values }: { statement: Statement<C>; values: readonly Parameter[] },
): Asked {
  return { name, ask: () => db.query(asked, values) };
}

/** Each page by its number, and the same rows by the key of the first. */
async function askForPages(db: Queryable, merchantId: string, crowd: (typeof crowds)[number]) {
  const asked: Asked[] = [];
  const pairs: Pair[] = [];
  for (const page of crowd.pages) {
    const skip = (page - 1) * pageSize;
    for (const wanted of ['', status]) {
      const [key] = await db.query(keyOfPage, [merchantId, skip, wanted]);
      if (key === undefined) continue;
      const label = `${crowd.name}, ${wanted === '' ? 'all' : wanted}, page ${page.toLocaleString('en')}`;
      const pair = { limit: `keyset: ${label}`, product: `list: ${label}` };
      const byKey = [merchantId, key.ordinal, pageSize];
      const cursor = { limit: pair.limit, product: `cursor: ${label}` };
      pairs.push(pair, cursor);
      if (wanted === '')
        asked.push(
          asking(db, pair.limit, { statement: keyset, values: byKey }),
          asking(db, pair.product, { statement: sessionPage, values: [merchantId, pageSize, skip, ''] }),
          asking(db, cursor.product, {
            statement: sessionPage,
            values: [merchantId, pageSize, 0, key.before ?? ''],
          }),
        );
      else
        asked.push(
          asking(db, pair.limit, { statement: keysetByStatus, values: [...byKey, wanted] }),
          asking(db, pair.product, {
            statement: sessionPageByStatus,
            values: [merchantId, wanted, pageSize, skip, ''],
          }),
          asking(db, cursor.product, {
            statement: sessionPageByStatus,
            values: [merchantId, wanted, pageSize, 0, key.before ?? ''],
          }),
        );
    }
  }
  return { asked, pairs };
}

/** Pages of session lists by number, with their exact totals, against the same pages by key alone. */
export async function measureLists(environment: Environment): Promise<Result> {
  const measured: Measured[] = [];
  const pairs: Pair[] = [];
  const notes = [
    'Both sides are statements over one connection, in the scope of one merchant, from this process: a page of 100 with the exact total, by its number and by a cursor, and the same rows from the key of the first on, without a total. Pages beyond 100 have no floor: they skip as many index entries.',
  ];
  for (const [index, crowd] of crowds.entries()) {
    const url = await environment.createDatabase(`bench_list_${index}`);
    await migrate(url, schema);
    const db = openDatabase({ schema, url, connections: 1 });
    environment.onEnd(() => db.close());
    const { merchantId, addUpMs } = await fillSessions(url, db, crowd);
    const scoped = db.inScope(merchantId);
    const { asked, pairs: own } = await askForPages(scoped, merchantId, crowd);
    asked.push(
      asking(scoped, `count(*): ${crowd.name}`, { statement: countAll, values: [merchantId] }),
      asking(scoped, `total alone: ${crowd.name}`, {
        statement: sessionPage,
        values: [merchantId, pageSize, 1_000_000_000, ''],
      }),
    );
    pairs.push(...own, { limit: `count(*): ${crowd.name}`, product: `total alone: ${crowd.name}` });
    measured.push(...(await compareAsked(asked, environment)));
    const rows = (crowd.own * (crowd.between + 1)).toLocaleString('en');
    notes.push(
      `${crowd.name}: ${crowd.own.toLocaleString('en')} sessions of the merchant among ${rows}; to add up all lists afterwards took ${Math.round(addUpMs)} ms.`,
    );
  }
  return {
    subject: 'list',
    title: 'Lists: a page by its number',
    effort: { ...environment.effort, connections: 1 },
    measured,
    ratios: pairs.map((pair) => ratioOf(measured, { ...pair, wanted: 0.5 })),
    halfLoads: [],
    notes,
  };
}
