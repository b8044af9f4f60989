import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import pg from 'pg';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { schema } from './schema.ts';

// Every table of the schema gets one row for each of two merchants, generated from the catalog's column types. So
// this test covers new tables without a change.

let database: TestDatabase;
let system: pg.Client;
let client: pg.Client;
let tables: Table[];

interface Column {
  readonly name: string;
  readonly type: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

const ours = newId('merchant', systemRandom.bytes);
const theirs = newId('merchant', systemRandom.bytes);

/** Public facts of chains, and transactions sent to them: visible in a merchant's scope, and never changeable. */
const readable = ['chain_cursors', 'chain_events', 'dropped_events', 'sent_transactions'];
/** Rows without the column merchant_id that belong to a merchant through another row. */
const owned = [
  'api_key_origins',
  'api_key_spending',
  'delivery_attempts',
  'deposit_terms',
  'link_items',
  'orders',
  'settlements',
];
/** A merchant sees only its own rows of these tables, and changes none. */
const readableOwn = ['deposit_moves', 'deposit_sightings', 'deposit_transfers'];

const catalog = `select c.relname as name, json_agg(json_build_object(
    'name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'schema_migrations'
    and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
  group by c.relname order by c.relname`;

/**
 * Drops constraints and triggers, which would refuse the test's meaningless rows. Also deletes rows that migrations
 * made, and restores rights that the owner gave up.
 */
const withoutRules = `do $$
declare command text;
begin
  grant all on all tables in schema public to current_user;
  for command in
    select format('alter table %s drop constraint if exists %I cascade', conrelid::regclass, conname) from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'p', 'u') and conrelid <> 0
    union all
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    union all
    select format('delete from %I', relname) from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'
  loop
    execute command;
  end loop;
end $$`;

/**
 * A value that contains its merchant's id. Columns of one name get equal values, so that rows find the rows they
 * refer to.
 */
function sampleOf({ name, type }: Column, merchantId: string): unknown {
  if (name === 'merchant_id') return merchantId;
  const number = merchantId === ours ? 1 : 2;
  switch (type) {
    case 'text':
      return `${name} of ${merchantId}`;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
      return number;
    case 'boolean':
      return false;
    case 'timestamp with time zone':
      return new Date(number);
    case 'bytea':
      return Buffer.from([number]);
    case 'jsonb':
      return '{}';
    default:
      if (type.endsWith('[]')) return [];
      throw new Error(`a column of the type ${type}: say here what a value of it is`);
  }
}

/** A session is in one of its two tables, of which the archive inherits: so an archived session has an id of its own. */
function cellOf(table: string, column: Column, merchantId: string): unknown {
  const sample = sampleOf(column, merchantId);
  return table === 'sessions_archive' && column.name === 'session_id' ? `archived ${sample}` : sample;
}

function insertOf({ name, columns }: Table, merchantId: string): { text: string; values: unknown[] } {
  const names = columns.map((column) => pg.escapeIdentifier(column.name));
  const places = columns.map((_, index) => `$${index + 1}`);
  return {
    text: `insert into ${name} (${names.join(', ')}) values (${places.join(', ')})`,
    values: columns.map((column) => cellOf(name, column, merchantId)),
  };
}

before(async () => {
  database = await testDatabase();
  system = new pg.Client({ connectionString: withSystemScope(database.url, schema) });
  client = new pg.Client({ connectionString: database.url });
  await Promise.all([system.connect(), client.connect()]);
  await system.query(withoutRules);
  tables = (await system.query<Table>(catalog)).rows;
  for (const table of tables) {
    for (const merchantId of [ours, theirs]) await system.query(insertOf(table, merchantId));
  }
});
after(async () => {
  await Promise.all([system.end(), client.end()]);
  await database.close();
});

/** The result of `work` in a scope, rolled back afterwards. Undefined: a connection that never set its scope. */
async function inScope<T>(merchantId: string | undefined, work: () => Promise<T>): Promise<T> {
  await client.query(
    merchantId === undefined ? 'begin' : `begin; set local florin.merchant = '${merchantId}'`,
  );
  try {
    return await work();
  } finally {
    await client.query('rollback');
  }
}

async function rowCount(text: string): Promise<number> {
  return (await client.query(text)).rowCount ?? 0;
}

const hasMerchant = ({ columns }: Table) => columns.some(({ name }) => name === 'merchant_id');
/** How many of a table's two rows a merchant may use. */
const ownRows = (table: Table) => (hasMerchant(table) || owned.includes(table.name) ? 1 : 0);

async function countsOf(
  merchantId: string | undefined,
  textOf: (table: Table) => string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) counts[table.name] = await inScope(merchantId, () => rowCount(textOf(table)));
  return counts;
}

