import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Queryable } from './queryable.ts';
import { withSystemScope } from './schema.ts';
import { statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

const schema = {
  applicationName: 'pg-test',
  scope: { setting: 'shop.tenant', everything: '*', accepts: (value: string) => /^ten_[a-z]+$/.test(value) },
};
const first = 'ten_first';
const second = 'ten_second';

// Deliberately wrong: it lacks a condition on the tenant.
const everyTenant = statement({
  name: 'test_scope_every_tenant',
  columns: { tenant_id: 'text' },
  text: 'select tenant_id from tenants order by tenant_id',
});
const renameAll = statement({
  name: 'test_scope_rename_all',
  parameters: { tenantName: 'text' },
  columns: { tenant_id: 'text', tenant_name: 'text' },
  text: 'update tenants set tenant_name = :tenantName returning tenant_id, tenant_name',
});
const names = statement({
  name: 'test_scope_names',
  columns: { tenant_name: 'text' },
  text: 'select tenant_name from tenants order by tenant_id',
});
const divide = statement({
  name: 'test_scope_divide',
  parameters: { divisor: 'int4' },
  columns: { result: 'int4' },
  text: 'select 6 / :divisor as result',
});
const misspelled = statement({ name: 'test_scope_misspelled', text: 'selct 1' });
const anyValues = statement({
  name: 'test_scope_values',
  parameters: {
    a: 'text',
    b: 'int8',
    c: 'bytea',
    d: 'timestamptz',
    e: 'text[]',
    f: 'jsonb',
    g: 'bool',
    h: 'numeric?',
  },
  columns: {
    a: 'text',
    b: 'int8',
    c: 'bytea',
    d: 'timestamptz',
    e: 'text[]',
    f: 'jsonb',
    g: 'bool',
    h: 'numeric?',
    scope: 'text',
  },
  text: `select :a::text as a, :b::int8 as b, :c::bytea as c, :d::timestamptz as d, :e::text[] as e, :f::jsonb as f,
     :g::bool as g, :h::numeric as h, current_setting('shop.tenant') as scope`,
});

let database: TestDatabase;
before(async () => {
  // One connection, so that a leftover scope would affect the next statement.
  database = await openedDatabase({ connections: 1, schema });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `create table tenants (tenant_id text primary key, tenant_name text not null);
     insert into tenants values ('${first}', 'Tea House'), ('${second}', 'Tea House');
     alter table tenants enable row level security, force row level security;
     create policy tenant_scope on tenants using (
       case current_setting('shop.tenant', true) when '*' then true
         else tenant_id = current_setting('shop.tenant', true) end)`,
  );
  await client.end();
});
after(() => database.close());

const seenBy = async (queryable: Queryable) =>
  (await queryable.query(everyTenant)).map((row) => row.tenant_id);

test('a statement without a condition reads the rows of its scope, and the next statement is not bound by that scope', async () => {
  const { db } = database;
  assert.deepEqual(await seenBy(db.inScope(first)), [first]);
  assert.deepEqual(await seenBy(db), [first, second]);
  assert.deepEqual(await seenBy(db.inScope(second)), [second]);
  assert.deepEqual(await db.inScope(first).transaction(seenBy), [first]);
  assert.deepEqual(await db.transaction(seenBy), [first, second]);
});

test('a statement without a condition changes only rows of its scope', async () => {
  const { db } = database;
  const changed = await db
    .inScope(second)
    .transaction((transaction) => transaction.query(renameAll, { tenantName: 'Coffee House' }));
  assert.deepEqual(changed, [{ tenant_id: second, tenant_name: 'Coffee House' }]);
  assert.deepEqual(await db.inScope(second).query(renameAll, { tenantName: 'Juice Bar' }), [
    { tenant_id: second, tenant_name: 'Juice Bar' },
  ]);
  assert.deepEqual(
    (await db.query(names)).map((row) => row.tenant_name),
    ['Tea House', 'Juice Bar'],
  );
});

test('concurrent statements of many scopes each stay in their own', async () => {
  const { db } = database;
  const asked = Array.from({ length: 60 }, (_, index) => [first, second][index % 2] ?? '');
  const seen = await Promise.all(asked.map((tenantId) => seenBy(db.inScope(tenantId))));
  assert.deepEqual(
    seen,
    asked.map((tenantId) => [tenantId]),
  );
});

test('values are sent and returned as without a scope', async () => {
  const { db } = database;
  const values = {
    a: 'Ä "quoted" \\ text',
    b: 9_007_199_254_740_993n,
    c: Buffer.from([0, 255]),
    d: new Date(1_900_000_000_000),
    e: ['a', 'b,"c"'],
    f: '{"a":[1,null]}',
    g: true,
    h: null,
  };
  const [wide] = await db.query(anyValues, values);
  const [narrow] = await db.inScope(first).query(anyValues, values);
  assert.deepEqual([wide?.scope, narrow], ['*', { ...wide, scope: first }]);
});

test('an error in a scope is thrown, and leaves neither the scope nor a half-prepared statement behind', async () => {
  const { db } = database;
  const narrowed = db.inScope(first);
  for (const _attempt of [1, 2]) {
    await assert.rejects(narrowed.query(divide, { divisor: 0 }), /division by zero/);
    await assert.rejects(narrowed.query(misspelled), /syntax error at or near "selct"/);
    await assert.rejects(
      narrowed.transaction((transaction) => transaction.query(divide, { divisor: 0 })),
      /division by zero/,
    );
    assert.deepEqual(await narrowed.query(divide, { divisor: 2 }), [{ result: 3 }]);
    assert.deepEqual(await seenBy(db), [first, second]);
  }
});

test('a scope is valid only if the schema accepts it, and is never the whole system', () => {
  for (const wrong of ['', '*', 'ten_', `${first}'`, `${first}; reset role`, 'mer_other'])
    assert.throws(() => database.db.inScope(wrong), /the schema has no such scope/, wrong);
});

test('without a schema no scope is valid', async (t) => {
  const plain = await openedDatabase();
  t.after(() => plain.close());
  assert.throws(() => plain.db.inScope(first), /the schema has no such scope/);
});

test('the scope of the system is added to the options that a URL has', () => {
  assert.equal(
    withSystemScope('postgres://shop@db/shop?sslmode=require&options=-c%20search_path%3Dpay', schema),
    'postgres://shop@db/shop?sslmode=require&options=-c+search_path%3Dpay+-c+shop.tenant%3D*',
  );
});
