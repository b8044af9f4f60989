import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { lockDeliveryLines } from '@florin/outbox';
import { statement } from '@florin/pg';
import fc from 'fast-check';
import { testDatabase } from '../../test/harness/database.ts';
import { addUpLists } from './list-count.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;

const addChanges = statement(
  'list_count_test_add',
  ['text', 'text[]', 'int8[]', 'int4[]'],
  {},
  `insert into list_changes (merchant_id, list, facet, bucket, change)
   select $1, 'events', facet, bucket, change
   from unnest($2::text[], $3::int8[], $4::int4[]) as row (facet, bucket, change)`,
);
const place = statement(
  'list_count_test_place',
  ['text', 'text', 'int8', 'int8[]'],
  { total: 'int8', below: 'int8', rest: 'int8' },
  `select total, below, rest from list_place($1, 'events', $2, $3, $4)`,
);
const rowsAbove = statement(
  'list_count_test_above',
  ['text', 'text', 'int8'],
  { row_total: 'int8', above: 'int8' },
  `select row_total, above from list_rows_above($1, 'events', $2, $3, '{}')`,
);
const pendingCount = statement(
  'list_count_test_pending',
  ['text'],
  { pending: 'int8' },
  'select count(*) as pending from list_changes where merchant_id = $1',
);
const segments = statement(
  'list_count_test_segments',
  ['text'],
  { facet: 'text', level: 'int4', start: 'int8', row_count: 'int4' },
  `select facet, level::int4 as level, start, row_count from list_counts where merchant_id = $1
   order by facet, level, start`,
);

const newMerchant = () => `mer_${randomBytes(8).toString('hex')}`;
const addUp = (limit: number, from = '') =>
  db.transaction((transaction) => addUpLists(transaction, from, limit));

/** Adds everything up, in batches of this size. */
async function addUpAll(limit: number): Promise<void> {
  let from = await addUp(limit);
  while (from !== undefined) from = await addUp(limit, from);
}

const facets = ['session.paid', 'session.completed', 'payment.link.created', 'webhook.test'];
const readers: [string, (facet: string) => boolean][] = [
  ['*', () => true],
  ['session.*', (facet) => facet.startsWith('session.')],
  ['session.paid', (facet) => facet === 'session.paid'],
  ['payment.link.*', (facet) => facet === 'payment.link.created'],
  ['refund.*', () => false],
];

test('lists are added up while a delivery turn holds its lock', async () => {
  const merchantId = newMerchant();
  await db.query(addChanges, [merchantId, ['session.paid'], [1n], [1]]);
  await db.transaction(async (turn) => {
    await lockDeliveryLines(turn);
    await addUpAll(100);
  });
  assert.deepEqual(await db.query(pendingCount, [merchantId]), [{ pending: 0n }]);
});

interface Change {
  readonly facet: string;
  readonly bucket: number;
  readonly change: number;
}

/** Whether place and rows above of a list are what all changes ever made say. */
async function checkReaders(merchantId: string, changes: readonly Change[], random: () => number) {
  for (const [facet, takes] of readers) {
    const taken = changes.filter((change) => takes(change.facet));
    const rowsFrom = (bucket: number) =>
      taken.reduce((sum, each) => sum + (each.bucket >= bucket ? each.change : 0), 0);
    const total = rowsFrom(0);
    for (const skip of [0, Math.floor(random() * total), total - 1, total, total + 7]) {
      if (skip < 0) continue;
      const [found] = await db.query(place, [merchantId, facet, skip, []]);
      const below = Number(found?.below);
      assert.equal(Number(found?.total), total);
      if (skip >= total) assert.deepEqual(found, { total: BigInt(total), below: 0n, rest: 0n });
      else assert.equal(rowsFrom(below / 256) + Number(found?.rest), skip);
    }
    const ordinal = Math.floor(random() * 800_000);
    const [above] = await db.query(rowsAbove, [merchantId, facet, ordinal]);
    assert.ok(Number(above?.above) > ordinal);
    assert.equal(Number(above?.row_total), rowsFrom(Number(above?.above) / 256));
  }
}

/** Rows that come, and of those some that go again later; amounts large enough to fill both levels. */
const step = fc.record({
  facet: fc.constantFrom(...facets),
  bucket: fc.integer({ min: 0, max: 40 }),
  lead: fc.integer({ min: 0, max: 60 }),
  change: fc.oneof(fc.integer({ min: 1, max: 1024 }), fc.integer({ min: 1, max: 300_000 })),
  goes: fc.constantFrom(0, 0, 0.5, 1),
  batch: fc.constantFrom(0, 0, 1, 3, 1000),
});

test('a list has every row at its place, however much of it is added up, and in which order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 80 }),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (steps, chances) => {
        const merchantId = newMerchant();
        const random = () => chances.next().value ?? 0;
        const changes: Change[] = [];
        const add = async (change: Change) => {
          changes.push(change);
          await db.query(addChanges, [merchantId, [change.facet], [change.bucket], [change.change]]);
        };
        for (const [index, { facet, bucket, lead, change, goes, batch }] of steps.entries()) {
          // Ordinals rise, but become visible out of order.
          const at = Math.max(0, index * 20 + lead - bucket);
          await add({ facet, bucket: at, change });
          if (batch > 0) await addUp(batch, merchantId);
          const leaving = Math.floor(change * goes);
          if (leaving > 0) await add({ facet, bucket: at, change: -leaving });
          if (index % 16 === 0) await checkReaders(merchantId, changes, random);
        }
        await checkReaders(merchantId, changes, random);
        await addUpAll(7);
        assert.deepEqual(await db.query(pendingCount, [merchantId]), [{ pending: 0n }]);
        await checkReaders(merchantId, changes, random);
      },
    ),
    { numRuns: 12 },
  );
});