const expected = (count: (table: Table) => number) =>
  Object.fromEntries(tables.map((table) => [table.name, count(table)]));
// `only`: a statement on sessions reads the archive, too, which has its own turn.
const all = ({ name }: Table) => `select from only ${name}`;
const change = ({ name, columns }: Table) => {
  const column = columns.find((candidate) => candidate.name !== 'merchant_id')?.name ?? '';
  return `update only ${name} set ${pg.escapeIdentifier(column)} = ${pg.escapeIdentifier(column)}`;
};
const remove = ({ name }: Table) => `delete from only ${name}`;

async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return error instanceof pg.DatabaseError ? (error.code ?? '') : String(error);
  }
}

test('the system sees every row', async () => {
  assert.deepEqual(
    await countsOf('*', all),
    expected(() => 2),
  );
});

test('row-level security binds every table, and its owner too', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relrowsecurity and relforcerowsecurity
     order by relname`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    tables.map(({ name }) => name),
  );
});

for (const [what, scope] of [
  ['a connection that never said whose it is', undefined],
  ['an empty scope', ''],
  ['the scope of no merchant', newId('merchant', systemRandom.bytes)],
] as const) {
  test(`${what} reads, changes, deletes and adds no row`, async () => {
    const seen = await countsOf(scope, all);
    const isPublic = scope !== undefined && scope !== '';
    assert.deepEqual(
      seen,
      expected(({ name }) => (isPublic && readable.includes(name) ? 2 : 0)),
    );
    for (const textOf of [change, remove]) {
      assert.deepEqual(
        await countsOf(scope, textOf),
        expected(() => 0),
      );
    }
    for (const table of tables) {
      const refusal = await inScope(scope, () => refusalOf(client.query(insertOf(table, theirs))));
      assert.deepEqual([table.name, refusal], [table.name, '42501']);
    }
  });
}

test('a merchant reads, changes and deletes only its own rows, even by statements without a condition', async () => {
  assert.deepEqual(
    await countsOf(ours, all),
    expected((table) => {
      if (readable.includes(table.name)) return 2;
      return readableOwn.includes(table.name) ? 1 : ownRows(table);
    }),
  );
  assert.deepEqual(await countsOf(ours, change), expected(ownRows));
  assert.deepEqual(await countsOf(ours, remove), expected(ownRows));
  for (const table of tables.filter(hasMerchant)) {
    const { rows } = await inScope(ours, () => client.query(`select merchant_id from only ${table.name}`));
    assert.deepEqual(rows, [{ merchant_id: ours }], table.name);
  }
  const { rows } = await inScope(ours, () => client.query('select merchant_id from sessions'));
  assert.deepEqual(rows, [{ merchant_id: ours }, { merchant_id: ours }], 'sessions and their archive');
});

test('a merchant cannot add rows for another merchant, nor give its own rows away', async () => {
  for (const table of tables) {
    const refusal = await inScope(ours, () => refusalOf(client.query(insertOf(table, theirs))));
    assert.deepEqual([table.name, refusal], [table.name, '42501']);
  }
  for (const { name } of tables.filter(hasMerchant)) {
    const refusal = await inScope(ours, () =>
      refusalOf(client.query(`update ${name} set merchant_id = $1`, [theirs])),
    );
    assert.deepEqual([name, refusal], [name, '42501']);
  }
});
