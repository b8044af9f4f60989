import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@florin/protocol/id.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import type { Queryable } from './database.ts';
import { withSystemScope } from './database.ts';
import { statement } from './statement.ts';

// Wrong on purpose: no condition on the merchant.
const everyMerchant = statement(
  'test_scope_every_merchant',
  [],
  { merchant_id: 'text' },
  'select merchant_id from merchants order by created_at, merchant_id',
);
const renameEveryone = statement(
  'test_scope_rename_everyone',
  ['text'],
  { merchant_id: 'text', merchant_name: 'text' },
  'update merchants set merchant_name = $1 returning merchant_id, merchant_name',
);
const names = statement(
  'test_scope_names',
  [],
  { merchant_name: 'text' },
  'select merchant_name from merchants order by created_at, merchant_id',
);
const divide = statement('test_scope_divide', ['int4'], { result: 'int4' }, 'select 6 / $1 as result');
const misspelled = statement('test_scope_misspelled', [], {}, 'selct 1');
const anyValues = statement(
  'test_scope_values',
  ['text', 'int8', 'bytea', 'timestamptz', 'text[]', 'jsonb', 'bool', 'numeric'],
  {
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
  `select $1::text as a, $2::int8 as b, $3::bytea as c, $4::timestamptz as d, $5::text[] as e, $6::jsonb as f,
     $7::bool as g, $8::numeric as h, current_setting('florin.merchant') as scope`,
);

let database: TestDatabase;
let first: string;
let second: string;
before(async () => {
  // One connection, so that whatever a scope left behind would meet the next statement.
  database = await testDatabase({ connections: 1 });
  [first, second] = [await addMerchant(0), await addMerchant(1_000)];
});
after(() => database.close());

async function addMerchant(ms: number): Promise<string> {
  const clock = { ...systemClock, now: () => new Date(ms) };
  const { merchantId } = await database.db.transaction((transaction) =>
    createMerchant(transaction, { clock, random: systemRandom }, { merchantName: 'Tea House' }),
  );
  return merchantId;
}

const seenBy = async (queryable: Queryable) =>
  (await queryable.query(everyMerchant)).map((row) => row.merchant_id);

test('a statement without a condition shows a merchant its own rows, and the next statement is not bound by that', async () => {
  const { db } = database;
  assert.deepEqual(await seenBy(db.forMerchant(first)), [first]);
  assert.deepEqual(await seenBy(db), [first, second]);
  assert.deepEqual(await seenBy(db.forMerchant(second)), [second]);
  assert.deepEqual(await db.forMerchant(first).transaction(seenBy), [first]);
  assert.deepEqual(await db.transaction(seenBy), [first, second]);
});

test('a statement without a condition changes rows of the merchant alone', async () => {
  const { db } = database;
  const changed = await db
    .forMerchant(second)
    .transaction((transaction) => transaction.query(renameEveryone, ['Coffee House']));
  assert.deepEqual(changed, [{ merchant_id: second, merchant_name: 'Coffee House' }]);
  assert.deepEqual(await db.forMerchant(second).query(renameEveryone, ['Juice Bar']), [
    { merchant_id: second, merchant_name: 'Juice Bar' },
  ]);
  assert.deepEqual(
    (await db.query(names)).map((row) => row.merchant_name),
    ['Tea House', 'Juice Bar'],
  );
});

test('statements of many merchants at once each stay with their own', async () => {
  const { db } = database;
  const asked = Array.from({ length: 60 }, (_, index) => [first, second][index % 2] ?? '');
  const seen = await Promise.all(asked.map((merchantId) => seenBy(db.forMerchant(merchantId))));
  assert.deepEqual(
    seen,
    asked.map((merchantId) => [merchantId]),
  );
});

test('values go and come as they do without a scope', async () => {
  const { db } = database;
  const values = [
    'Ä "quoted" \\ text',
    9_007_199_254_740_993n,
    Buffer.from([0, 255]),
    new Date(1_900_000_000_000),
    ['a', 'b,"c"'],
    '{"a":[1,null]}',
    true,
    null,
  ];
  const [wide] = await db.query(anyValues, values);
  const [narrow] = await db.forMerchant(first).query(anyValues, values);
  assert.deepEqual([wide?.scope, narrow], ['*', { ...wide, scope: first }]);
});

test('an error in a scope is thrown, and leaves neither its scope nor anything half-prepared behind', async () => {
  const { db } = database;
  const narrowed = db.forMerchant(first);
  for (const _attempt of [1, 2]) {
    await assert.rejects(narrowed.query(divide, [0]), /division by zero/);
    await assert.rejects(narrowed.query(misspelled), /syntax error at or near "selct"/);
    await assert.rejects(
      narrowed.transaction((transaction) => transaction.query(divide, [0])),
      /division by zero/,
    );
    assert.deepEqual(await narrowed.query(divide, [2]), [{ result: 3 }]);
    assert.deepEqual(await seenBy(db), [first, second]);
  }
});

test('a scope takes ids of merchants and nothing else', () => {
  for (const wrong of [
    '',
    '*',
    'mer_',
    `${first}'`,
    `${first}; reset role`,
    newId('session', systemRandom.bytes),
  ]) {
    assert.throws(() => database.db.forMerchant(wrong), /a scope needs the id of a merchant/, wrong);
  }
});

test('the scope of the system is added to the options that a URL has', () => {
  assert.equal(
    withSystemScope('postgres://florin@db/florin?sslmode=require&options=-c%20search_path%3Dpay'),
    'postgres://florin@db/florin?sslmode=require&options=-c+search_path%3Dpay+-c+florin.merchant%3D*',
  );
});