test('segments end soon after 2^8, 2^14 and 2^20 rows, each where one of the level below ends', async () => {
  const merchantId = newMerchant();
  const buckets = Array.from({ length: 4_000 }, (_value, index) => index);
  const ones = buckets.map(() => 700);
  await db.query(addChanges, [merchantId, buckets.map(() => 'paid'), buckets, ones]);
  await addUpAll(900);
  const rows = (await db.query(segments, [merchantId])).filter(({ facet }) => facet === '*');
  const levels = [0, 1, 2].map((level) => rows.filter((row) => row.level === level));
  assert.deepEqual(
    levels.map((level) => level.reduce((sum, { row_count }) => sum + row_count, 0)),
    [2_800_000, 2_800_000, 2_800_000],
  );
  const most = levels.map((level) => Math.max(...level.map(({ row_count }) => row_count)));
  assert.deepEqual(
    most.map((count, level) => count <= 256 * 64 ** level + 700 * 4 * 64 ** Math.max(0, level - 1)),
    [true, true, true],
  );
  assert.deepEqual(
    levels.map((level) => level.length),
    [4_000, 171, 3],
  );
  const startsOf = (level: number) => (levels[level] ?? []).map(({ start }) => start);
  assert.deepEqual(
    [1, 2].map((level) => startsOf(level).filter((start) => !startsOf(level - 1).includes(start))),
    [[], []],
  );
});

test('segments that come to nothing go, but not the last', async () => {
  const merchantId = newMerchant();
  const buckets = Array.from({ length: 12 }, (_value, index) => index);
  const add = (change: number) =>
    db.query(addChanges, [merchantId, buckets.map(() => 'paid'), buckets, buckets.map(() => change)]);
  await add(1024);
  await addUpAll(1000);
  await add(-1024);
  await addUpAll(1000);
  const low = (await db.query(segments, [merchantId])).filter(
    ({ facet, level }) => facet === '*' && level === 0,
  );
  assert.deepEqual(
    low.map(({ start, row_count }) => [start, row_count]),
    [
      [0n, 0],
      [11n, 0],
    ],
  );
  await add(300);
  assert.deepEqual(await db.query(place, [merchantId, '*', 301, []]), [
    { total: 3_600n, below: 11n << 8n, rest: 1n },
  ]);
});

test('one adds up at a time', async () => {
  await db.transaction(async (transaction) => {
    await addUpLists(transaction, '', 1);
    const merchantId = newMerchant();
    await db.query(addChanges, [merchantId, ['paid'], [1], [1]]);
    assert.equal(await addUp(1), undefined);
    assert.deepEqual(await db.query(pendingCount, [merchantId]), [{ pending: 1n }]);
  });
});

const addOffers = statement(
  'list_count_test_offers',
  ['text', 'int8'],
  {},
  `with account as (
     insert into accounts (account_id, merchant_id, account_name, account_address, settlement_currencies, version,
       status, created_at, updated_at)
     values ('acc' || $1, $1, '', '', '{}', '', 'normal', now(), now()) returning account_id
   ), links as (
     insert into links (link_id, merchant_id, link_type, link_name, account_id, settlement_token, fee_model, amount,
       payer_email_required, success_url, custom_success_text, custom_disabled_text, status, created_at, updated_at)
     select n || $1, $1, 'fixed', '', account_id, '', 1, 1, false, '', '', '', 'active', now(), now()
     from account, generate_series(1, $2) as n
   )
   insert into products (product_id, merchant_id, product_name, description, image_url, status, common_prices,
     attributes, created_at, updated_at)
   select n || $1, $1, '', '', '', 'active', '{1}', '[]', now(), now() from generate_series(1, $2) as n`,
);
const addMerchant = statement(
  'list_count_test_merchant',
  ['text'],
  {},
  `insert into merchants (merchant_id, merchant_name, created_at) values ($1, '', now())`,
);
const endOffers = statement(
  'list_count_test_end_offers',
  ['text', 'int8'],
  {},
  `with ended as (update links set status = 'deleted' where merchant_id = $1 and ordinal % $2 = 0)
   update products set status = 'removed' where merchant_id = $1 and ordinal % $2 = 0`,
);
const deleteOffers = statement(
  'list_count_test_delete_offers',
  ['text', 'int8'],
  {},
  `with gone as (delete from links where merchant_id = $1 and ordinal % $2 = 0)
   delete from products where merchant_id = $1 and ordinal % $2 = 0`,
);
const offerTotals = statement(
  'list_count_test_totals',
  ['text'],
  { products: 'int8', links: 'int8', all_products: 'int8', all_links: 'int8' },
  `select (list_place($1, 'products', '*', 0, '{}')).total as products,
     (list_place($1, 'links', '*', 0, '{}')).total as links,
     (select count(*) from products where merchant_id = $1 and status <> 'removed') as all_products,
     (select count(*) from links where merchant_id = $1 and status <> 'deleted') as all_links`,
);

test('products that are removed and links that are deleted leave their lists', async () => {
  const merchantId = newMerchant();
  await db.query(addMerchant, [merchantId]);
  await db.query(addOffers, [merchantId, 1_000]);
  for (const step of [3, 5]) {
    await db.query(step === 3 ? endOffers : deleteOffers, [merchantId, step]);
    const [row] = await db.query(offerTotals, [merchantId]);
    assert.deepEqual([row?.products, row?.links], [row?.all_products, row?.all_links]);
    await addUpAll(100);
    assert.deepEqual(await db.query(offerTotals, [merchantId]), [row]);
  }
});
