import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CliResult } from '@florin/cli';
import { statement } from '@florin/pg';
import { systemRandom } from '@florin/server/operator';
import { addLateDeposit, addPaidSession, commandConfig, happen, MerchantWorld } from '@florin/server/testing';
import { runCli } from './cli.ts';
import { failure } from './cli-world.fixture.ts';

/** Newer resolved exceptions like a given one, in other tokens. */
const addResolved = statement({
  name: 'exception_command_fixture_resolved',
  parameters: { exceptionId: 'text', count: 'int8' },
  text: `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer, tx_hash,
     status, created_at, updated_at)
   select 'exc_' || lpad(n::text, 22, '0'), merchant_id, session_id, order_id, kind, 'ethereum::t' || n, amount_in_token,
     payer, tx_hash, 'resolved', created_at, updated_at
   from exceptions, generate_series(1, :count) as n where exception_id = :exceptionId`,
});

const entriesOf = statement({
  name: 'exception_command_test_entries',
  parameters: { exceptionId: 'text' },
  columns: { action: 'text', merchant_id: 'text?', actor_kind: 'text' },
  text: 'select action, merchant_id, actor_kind from audit_entries where subject = :exceptionId',
});

const folder = mkdtempSync(join(tmpdir(), 'florin-exception-test-'));
const configFile = join(folder, 'florin.json');
let world: MerchantWorld;
let merchantId: string;
let shop: { key: string; accountId: string };
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
  writeFileSync(configFile, JSON.stringify(commandConfig(world.database.url, world.deps.chains)));
});
after(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

function run(...args: string[]): Promise<CliResult> {
  return runCli(args, {
    environment: { FLORIN_CONFIG: configFile },
    clock: world.clock,
    random: systemRandom,
    folder: '/',
    tell: () => {},
  });
}

const on = (verb: string, exceptionId: string, merchant = merchantId) =>
  run('exception', verb, '--merchant', merchant, '--exception', exceptionId);

async function assertRecorded(exceptionId: string, action: string): Promise<void> {
  assert.deepEqual(await world.database.db.query(entriesOf, { exceptionId }), [
    { action, merchant_id: merchantId, actor_kind: 'operator' },
  ]);
}

async function shown(exceptionId: string): Promise<Record<string, string>> {
  const args = ['--merchant', merchantId, '--exception', exceptionId, '--json'];
  return JSON.parse((await run('exception', 'show', ...args)).stdout);
}

test('exceptions are listed as in the merchant API, newest first', async () => {
  assert.deepEqual(await run('exception', 'list', '--merchant', merchantId), {
    exitCode: 0,
    stdout: 'there are no exceptions\n',
    stderr: '',
  });
  const { order } = await addPaidSession(world, shop);
  await happen(world, order, 'Reclaimed');
  const { exceptionId } = await addLateDeposit(world, shop);
  const { total, exceptions } = (await world.send('GET', '/exception/list/1/10', { key: shop.key })).data;
  const listed = await run('exception', 'list', '--merchant', merchantId, '--json');
  assert.deepEqual(JSON.parse(listed.stdout), { total, exceptions });
  assert.deepEqual(await shown(exceptionId), exceptions[0]);
  const open = await run('exception', 'list', '--merchant', merchantId, '--status', 'open');
  assert.match(
    open.stdout,
    new RegExp(
      `^EXCEPTION .*\n${exceptionId} +late +10.02 ethereum::usdc +open +- +2030\\S+ \\S+ +\\S+ +2030.*\n$`,
    ),
  );
});

test('an open exception is listed, regardless of the number of newer resolved ones', async () => {
  const { exceptionId } = await addLateDeposit(world, shop);
  await world.database.db.query(addResolved, { exceptionId, count: 450 });
  const open = await run('exception', 'list', '--merchant', merchantId, '--status', 'open', '--json');
  const { exceptions } = JSON.parse(open.stdout);
  assert.equal(exceptions[0].exceptionId, exceptionId);
  const newest = await run('exception', 'list', '--merchant', merchantId, '--json');
  assert.equal(JSON.parse(newest.stdout).exceptions.length, 200);
});

test('a late deposit is accepted once, by the rules of the merchant API', async () => {
  const { exceptionId } = await addLateDeposit(world, shop);
  const accepted = await on('accept', exceptionId);
  assert.deepEqual([accepted.exitCode, accepted.stderr], [0, '']);
  assert.equal((await shown(exceptionId))['decision'], 'accept');
  assert.equal((await on('accept', exceptionId)).exitCode, 0, 'the same again changes nothing');
  const refused = await on('refund', exceptionId);
  assert.deepEqual([refused.exitCode, refused.stdout], [1, '']);
  assert.match(refused.stderr, /the decision is accept/);
  await assertRecorded(exceptionId, 'acceptException');
  const body = { exceptionId };
  assert.equal((await world.send('POST', '/exception/refund', { key: shop.key, body })).code, 100705);
});

test('a late deposit goes back on request, and is not accepted after its time', async () => {
  const { exceptionId } = await addLateDeposit(world, shop);
  const late = await addLateDeposit(world, shop);
  assert.equal((await on('refund', exceptionId)).exitCode, 0);
  assert.equal((await shown(exceptionId))['decision'], 'refund');
  await assertRecorded(exceptionId, 'refundException');
  world.clock.time += 3_600_001;
  const refused = await on('accept', late.exceptionId);
  assert.deepEqual([refused.exitCode, /until 2030/.test(refused.stderr)], [1, true]);
  assert.equal((await shown(late.exceptionId))['decision'], '');
});

test('an exception that was dealt with is resolved', async () => {
  const { exceptionId } = await addLateDeposit(world, shop);
  const refused = await on('resolve', exceptionId);
  assert.deepEqual([refused.exitCode, /decide until 2030/.test(refused.stderr)], [1, true]);
  world.clock.time += 3_600_001;
  assert.equal((await on('resolve', exceptionId)).stdout, `${exceptionId} is resolved\n`);
  assert.equal((await shown(exceptionId))['status'], 'resolved');
  await assertRecorded(exceptionId, 'resolveException');
});

test('an exception is visible only to its own merchant', async () => {
  const { exceptionId } = await addLateDeposit(world, shop);
  const other = await world.addMerchant();
  for (const verb of ['show', 'accept', 'refund', 'resolve']) {
    const result = await on(verb, exceptionId, other);
    assert.deepEqual([result.exitCode, result.stdout], [1, ''], verb);
    assert.match(result.stderr, new RegExp(exceptionId));
  }
  assert.deepEqual(
    await on('show', exceptionId, 'mer_none'),
    failure(1, 'there is no merchant mer_none: florin merchant list shows them'),
  );
  const { status, decision } = await shown(exceptionId);
  assert.deepEqual([status, decision], ['open', '']);
  assert.equal((await run('exception', 'accept', '--merchant', merchantId)).exitCode, 2);
});
