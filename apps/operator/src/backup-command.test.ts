import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CliResult } from '@florin/cli';
import type { ThrowAwayDatabase } from '@florin/pg';
import { systemClock, systemRandom } from '@florin/server/operator';
import { emptyDatabase, type TestDatabase, testDatabase } from '@florin/server/testing';
import { runCli } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-backup-test-'));
const archive = join(folder, 'florin.gz');
let source: TestDatabase;
let target: ThrowAwayDatabase;

before(async () => {
  [source, target] = [await testDatabase(), await emptyDatabase()];
});
after(async () => {
  await source.close();
  await target.close();
  rmSync(folder, { recursive: true });
});

function run(databaseUrl: string, ...args: string[]): Promise<CliResult> {
  const config = join(folder, 'config.json');
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const token = {
    tokenId: 'ethereum::usdc',
    address: address('3'),
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
  };
  const chain = {
    name: 'ethereum',
    chainId: '31337',
    rpcUrls: ['http://127.0.0.1:1'],
    gateway: address('1'),
    vault: address('2'),
    startBlock: '0',
    tokens: [token],
  };
  writeFileSync(
    config,
    JSON.stringify({
      environment: 'local',
      origin: 'http://127.0.0.1:4000',
      serviceDomain: 'localhost',
      databaseUrl,
      chains: [chain],
      signer: { orderKey: `0x${'11'.repeat(32)}`, settlerKey: `0x${'22'.repeat(32)}` },
      masterKey: '00'.repeat(32),
    }),
  );
  const outside = {
    environment: { FLORIN_CONFIG: config },
    clock: systemClock,
    random: systemRandom,
    folder: '/',
    tell: () => {},
  };
  return runCli(args, outside);
}

test('only its owner can read a backup, and no backup is overwritten', async () => {
  await run(source.url, 'merchant', 'create', '--name', 'Tea House');
  const written = await run(source.url, 'backup', '--out', archive);
  assert.equal(written.exitCode, 0, written.stderr);
  assert.match(written.stdout, /^wrote \d+ rows of \d+ tables to .*; sha256 of the archive [0-9a-f]{64}\n$/);
  assert.equal(statSync(archive).mode & 0o777, 0o600);
  const before = readFileSync(archive);
  const again = await run(source.url, 'backup', '--out', archive);
  assert.deepEqual(again, { exitCode: 1, stdout: '', stderr: `${archive} already exists\n` });
  assert.deepEqual(readFileSync(archive), before);
});

test('a backup is sealed for a recipient, and is told from one that can be restored', async () => {
  const file = join(folder, 'sealed.gz.age');
  const wrong = await run(source.url, 'backup', '--out', file, '--recipient', 'age1x');
  assert.match(wrong.stderr, /^--recipient: this is no recipient of age/);
  const recipient = 'age16yr3ldvhe3mu2etmf2v5nznfuxk70rgf38xvqz4eg42p4gskng9qjunmdd';
  const written = await run(source.url, 'backup', '--out', file, '--recipient', recipient);
  assert.equal(written.exitCode, 0, written.stderr);
  const text = readFileSync(file, 'latin1');
  assert.match(text, /^age-encryption\.org\/v1\n-> X25519 [\w+/]{43}\n[\w+/]{43}\n--- [\w+/]{43}\n/);
  const restored = await run(target.url, 'restore', '--from', file);
  assert.match(restored.stderr, /sealed\.gz\.age is encrypted: decrypt it where its secret key is/);
});

test('a backup is restored into an empty database, with a complete ledger and a report of what it lost', async () => {
  const early = await run(source.url, 'restore', 'report');
  assert.match(early.stderr, /never restored/);
  const restored = await run(target.url, 'restore', '--from', archive);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const merchants = await run(target.url, 'merchant', 'list');
  assert.match(merchants.stdout, / Tea House\n/);
  const ledger = await run(target.url, 'ledger', 'verify', '--anchor', '00'.repeat(32));
  assert.equal(ledger.exitCode, 0);
  assert.match(
    ledger.stdout,
    /^the ledger is complete and unchanged\nsealed entries: 0; not sealed yet: 0\nhead: 0{64}\n$/,
  );
  const report = await run(target.url, 'restore', 'report');
  assert.equal(report.exitCode, 0);
  assert.match(report.stdout, /unmatched payments: 0\n\nlost:\n/);
  const twice = await run(target.url, 'restore', '--from', archive);
  assert.match(twice.stderr, /the database is not empty/);
});

test('a restore makes the database when it is missing', async () => {
  const fresh = await emptyDatabase();
  await fresh.close();
  const restored = await run(fresh.url, 'restore', '--from', archive);
  assert.equal(restored.exitCode, 0, restored.stderr);
  const merchants = await run(fresh.url, 'merchant', 'list');
  assert.match(merchants.stdout, / Tea House\n/);
});

test('a restore from a missing backup says so and makes no database', async () => {
  const fresh = await emptyDatabase();
  await fresh.close();
  const missing = join(folder, 'missing.gz');
  const refused = await run(fresh.url, 'restore', '--from', missing);
  assert.deepEqual(refused, { exitCode: 1, stdout: '', stderr: `there is no backup ${missing}\n` });
  const list = await run(fresh.url, 'merchant', 'list');
  assert.match(list.stderr, /does not exist/);
});

test('a truncated archive is refused', async () => {
  const cut = join(folder, 'cut.gz');
  const whole = readFileSync(archive);
  writeFileSync(cut, whole.subarray(0, whole.length - 100));
  const other = await emptyDatabase();
  try {
    const refused = await run(other.url, 'restore', '--from', cut);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /cut\.gz is not a complete archive/);
  } finally {
    await other.close();
  }
});

test('an anchor that matches no seal means a bad ledger, and a malformed one is refused', async () => {
  const foreign = await run(source.url, 'ledger', 'verify', '--anchor', 'ab'.repeat(32));
  assert.equal(foreign.exitCode, 1);
  assert.match(foreign.stdout, /the ledger has problems:\n {2}no seal has the hash/);
  assert.equal((await run(source.url, 'ledger', 'verify', '--anchor', 'x')).exitCode, 2);
});

test('a chain that was not stopped is not released, and status shows that no check has run yet', async () => {
  const released = await run(source.url, 'reconcile', 'release', '--chain', 'ethereum');
  assert.equal(released.stdout, 'settlement on ethereum was not stopped\n');
  const status = await run(source.url, 'reconcile', 'status');
  assert.equal(status.exitCode, 1);
  assert.match(status.stdout, /ethereum: agreed at block -; settlement running/);
});
