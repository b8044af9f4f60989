import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '@florin/pg';
import { schema, systemClock } from '@florin/server/operator';
import { startPostgres } from '@florin/world';
import { findViolations, settleDown } from '../chaos/chaos-check.ts';
import { mineChain } from '../chaos/chaos-faults.ts';
import { buy, fundBuyers, type Sale } from '../chaos/chaos-payers.ts';
import { startChaosWorld } from '../chaos/chaos-world.ts';
import { versionBefore } from './version-before.ts';

const buyerCount = 4;
const stageMs = 8_000;
const healingMs = 240_000;

test('the version before runs and starts on the new schema while payers pay, and the new one takes over', async (t) => {
  const before = await versionBefore();
  if (before === undefined) return t.skip('there is no history of versions in this checkout');
  t.after(() => before.close());
  t.diagnostic(`the version before: ${before.name}, accepts additions: ${before.acceptsAdditions}`);
  let databaseUrl = '';
  const world = await startChaosWorld(async (folder) => {
    const postgres = await startPostgres({ dataFolder: `${folder}/postgres` });
    databaseUrl = postgres.url;
    const none = async () => undefined;
    const { main, migrations } = before;
    return {
      url: postgres.url,
      replicas: 1,
      main,
      migrations,
      crash: none,
      revive: none,
      stop: () => postgres.stop(),
    };
  });
  t.after(() => world.close());
  const mining = new AbortController();
  const chains = world.chains.map((chain) => mineChain(chain, mining.signal));
  const buyers = await fundBuyers(world, buyerCount);
  const [ending, givingUp] = [new AbortController(), new AbortController()];
  const sales: Sale[] = [];
  const payers = buyers.map((buyer) =>
    buy(world, buyer, sales, { ending: ending.signal, givingUp: givingUp.signal }),
  );
  const stage = async (what: string) => {
    const already = sales.length;
    await systemClock.sleep(stageMs);
    // On a busy machine payers may be in the middle of a payment all that time.
    for (const end = performance.now() + healingMs; sales.length === already && performance.now() < end; )
      await systemClock.sleep(200);
    t.diagnostic(`${what}: ${sales.length - already} sessions`);
    assert.ok(sales.length > already, what);
  };
  await stage('the version before on its schema');
  const { applied } = await migrate(databaseUrl, schema);
  assert.ok(applied.length > 0, 'the new version has migrations');
  await stage(`the version before on the new schema, after ${applied.length} migrations`);
  if (!before.acceptsAdditions) await before.takeNewMigrations();
  for (const { process } of world.members) {
    await process.kill();
    await process.start();
  }
  await stage('the version before, started on the new schema');
  for (const { process } of world.members) {
    await process.stop();
    process.runFrom(undefined);
    await process.start();
  }
  await stage('the new version');
  ending.abort();
  const patience = systemClock.sleep(healingMs, givingUp.signal).then(() => givingUp.abort());
  await Promise.all(payers);
  givingUp.abort();
  await patience;
  const left = await settleDown(world, healingMs);
  mining.abort();
  await Promise.all([...chains, ...world.members.map(({ process }) => process.stop())]);
  assert.deepEqual([...left, ...(await findViolations(world, sales))], []);
});
