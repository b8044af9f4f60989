import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Row, statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await openedDatabase();
});
after(() => database.close());

const moved = statement({
  name: 'statement_test_moved',
  parameters: { from: 'text', to: 'text', count: 'int8', note: 'text?', times: 'timestamptz[]' },
  columns: { route: 'text', count: 'int8', note: 'text?', first: 'timestamptz?', label: 'text' },
  // A name may occur twice and in any order. Casts, literals and comments keep their colons.
  text: `select :to::text || ' from ' || :from::text || ' to ' || :to as route, -- not :this
    :count::int8 as count, :note::text as note, (:times::timestamptz[])[1] as first, 'at ''12:from' as label`,
});

test('values reach the parameters of their names, in any order', async () => {
  const time = new Date('2026-01-02T03:04:05.006Z');
  const row: Row<typeof moved> = {
    route: 'B from A to B',
    count: 7n,
    note: null,
    first: time,
    label: "at '12:from",
  };
  const values = { times: [time], note: null, to: 'B', count: 7, from: 'A' };
  assert.deepEqual(await database.db.query(moved, values), [row]);
  assert.deepEqual(await database.db.transaction((transaction) => transaction.query(moved, values)), [row]);
});

test('PostgreSQL gets positions, in the order in which parameters are declared', () => {
  const { text, parameters } = statement({
    name: 'statement_test_text',
    parameters: { sessionId: 'text', at: 'timestamptz?' },
    text: `update s set at = :at, "a:b" = $$ x $$ where session_id = :sessionId or other = :sessionId`,
  });
  assert.equal(text, `update s set at = $2, "a:b" = $$ x $$ where session_id = $1 or other = $1`);
  assert.deepEqual(parameters, ['text', 'timestamptz']);
});

test('a statement without parameters is sent without values', async () => {
  const one = statement({
    name: 'statement_test_one',
    columns: { one: 'int4' },
    text: 'select 1 as one',
  });
  assert.deepEqual(await database.db.query(one), [{ one: 1 }]);
});

test('a text uses exactly the declared parameters, and no positions', () => {
  const declare = (name: string, text: string) => statement({ name, parameters: { id: 'text' }, text });
  assert.throws(
    () => declare('statement_test_other', 'delete from s where id = :id and x = :other'),
    /other/,
  );
  assert.throws(() => declare('statement_test_unused', 'delete from s'), /does not use :id/);
  assert.throws(
    () => declare('statement_test_mixed', 'delete from s where id = :id or id = $1'),
    /has the position \$1/,
  );
});

test('every statement has its own name, and none is too long for PostgreSQL', () => {
  assert.throws(() => statement({ name: 'statement_test_one', text: 'select 1' }), /two statements/);
  assert.throws(() => statement({ name: 's'.repeat(64), text: 'select 1' }), /too long/);
});

test('TypeScript refuses values of another kind, missing ones, unknown ones and null where it is not declared', async () => {
  const byId = statement({
    name: 'statement_test_types',
    parameters: { id: 'text', count: 'int4' },
    text: 'select where :id::text is null and :count::int4 > 0',
  });
  const { db } = database;
  // @ts-expect-error a number is no text
  await db.query(byId, { id: 1, count: 1 });
  // @ts-expect-error null has to be declared
  await db.query(byId, { id: null, count: 1 });
  // @ts-expect-error no such parameter
  await db.query(byId, { id: 'a', count: 1, other: 'b' });
  // @ts-expect-error values have names
  await assert.rejects(async () => db.query(byId, ['a', 1]), /lacks a value for id/);
  // @ts-expect-error one is missing
  await assert.rejects(async () => db.query(byId, { id: 'a' }), /lacks a value for count/);
  // @ts-expect-error all are missing
  await assert.rejects(async () => db.query(byId), /lacks a value for id/);
});
