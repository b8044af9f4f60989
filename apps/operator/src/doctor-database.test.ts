import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { sendBack, systemClock, systemRandom } from '@florin/server/operator';
import { DepositMoves } from '@florin/server/testing';
import { runCli } from './cli.ts';
import { CliWorld } from './cli-world.fixture.ts';
import { examineDepositGas } from './doctor-database.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

async function lineOf(what: string, clock = systemClock): Promise<string | undefined> {
  const environment = { FLORIN_CONFIG: `${world.folder}/florin.json` };
  const { stdout } = await runCli(['doctor'], {
    environment,
    clock,
    random: systemRandom,
    folder: '/',
    tell: () => {},
  });
  return stdout.split('\n').find((line) => line.slice(6).startsWith(`${what}: `));
}

const beginChain = statement({
  name: 'doctor_test_begin',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, 9, '0x09', :headTime, 8, '0x08', :headTime, :headTime)
   on conflict (chain_id) do update set head_time = :headTime`,
});

const lookAtBooks = statement({
  name: 'doctor_test_look',
  parameters: { chainId: 'int8', nextAt: 'timestamptz' },
  text: `insert into chain_reconciliations (chain_id, next_at, agreed_number, agreed_at, looked_at) values (:chainId, :nextAt, 8, :nextAt, :nextAt)
   on conflict (chain_id) do update set looked_at = :nextAt`,
});

const stopSettlement = statement({
  name: 'doctor_test_stop',
  parameters: { chainId: 'int8', stoppedReason: 'text' },
  text: 'update chain_cursors set stopped_reason = :stoppedReason where chain_id = :chainId',
});

const minutesAgo = (minutes: number) => new Date(systemClock.now().getTime() - minutes * 60_000);

test('a chain that the service no longer follows is reported', async () => {
  const { chainId } = world.life.chain;
  assert.equal(await lineOf('ethereum lag'), undefined, 'nothing has begun');
  // The time is ahead of every block of the node.
  await world.database.db.query(beginChain, { chainId, headTime: minutesAgo(-60) });
  assert.equal(await lineOf('ethereum lag'), 'ok    ethereum lag: the service is 0 s behind the node');
  await world.database.db.query(beginChain, { chainId, headTime: minutesAgo(600) });
  assert.match(
    (await lineOf('ethereum lag')) ?? '',
    /^WRONG ethereum lag: the service is \d+ s behind the node: does a process with the role watcher run, and does its log have watcher\.rpc_failed\?$/,
  );
});

test('a clock that is behind the chain is reported', async () => {
  const behind = { ...systemClock, now: () => new Date(systemClock.now().getTime() - 86_400_000) };
  assert.match(
    (await lineOf('ethereum head', behind)) ?? '',
    /^WRONG ethereum head: block \d+, -\d+ s old: this machine's clock is behind; synchronize it with NTP$/,
  );
});

test('books without recent checks are reported, and settlement that is stopped', async () => {
  const { db } = world.database;
  const { chainId } = world.life.chain;
  assert.equal(
    await lineOf('ethereum books'),
    'ok    ethereum books: have not been compared yet: a worker compares them while the service runs',
  );
  await db.query(lookAtBooks, { chainId, nextAt: minutesAgo(0) });
  assert.equal(
    await lineOf('ethereum books'),
    'ok    ethereum books: compared 0 minutes ago, last agreed at block 8',
  );
  const agreed = await world.run('reconcile status');
  assert.match(agreed.stdout, /^ethereum: agreed at block 8; settlement running$/m);
  assert.equal(agreed.exitCode, 0);
  await db.query(lookAtBooks, { chainId, nextAt: minutesAgo(30) });
  assert.match(
    (await lineOf('ethereum books')) ?? '',
    /^WRONG .*compared 3[01] minutes ago, .*: is a process with the role worker running\?$/,
  );
  await db.query(stopSettlement, { chainId, stoppedReason: 'drift' });
  assert.match((await lineOf('ethereum books')) ?? '', /^WRONG .*: settlement is stopped \(drift\): /);
  await db.query(stopSettlement, { chainId, stoppedReason: '' });
});

test('backups are checked where their folder is named', async () => {
  assert.equal(await lineOf('backup'), undefined);
  const found = await world.run('doctor', ['--backups', world.folder]);
  assert.match(found.stdout, /^WRONG backup: \S+ has no backup: run florin backup$/m);
  assert.equal((await world.run('doctor', ['--max-backup-hours', '3'])).exitCode, 2);
  assert.equal(
    (await world.run('doctor', ['--backups', world.folder, '--max-backup-hours', 'x'])).exitCode,
    2,
  );
});

test('an installation without delayed settlements has none to release', async () => {
  assert.equal(await lineOf('settlements'), 'ok    settlements: none is delayed');
});

test('links whose deposits wait for gas are reported', async () => {
  const moves = await DepositMoves.open();
  try {
    const { db } = moves.world.database;
    const budgets = { collections: 1_000_000, returns: 200_000 };
    const look = () => examineDepositGas(db, moves.world.clock, budgets);
    assert.deepEqual((await look()).isGood, true);
    const deps = moves.deps({ depositBudgets: budgets });
    await sendBack(deps, moves.chain, await moves.newOrder(), moves.usdc.address);
    assert.deepEqual(await look(), {
      what: 'gas of deposits',
      isGood: false,
      detail: `nearly or fully used, further moves wait: returns of ${moves.merchantId} (100 of 200000): docs/runbook/exceptions.md`,
    });
  } finally {
    await moves.close();
  }
});
