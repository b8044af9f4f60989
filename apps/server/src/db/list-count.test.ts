import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import fc from 'fast-check';
import { testDatabase } from '../../test/harness/database.ts';
import { awaitLock } from './advisory-lock.ts';
import { addUpLists } from './list-count.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;

const addChanges = statement({
  name: 'list_count_test_add',
  parameters: { merchantId: 'text', facets: 'text[]', changes: 'int4[]' },
  text: `insert into list_total_changes (merchant_id, list, facet, change)
   select :merchantId, 'events', facet, change from unnest(:facets::text[], :changes::int4[]) as row (facet, change)`,
});
const totalOf = statement({
  name: 'list_count_test_total',
  parameters: { merchantId: 'text', facet: 'text' },
  columns: { total: 'int8' },
  text: `select list_total(:merchantId, 'events', :facet) as total`,
});
const pendingCount = statement({
  name: 'list_count_test_pending',
  parameters: { merchantId: 'text' },
  columns: { pending: 'int8' },
  text: 'select count(*) as pending from list_total_changes where merchant_id = :merchantId',
});

const lockDeliveries = statement({
  name: 'list_count_test_lock_deliveries',
  columns: { locked: 'text' },
  text: `select ${awaitLock('deliveries')}::text as locked`,
});

const newMerchant = () => `mer_${randomBytes(8).toString('hex')}`;
const addUp = (limit: number) => db.transaction((transaction) => addUpLists(transaction, limit));

/** Adds all changes, in batches of this size. */
async function addUpAll(limit: number): Promise<void> {
  while (await addUp(limit));
}

const facets = ['session.paid', 'session.completed', 'payment.link.created', 'webhook.test'];
const readers: [string, (facet: string) => boolean][] = [
  ['*', () => true],
  ['session.*', (facet) => facet.startsWith('session.')],
  ['session.paid', (facet) => facet === 'session.paid'],
  ['payment.link.*', (facet) => facet === 'payment.link.created'],
  ['refund.*', () => false],
];

test('list counts are added up while a delivery round holds its lock', async () => {
  const merchantId = newMerchant();
  await db.query(addChanges, { merchantId, facets: ['session.paid'], changes: [1] });
  await db.transaction(async (turn) => {
    await turn.query(lockDeliveries);
    await addUpAll(100);
  });
  assert.deepEqual(await db.query(pendingCount, { merchantId }), [{ pending: 0n }]);
});

interface Change {
  readonly facet: string;
  readonly change: number;
}

/** Checks that the totals of a merchant match all changes so far. */
async function checkTotals(merchantId: string, changes: readonly Change[]): Promise<void> {
  for (const [facet, takes] of readers) {
    const total = changes.reduce((sum, each) => sum + (takes(each.facet) ? each.change : 0), 0);
    assert.deepEqual(await db.query(totalOf, { merchantId, facet }), [{ total: BigInt(total) }], facet);
  }
}

/** Inserted rows, some of which are deleted later. */
const step = fc.record({
  facet: fc.constantFrom(...facets),
  change: fc.oneof(fc.integer({ min: 1, max: 1024 }), fc.integer({ min: 1, max: 300_000 })),
  goes: fc.constantFrom(0, 0, 0.5, 1),
  batch: fc.constantFrom(0, 0, 1, 3, 1000),
});

test('totals are exact, regardless of how many changes are added up and in which order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80 }), async (steps) => {
      const merchantId = newMerchant();
      const changes: Change[] = [];
      const add = async (change: Change) => {
        changes.push(change);
        await db.query(addChanges, { merchantId, facets: [change.facet], changes: [change.change] });
      };
      for (const [index, { facet, change, goes, batch }] of steps.entries()) {
        await add({ facet, change });
        if (batch > 0) await addUp(batch);
        const leaving = Math.floor(change * goes);
        if (leaving > 0) await add({ facet, change: -leaving });
        if (index % 16 === 0) await checkTotals(merchantId, changes);
      }
      await checkTotals(merchantId, changes);
      await addUpAll(7);
      assert.deepEqual(await db.query(pendingCount, { merchantId }), [{ pending: 0n }]);
      await checkTotals(merchantId, changes);
    }),
    { numRuns: 12 },
  );
});

test('one process adds up counts at a time', async () => {
  await db.transaction(async (transaction) => {
    await addUpLists(transaction, 1);
    const merchantId = newMerchant();
    await db.query(addChanges, { merchantId, facets: ['paid'], changes: [1] });
    assert.equal(await addUp(1), false);
    assert.deepEqual(await db.query(pendingCount, { merchantId }), [{ pending: 1n }]);
  });
});

const addOffers = statement({
  name: 'list_count_test_offers',
  parameters: { merchantId: 'text', count: 'int8' },
  text: `with account as (
     insert into accounts (account_id, merchant_id, account_name, account_address, settlement_currencies, version,
       status, created_at, updated_at)
     values ('acc' || :merchantId, :merchantId, '', '', '{}', '', 'normal', now(), now()) returning account_id
   ), links as (
     insert into links (link_id, merchant_id, link_type, link_name, account_id, settlement_token, fee_model, amount,
       payer_email_required, success_url, custom_success_text, custom_disabled_text, status, created_at, updated_at)
     select n || :merchantId, :merchantId, 'fixed', '', account_id, '', 1, 1, false, '', '', '', 'active', now(), now()
     from account, generate_series(1, :count) as n
   )
   insert into products (product_id, merchant_id, product_name, description, image_url, status, common_prices,
     attributes, created_at, updated_at)
   select n || :merchantId, :merchantId, '', '', '', 'active', '{1}', '[]', now(), now() from generate_series(1, :count) as n`,
});
const addMerchant = statement({
  name: 'list_count_test_merchant',
  parameters: { merchantId: 'text' },
  text: `insert into merchants (merchant_id, merchant_name, created_at) values (:merchantId, '', now())`,
});
const endOffers = statement({
  name: 'list_count_test_end_offers',
  parameters: { merchantId: 'text', step: 'int8' },
  text: `with ended as (update links set status = 'deleted' where merchant_id = :merchantId and ordinal % :step = 0)
   update products set status = 'removed' where merchant_id = :merchantId and ordinal % :step = 0`,
});
const deleteOffers = statement({
  name: 'list_count_test_delete_offers',
  parameters: { merchantId: 'text', step: 'int8' },
  text: `with gone as (delete from links where merchant_id = :merchantId and ordinal % :step = 0)
   delete from products where merchant_id = :merchantId and ordinal % :step = 0`,
});
const offerTotals = statement({
  name: 'list_count_test_totals',
  parameters: { merchantId: 'text' },
  columns: { products: 'int8', links: 'int8', all_products: 'int8', all_links: 'int8' },
  text: `select list_total(:merchantId, 'products', '*') as products,
     list_total(:merchantId, 'links', '*') as links,
     (select count(*) from products where merchant_id = :merchantId and status <> 'removed') as all_products,
     (select count(*) from links where merchant_id = :merchantId and status <> 'deleted') as all_links`,
});

test('removed products and deleted links leave their lists', async () => {
  const merchantId = newMerchant();
  await db.query(addMerchant, { merchantId });
  await db.query(addOffers, { merchantId, count: 1_000 });
  for (const step of [3, 5]) {
    await db.query(step === 3 ? endOffers : deleteOffers, { merchantId, step });
    const [row] = await db.query(offerTotals, { merchantId });
    assert.deepEqual([row?.products, row?.links], [row?.all_products, row?.all_links]);
    await addUpAll(100);
    assert.deepEqual(await db.query(offerTotals, { merchantId }), [row]);
  }
});
