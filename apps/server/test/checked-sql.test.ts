import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { declaredStatements, type Statement } from '@florin/pg';
import pg from 'pg';
import { type TestDatabase, testDatabase } from './harness/database.ts';

const source = new URL('../src/', import.meta.url);
const packages = new URL('../../../packages/', import.meta.url);
let database: TestDatabase;
let client: pg.Client;
/** Those of the service. Other test files of this process may have declared more. */
let statements: readonly Statement[] = [];

before(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const own = await sqlFilesIn(source);
  for (const file of own) await import(file.href);
  const [names, beginnings] = [new Set<string>(), new Set<string>()];
  for (const file of [...own, ...(await sqlFilesIn(packages))])
    for (const [, quote, name = ''] of (await readFile(file, 'utf8')).matchAll(/\bname: (['`])(\w+)['$]/g))
      (quote === "'" ? names : beginnings).add(name);
  statements = declaredStatements().filter(
    ({ name }) => names.has(name) || [...beginnings].some((beginning) => name.startsWith(beginning)),
  );
});

async function sqlFilesIn(folder: URL): Promise<URL[]> {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((name) => name.endsWith('.sql.ts') && !name.includes('node_modules/'))
    .map((name) => new URL(name, folder));
}

after(async () => {
  await client.end();
  await database.close();
});

interface Field {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  readonly dataTypeID: number;
}

interface Description {
  readonly parameters: readonly number[];
  readonly fields: readonly Field[];
}

interface WireConnection {
  parse(query: { text: string; name: string; types: number[] }): void;
  describe(target: { type: 'S'; name: string }): void;
  sync(): void;
  once(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
}

/** Asks PostgreSQL to parse and describe a statement without running it; pg has no call of its own for that. */
function describe(statement: Statement): Promise<Description> {
  return new Promise((resolve, reject) => {
    let parameters: readonly number[] = [];
    let fields: readonly Field[] = [];
    const query = {
      submit(connection: WireConnection) {
        connection.once('parameterDescription', (message) => {
          parameters = message.dataTypeIDs;
        });
        connection.parse({ text: statement.text, name: '', types: [] });
        connection.describe({ type: 'S', name: '' });
        connection.sync();
      },
      handleRowDescription(message: { fields: readonly Field[] }) {
        fields = message.fields;
      },
      handleError: (error: Error) => reject(error),
      handleReadyForQuery: () => resolve({ parameters, fields }),
    };
    client.query(query as unknown as pg.Submittable);
  });
}

async function typeNames(): Promise<Map<number, string>> {
  const rows = await client.query<{ oid: number; name: string }>(
    `select t.oid::int as oid, case when e.typname is null then t.typname else e.typname || '[]' end as name
     from pg_type t left join pg_type e on e.typarray = t.oid`,
  );
  return new Map(rows.rows.map((row) => [row.oid, row.name]));
}

/** Columns of tables that may be null, as `tableOid:columnNumber`. */
async function nullableColumns(): Promise<Set<string>> {
  const rows = await client.query<{ key: string }>(
    `select attrelid::text || ':' || attnum as key from pg_attribute where attnum > 0 and not attnotnull`,
  );
  return new Set(rows.rows.map((row) => row.key));
}

/** What is declared against what PostgreSQL says; undefined when they agree. */
async function differenceOf(
  statement: Statement,
  names: Map<number, string>,
  nullable: Set<string>,
): Promise<{ declared: unknown; described: unknown } | undefined> {
  const { parameters, fields } = await describe(statement);
  const described = {
    parameters: parameters.map((oid) => names.get(oid)),
    columns: Object.fromEntries(
      fields.map((field) => {
        const isNullable = field.tableID !== 0 && nullable.has(`${field.tableID}:${field.columnID}`);
        // Expressions carry no nullability: the declaration decides, and says so with its question mark.
        const declaredNullable = field.tableID === 0 && statement.columns[field.name]?.endsWith('?') === true;
        return [field.name, `${names.get(field.dataTypeID)}${isNullable || declaredNullable ? '?' : ''}`];
      }),
    ),
  };
  const declared = { parameters: [...statement.parameters], columns: { ...statement.columns } };
  return JSON.stringify(described) === JSON.stringify(declared) ? undefined : { declared, described };
}

test('every statement has exactly the parameters and columns that it declares', async () => {
  assert.ok(statements.length > 300, `${statements.length} statements`);
  const names = await typeNames();
  const nullable = await nullableColumns();
  const differences: Record<string, unknown> = {};
  for (const statement of statements) {
    try {
      const difference = await differenceOf(statement, names, nullable);
      if (difference !== undefined) differences[statement.name] = difference;
    } catch (error) {
      differences[statement.name] = String(error);
    }
  }
  assert.deepEqual(differences, {});
});

/** What `explain` says of a step of a plan, and of the steps that feed it. */
interface Plan {
  readonly 'Node Type': string;
  readonly 'Parent Relationship'?: string;
  readonly 'Relation Name'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Plan[];
}

/** The plan for any values, where PostgreSQL reads a whole table or sorts it only if no index serves. */
async function planOf({ text }: Statement): Promise<Plan> {
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off');
  await client.query('set enable_incremental_sort = off');
  const { rows } = await client.query(`explain (generic_plan, costs off, format json) ${text}`);
  return rows[0]['QUERY PLAN'][0].Plan;
}

function stepsOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

/** The steps between a limit and the tables, each of which the limit cuts short. Subqueries and other limits end them. */
function cutBy(limit: Plan): Plan[] {
  const below = (limit.Plans ?? []).filter(
    (step) => step['Parent Relationship'] !== 'InitPlan' && step['Node Type'] !== 'Limit',
  );
  return below.flatMap((step) => [step, ...cutBy(step)]);
}

/** Conditions that the index leaves: the scope of the merchant, which it has already, and the events that are too old. */
const harmless =
  /CASE \(InitPlan \d+\)\.col1 WHEN '\*'::text THEN true ELSE \(merchant_id = \(InitPlan \d+\)\.col1\) END|\(ordinal <> ALL \(\(InitPlan \d+\)\.col1\)\)/g;

/** What makes a page read more rows than it shows: a sort of a table, or a condition that no index has. */
function wasteIn(limit: Plan): string[] {
  const steps = cutBy(limit);
  const scans = steps.filter((step) => step['Relation Name'] !== undefined);
  const sorts = scans.length === 0 ? [] : steps.filter((step) => step['Node Type'].includes('Sort'));
  const filters = scans.map(({ Filter = '' }) => Filter.replace(harmless, '').replace(/^\( AND \)$/, ''));
  return [...sorts.map(() => 'sort'), ...filters.filter((filter) => filter !== '')];
}

test('an index gives the rows of every page of a list, in their order', async () => {
  const pages = statements.filter(({ columns }) => 'is_listed' in columns);
  assert.ok(pages.length >= 10, `${pages.length} lists`);
  for (const page of pages) {
    const limits = stepsOf(await planOf(page)).filter((step) => step['Node Type'] === 'Limit');
    assert.ok(
      limits.some((limit) => cutBy(limit).some((step) => 'Relation Name' in step)),
      page.name,
    );
    assert.deepEqual(limits.flatMap(wasteIn), [], page.name);
  }
});
