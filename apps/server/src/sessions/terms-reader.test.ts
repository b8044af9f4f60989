import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { SessionCreateBody } from '@florin/protocol/session.ts';
import { createProduct, moveProduct, updateProduct } from '#catalog/product.ts';
import { removeAccount } from '#merchants/account.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { createCheckoutSession } from './session.ts';
import { groupInserter } from './session-insert.ts';
import { groupTermsReader } from './terms-reader.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const setCurrencies = statement({
  name: 'test_terms_set_currencies',
  parameters: { accountId: 'text', settlementCurrencies: 'text[]' },
  text: 'update accounts set settlement_currencies = :settlementCurrencies where account_id = :accountId',
});

async function shop() {
  const { db } = world.database;
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const deps = { ...world.deps, termsReader: groupTermsReader(db) };
  const insert = groupInserter(db, deps);
  const sellItems = (settlementToken: string, lineItems: SessionCreateBody['lineItems']) =>
    createCheckoutSession(
      db,
      deps,
      { merchantId, body: { accountId, settlementToken, lineItems }, metadataText: '{}' },
      insert,
    );
  const create = (settlementToken: string) =>
    sellItems(settlementToken, [
      {
        itemType: 'one_time',
        quantity: 1,
        unitPrice: 1_000_000,
        productData: { productName: 'A thing' },
      },
    ]);
  const sell = async (...productIds: string[]) => {
    const lineItems = productIds.map((productId) => ({ itemType: 'product' as const, productId }));
    const { items } = await sellItems('ethereum::usdc', lineItems);
    return items.map(({ productData, unitPrice }) => [productData?.productName, unitPrice]);
  };
  const addProduct = async (name: string, price: number) => {
    const body = { name, commonPrices: [price] };
    const product = await db.transaction((transaction) =>
      createProduct(transaction, world.deps, { merchantId, body }),
    );
    return product.productId;
  };
  const change = (productId: string, name: string, price: number) =>
    db.transaction((transaction) =>
      updateProduct(transaction, world.deps, {
        ...{ merchantId, productId },
        body: { name, commonPrices: [price] },
      }),
    );
  const move = (productId: string, trigger: 'archive' | 'unarchive') =>
    db.transaction((transaction) => moveProduct(transaction, world.deps, { merchantId, productId, trigger }));
  return { db, merchantId, accountId, create, sell, addProduct, change, move };
}

function refusalOf(slug: string): (error: unknown) => boolean {
  return (error) => error instanceof Refusal && error.slug === slug;
}

test('a removed account gets no more sessions, even if it is cached', async () => {
  const { db, merchantId, accountId, create } = await shop();
  await create('ethereum::usdc');
  await db.transaction((transaction) => removeAccount(transaction, world.deps, { merchantId, accountId }));
  await assert.rejects(create('ethereum::usdc'), refusalOf('account_removed'));
});

test('a token that an account removes is refused at once, and one that it adds is accepted at once', async () => {
  const { db, accountId, create } = await shop();
  await create('ethereum::usdc');
  await assert.rejects(create('ethereum::usdt'), refusalOf('settlement_token_not_enabled'));
  await db.query(setCurrencies, { accountId, settlementCurrencies: ['ethereum::usdt'] });
  await assert.rejects(create('ethereum::usdc'), refusalOf('settlement_token_not_enabled'));
  assert.equal((await create('ethereum::usdt')).settlementToken, 'ethereum::usdt');
});

test('an account is cached for its own merchant only', async () => {
  const first = await shop();
  await first.create('ethereum::usdc');
  const reader = groupTermsReader(first.db);
  assert.equal((await reader.account(first.merchantId, first.accountId))?.accountId, first.accountId);
  assert.equal(await reader.account(await world.addMerchant(), first.accountId), undefined);
});

test('a session sells a product as it is now, even if an older one is cached', async () => {
  const { sell, addProduct, change } = await shop();
  const productId = await addProduct('Tea', 10);
  assert.deepEqual(await sell(productId), [['Tea', 10]]);
  assert.deepEqual(await sell(productId), [['Tea', 10]]);
  await change(productId, 'Green tea', 12);
  assert.deepEqual(await sell(productId), [['Green tea', 12]]);
});

test('an archived product is not sold even if it is cached, and is sold again once unarchived', async () => {
  const { sell, addProduct, move } = await shop();
  const productId = await addProduct('Tea', 10);
  await sell(productId);
  await move(productId, 'archive');
  await assert.rejects(sell(productId), refusalOf('product_not_active'));
  await move(productId, 'unarchive');
  assert.deepEqual(await sell(productId), [['Tea', 10]]);
});

test('sessions that are stored together each sell their own current products', async () => {
  const { sell, addProduct, change, move } = await shop();
  const products = [await addProduct('Tea', 10), await addProduct('Cup', 20), await addProduct('Pot', 30)];
  const [tea = '', cup = '', pot = ''] = products;
  await sell(...products);
  await Promise.all([change(cup, 'Mug', 21), move(pot, 'archive')]);
  const sold = await Promise.allSettled([sell(tea), sell(cup), sell(pot), sell(tea, cup), sell(cup, tea)]);
  assert.deepEqual(
    sold.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.slug)),
    [
      [['Tea', 10]],
      [['Mug', 21]],
      'product_not_active',
      [
        ['Tea', 10],
        ['Mug', 21],
      ],
      [
        ['Mug', 21],
        ['Tea', 10],
      ],
    ],
  );
});

test('a product is cached for its own merchant only', async () => {
  const first = await shop();
  const productId = await first.addProduct('Tea', 10);
  const reader = groupTermsReader(first.db);
  assert.equal((await reader.products(first.merchantId, [productId])).size, 1);
  assert.equal((await reader.products(await world.addMerchant(), [productId])).size, 0);
});
