import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { permissionPresets, permissions } from '@florin/protocol/permission.ts';
import { productsByIds } from '#catalog/product.ts';
import { findLink } from '#links/link.ts';
import { findAccount } from '#merchants/account.ts';
import { apiKeyLookup, authenticate } from '#merchants/api-key.ts';
import { findMerchant, listMerchants } from '#merchants/merchant.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { fixtureChains } from '../test/harness/agent-fixture.ts';
import { type TestDatabase, testDatabase } from '../test/harness/database.ts';
import { type SeedDeps, seedDemo } from './seed.ts';

let database: TestDatabase;
let deps: SeedDeps;
before(async () => {
  database = await testDatabase();
  deps = {
    db: database.db,
    clock: systemClock,
    random: systemRandom,
    chains: fixtureChains,
    fees: { sameToken: 2000, sameChain: 3000, crossChain: 6000 },
    origin: 'http://127.0.0.1:4000',
  };
});
after(() => database.close());

const collectionAddress = '0x52908400098527886E0F7030069857D2E4169EE7';

test('the demo merchant has keys, an account for every token, a product and three links', async () => {
  const demo = await seedDemo(deps, { collectionAddress });
  const { merchantId, accountId, productId } = demo;
  assert.equal((await findMerchant(database.db, merchantId))?.merchantName, 'Florin Coffee');

  const lookup = apiKeyLookup(database.db);
  const permissionsOf = async (key: string) => {
    const identity = await authenticate(lookup, `Bearer ${key}`, new Date());
    assert.equal(identity.merchantId, merchantId);
    return [...identity.permissions];
  };
  assert.deepEqual(await permissionsOf(demo.secretKey), [...permissions]);
  assert.deepEqual(await permissionsOf(demo.restrictedKey), [...permissionPresets.read_only]);

  const account = await findAccount(database.db, merchantId, accountId);
  assert.deepEqual(
    [account?.accountAddress, account?.settlementCurrencies],
    [collectionAddress, ['ethereum::usdc', 'ethereum::usdt', 'base::usdc']],
  );
  const [product] = await productsByIds(database.db, { merchantId, productIds: [productId] });
  assert.deepEqual([product?.name, product?.commonPrices], ['Espresso', [2_500_000]]);

  const links = await Promise.all(Object.values(demo.linkIds).map((linkId) => findLink(database.db, linkId)));
  assert.deepEqual(
    links.map((link) => [link?.linkType, link?.settlementToken, link?.amount, link?.status]),
    [
      ['fixed', 'ethereum::usdc', 2_500_000n, 'active'],
      ['custom', 'ethereum::usdc', 0n, 'active'],
      ['fixed', 'base::usdc', 2_500_000n, 'active'],
    ],
  );
});

test('a demo that cannot be made whole leaves nothing', async () => {
  const before = await listMerchants(database.db);
  const zero = '0x0000000000000000000000000000000000000000';
  await assert.rejects(seedDemo(deps, { collectionAddress: zero }), Refusal);
  assert.deepEqual(await listMerchants(database.db), before);
});
