import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CliResult } from '@florin/cli';
import { statement } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { settlementRound, systemClock, systemRandom } from '@florin/server/operator';
import { commandConfig, SettlementWorld } from '@florin/server/testing';
import { runCli } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-settlement-test-'));
const configFile = join(folder, 'florin.json');
let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
  writeFileSync(configFile, JSON.stringify(commandConfig(world.database.url, world.chains)));
});
after(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

function run(...args: string[]): Promise<CliResult> {
  return runCli(args, {
    environment: { FLORIN_CONFIG: configFile },
    clock: systemClock,
    random: systemRandom,
    folder: '/',
    tell: () => {},
  });
}

const releases = statement({
  name: 'settlement_command_test_releases',
  columns: { subject: 'text', actor_kind: 'text', after: 'text?' },
  text: "select subject, actor_kind, after from audit_entries where action = 'releaseSettlement'",
});

test('a payout that exceeds a cap is listed, and sent once it is released', async () => {
  assert.deepEqual(await run('settlement', 'list'), {
    exitCode: 0,
    stdout: 'no settlement is delayed\n',
    stderr: '',
  });
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  const one = microUsd(1n);
  const outflow = { perOrder: one, hourly: one, daily: one };
  const deps = { ...world.deps, settings: { ...world.deps.settings, outflow } };
  await settlementRound(deps, world.chain('base'), 'payout');
  const listed = await run('settlement', 'list');
  assert.equal(listed.exitCode, 1);
  const pattern = `^ORDER .*\n${order.orderId} +payout +base +0\\.994 +outflow_cap +0 +\\S+ +held\n$`;
  assert.match(listed.stdout, new RegExp(pattern));
  assert.equal((await run('settlement', 'release', '--order', order.orderId)).exitCode, 0);
  assert.deepEqual(await world.database.db.query(releases), [
    { subject: order.orderId, actor_kind: 'operator', after: '{"legs":["payout"]}' },
  ]);
  world.clock.time = systemClock.now().getTime() + 1_000;
  await settlementRound(deps, world.chain('base'), 'payout');
  const [leg] = await world.legs(order);
  assert.deepEqual([leg?.leg, leg?.status], ['payout', 'sent']);
  const again = await run('settlement', 'release', '--order', order.orderId);
  assert.deepEqual([again.exitCode, again.stdout], [1, '']);
  assert.equal((await run('settlement', 'release', '--order', '0x12')).exitCode, 2);
});
