import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { fuzzFactor, fuzzSeed, seedNote } from '../fuzz/seed.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';
import { assertAll, commands } from './merchant-commands.ts';
import { MerchantModel } from './merchant-model.ts';

const numRuns = fuzzFactor === 1 ? 10 : 20 * fuzzFactor;
const maxCommands = 60;

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

test('products, links and sessions behave as a simple model in any order of requests', async (t) => {
  t.diagnostic(seedNote());
  let requests = 0;
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), async (sequence) => {
    const merchantId = await world.addMerchant();
    const shop = {
      world,
      key: await world.addKey(merchantId),
      accountId: await world.addAccount(merchantId),
    };
    const model = new MerchantModel();
    await fc.asyncModelRun(() => ({ model, real: shop }), sequence);
    await assertAll(model, shop);
    for (const _ of sequence) requests += 1;
  });
  await fc.assert(property, { numRuns, endOnFailure: false, seed: fuzzSeed });
  t.diagnostic(`${numRuns} histories, ${requests} steps, 0 differences`);
});
