import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { statement } from '#db/statement.ts';
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

const setCurrencies = statement(
  'test_terms_set_currencies',
  ['text', 'text[]'],
  {},
  'update accounts set settlement_currencies = $2 where account_id = $1',
);

async function shop() {
  const { db } = world.database;
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const deps = { ...world.deps, termsReader: groupTermsReader(db) };
  const create = (settlementToken: string) =>
    createCheckoutSession(
      db,
      deps,
      {
        merchantId,
        body: {
          accountId,
          settlementToken,
          lineItems: [
            {
              itemType: 'one_time',
              quantity: 1,
              unitPrice: 1_000_000,
              productData: { productName: 'A thing' },
            },
          ],
        },
        metadataText: '{}',
      },
      groupInserter(db, deps),
    );
  return { db, merchantId, accountId, create };
}

function refusalOf(slug: string): (error: unknown) => boolean {
  return (error) => error instanceof Refusal && error.slug === slug;
}

test('an account that is removed takes no more sessions, although it was read before', async () => {
  const { db, merchantId, accountId, create } = await shop();
  await create('ethereum::usdc');
  await db.transaction((transaction) => removeAccount(transaction, world.deps, { merchantId, accountId }));
  await assert.rejects(create('ethereum::usdc'), refusalOf('account_removed'));
});

test('a token that an account gives up is refused at once, one that it takes up is accepted at once', async () => {
  const { db, accountId, create } = await shop();
  await create('ethereum::usdc');
  await assert.rejects(create('ethereum::usdt'), refusalOf('settlement_token_not_enabled'));
  await db.query(setCurrencies, [accountId, ['ethereum::usdt']]);
  await assert.rejects(create('ethereum::usdc'), refusalOf('settlement_token_not_enabled'));
  assert.equal((await create('ethereum::usdt')).settlementToken, 'ethereum::usdt');
});

test('an account is remembered for its own merchant only', async () => {
  const first = await shop();
  await first.create('ethereum::usdc');
  const reader = groupTermsReader(first.db);
  assert.equal((await reader.account(first.merchantId, first.accountId))?.accountId, first.accountId);
  assert.equal(await reader.account(await world.addMerchant(), first.accountId), undefined);
});
