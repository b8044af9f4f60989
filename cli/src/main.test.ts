import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { permissionPresets } from '@florin/protocol/permission.ts';
import type { Chain } from '@florin/server/src/chains/chain.ts';
import { chainsOf } from '@florin/server/src/chains/chain.ts';
import { statement } from '@florin/server/src/db/statement.ts';
import { createLink } from '@florin/server/src/links/link.ts';
import { apiKeyLookup, authenticate } from '@florin/server/src/merchants/api-key.ts';
import { systemClock } from '@florin/server/src/outside/clock.ts';
import { decryptKeystore } from '@florin/server/src/outside/keystore.ts';
import { systemRandom } from '@florin/server/src/outside/random.ts';
import { privateKeyToAddress } from 'viem/accounts';
import { type TestDatabase, testDatabase } from '../../server/test/harness/database.ts';
import { addresses, keys, LifeChain } from '../../server/test/life/life-chain.ts';
import { type CliResult, runCli } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-cli-test-'));
const configFile = join(folder, 'florin.json');
const origin = 'http://127.0.0.1:4000';
let database: TestDatabase;
let life: LifeChain;

before(async () => {
  database = await testDatabase();
  life = await LifeChain.start({
    name: 'ethereum',
    chainId: 31_337,
    tokens: [{ symbol: 'usdc', decimals: 6 }],
  });
  writeConfig(configFile);
});
after(async () => {
  await life.anvil.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

function writeConfig(path: string, change: object = {}): void {
  const { tokens, startBlock, chainId, ...chain }: Chain = life.chain;
  const config = {
    environment: 'local',
    origin,
    serviceDomain: 'localhost',
    databaseUrl: database.url,
    chains: [
      {
        ...chain,
        chainId: String(chainId),
        startBlock: String(startBlock),
        tokens: tokens.map(({ tokenId, address, name, symbol, decimals }) => ({
          tokenId,
          address,
          name,
          symbol,
          decimals,
        })),
      },
    ],
    signer: { orderKey: keys.orderSigner, settlerKey: keys.settler },
    masterKey: '00'.repeat(32),
    ...change,
  };
  writeFileSync(path, JSON.stringify(config));
}

function run(commandLine: string, more: readonly string[] = [], config = configFile): Promise<CliResult> {
  return runCli([...commandLine.split(' '), ...more], {
    environment: { FLORIN_CONFIG: config },
    clock: systemClock,
    random: systemRandom,
    tell: () => {},
  });
}

/** Runs a command that must succeed and gives its JSON. */
async function json(commandLine: string, more: readonly string[] = []): Promise<Record<string, unknown>> {
  const result = await run(`${commandLine} --json`, more);
  assert.deepEqual({ ...result, stdout: '' }, { exitCode: 0, stdout: '', stderr: '' });
  return JSON.parse(result.stdout) as Record<string, unknown>;
}

async function newMerchant(): Promise<string> {
  const { merchantId } = await json('merchant create', ['--name', 'Tea House']);
  return String(merchantId);
}

function failure(exitCode: 1 | 2, stderr: string): CliResult {
  return { exitCode, stdout: '', stderr: `${stderr}\n` };
}

test('a merchant that was created is listed', async () => {
  const merchantId = await newMerchant();
  const result = await run('merchant list');
  assert.match(result.stdout, new RegExp(`^MERCHANT +CREATED +NAME\n(.*\n)*${merchantId} .* Tea House\n`));
});

test('migrating a current schema changes nothing', async () => {
  assert.deepEqual(await run('migrate'), { exitCode: 0, stdout: 'the schema is current\n', stderr: '' });
});

test('a key that was created works until it is revoked, and no list shows it', async () => {
  const merchantId = await newMerchant();
  const { keyId, key } = await json('key create --kind restricted --preset agent', [
    '--merchant',
    merchantId,
  ]);
  const lookup = apiKeyLookup(database.db);
  const identity = await authenticate(lookup, `Bearer ${String(key)}`, new Date());
  assert.deepEqual(
    [identity.merchantId, [...identity.permissions]],
    [merchantId, [...permissionPresets.agent]],
  );

  const list = await run('key list', ['--merchant', merchantId]);
  assert.match(
    list.stdout,
    new RegExp(
      `${String(keyId)} +restricted +…${String(key).slice(-4)} +active +never +never +products:read`,
    ),
  );
  assert.equal(list.stdout.includes(String(key)), false);

  await json('key revoke', ['--key', String(keyId)]);
  await assert.rejects(authenticate(lookup, `Bearer ${String(key)}`, new Date()), /Refusal/);
  assert.match((await run('key list', ['--merchant', merchantId])).stdout, / revoked /);
});

test('a key holds the limits that it was created with', async () => {
  const merchantId = await newMerchant();
  const expires = '2099-01-31T00:00:00Z';
  const { keyId } = await json(
    `key create --kind restricted --preset storefront --merchant ${merchantId} --expires ${expires}`,
    [
      ...['--origin', 'https://shop.example.com', '--origin', 'http://localhost:3000'],
      ...['--ip', '203.0.113.0/24', '--ip', '2001:db8::1'],
      ...['--max-session-amount', '5000000', '--max-day-amount', '100000000'],
    ],
  );
  const [listed] = (await json('key list', ['--merchant', merchantId])) as unknown as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    { ...listed, createdAt: '', last4: '' },
    {
      keyId,
      kind: 'restricted',
      last4: '',
      permissions: [...permissionPresets.storefront],
      expiresAt: '2099-01-31T00:00:00.000Z',
      ipAllowList: ['203.0.113.0/24', '2001:db8::1'],
      origins: ['https://shop.example.com', 'http://localhost:3000'],
      maxSessionAmount: '5000000',
      maxDayAmount: '100000000',
      createdAt: '',
    },
  );
  assert.match(
    (await run('key list', ['--merchant', merchantId])).stdout,
    / ip 203\.0\.113\.0\/24, ip 2001:db8::1, origin https:\/\/shop\.example\.com, origin .*, session 5000000, day 100000000\n$/,
  );

  const created = await json(
    `key create --kind restricted --merchant ${merchantId} --permission events:read --permission reports:read`,
  );
  const keys = (await json('key list', ['--merchant', merchantId])) as unknown as Record<string, unknown>[];
  assert.deepEqual(keys.find((key) => key['keyId'] === created['keyId'])?.['permissions'], [
    'events:read',
    'reports:read',
  ]);
});

test('a key whose limits make no sense is not created', async () => {
  const merchantId = await newMerchant();
  const outcome = async (typed: string) => {
    const { exitCode, stderr } = await run(`key create --merchant ${merchantId} ${typed}`);
    return [exitCode, stderr.split('\n', 1)[0]];
  };
  assert.deepEqual(await outcome('--kind restricted --preset storefront'), [
    1,
    'Invalid field: origins must have at least one entry for the preset storefront',
  ]);
  assert.deepEqual(await outcome('--kind secret --origin https://shop.example.com'), [
    1,
    'Invalid field: origins must be empty for a secret key: it is for servers',
  ]);
  assert.deepEqual(await outcome('--kind restricted --ip localhost'), [
    1,
    'Invalid field: ipAllowList[0] must be an IP address or CIDR block',
  ]);
  assert.deepEqual(await outcome('--kind restricted --max-day-amount 1.5'), [
    2,
    '--max-day-amount is 1.5: give Micro-USD in digits, 1000000 for one US dollar',
  ]);
  assert.deepEqual(await outcome('--kind restricted --preset agent --permission events:read'), [
    2,
    '--preset and --permission exclude each other: list every permission, or name a preset',
  ]);
  const [exitCode, message] = await outcome('--kind restricted --permission everything');
  assert.deepEqual(
    [exitCode, String(message).slice(0, 60)],
    [2, '--permission is everything: the permissions are products:rea'],
  );
  assert.deepEqual(await json('key list', ['--merchant', merchantId]), []);
});

const disabledLinks = statement(
  'cli_test_links',
  ['text'],
  { status: 'text', disabled_reason: 'text', event_type: 'text' },
  `select l.status, l.disabled_reason, e.event_type from links l
   join events e on e.object_id = l.link_id where l.account_id = $1 order by e.sequence`,
);

test('removing an account disables its links, each with an event', async () => {
  const merchantId = await newMerchant();
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const options = ['--merchant', merchantId, '--name', 'Till', '--address', address];
  const account = await json('account create --currencies ethereum::usdc', options);
  const accountId = String(account['accountId']);
  assert.deepEqual(await json('account list', ['--merchant', merchantId]), [account]);
  const deps = {
    clock: systemClock,
    random: systemRandom,
    chains: chainsOf([life.chain]),
    origin,
    isPayable: () => true,
  };
  await database.db.transaction((transaction) =>
    createLink(transaction, deps, {
      merchantId,
      body: {
        linkType: 'custom',
        linkName: 'Tip',
        accountId,
        settlementToken: 'ethereum::usdc',
        feeModel: 1,
        lineItems: [{ itemType: 'user_priced' }],
      },
    }),
  );

  const removal = ['--merchant', merchantId, '--account', accountId];
  assert.deepEqual(await run('account remove', removal), {
    exitCode: 0,
    stdout: `removed account ${accountId} and disabled 1 payment link\n`,
    stderr: '',
  });
  const row = { status: 'disabled', disabled_reason: 'account_removed' };
  assert.deepEqual(await database.db.query(disabledLinks, [accountId]), [
    { ...row, event_type: 'payment.link.created' },
    { ...row, event_type: 'payment.link.disabled' },
  ]);
  assert.deepEqual(await run('account remove', removal), failure(1, `Account removed: ${accountId}`));
});

test('a keystore holds a new or a given key, for its owner alone, and is never overwritten', async () => {
  const password = join(folder, 'password');
  writeFileSync(password, 'correct horse battery\n');
  const out = join(folder, 'settler.json');
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, `${keys.settler}\n`);
  const options = ['--out', out, '--password-file', password, '--key-file', keyFile];
  const created = await json('keystore create', options);
  assert.deepEqual(created, { file: out, address: addresses.settler });
  assert.equal(statSync(out).mode & 0o777, 0o600);
  const open = (path: string) =>
    decryptKeystore(JSON.parse(readFileSync(path, 'utf8')), 'correct horse battery');
  assert.equal(open(out), keys.settler);
  assert.match((await run('keystore create', options)).stderr, /settler\.json cannot be written: EEXIST/);

  const second = join(folder, 'new.json');
  const { address } = await json('keystore create', ['--out', second, '--password-file', password]);
  assert.equal(privateKeyToAddress(open(second)), address);
});

test('doctor is content with a deployment that is as configured', async () => {
  const result = await run('doctor');
  assert.equal(result.exitCode, 0, result.stdout);
  assert.match(result.stdout, /^ok {4}configuration: is complete$/m);
  assert.match(result.stdout, /^ok {4}row-level security: holds merchants apart$/m);
  assert.match(result.stdout, /^ok {4}ethereum::usdc vault: float 100000, caps 1000000 per order,/m);
  assert.match(result.stdout, /\nall is well\n$/);
});

test('doctor tells what is wrong and exits with 1', async () => {
  const wrong = join(folder, 'wrong.json');
  writeConfig(wrong, {
    databaseUrl: 'postgres://127.0.0.1:1/none',
    signer: { orderKey: `0x${'77'.repeat(32)}`, settlerKey: keys.settler },
  });
  const result = await run('doctor', [], wrong);
  assert.equal(result.exitCode, 1);
  const lines = result.stdout.split('\n').filter((line) => line.startsWith('WRONG'));
  const stranger = privateKeyToAddress(`0x${'77'.repeat(32)}`);
  const { gateway, vault } = life.chain;
  const advice = 'or configure the key that is';
  assert.deepEqual(lines, [
    'WRONG database: the database cannot be used: connect ECONNREFUSED 127.0.0.1:1',
    `WRONG ethereum contracts: chain ethereum: the gateway ${gateway} does not know the order signer ${stranger}: register it there (setOrderSigner), ${advice}`,
    `WRONG ethereum contracts: chain ethereum: the vault ${vault} does not know the order signer ${stranger}: register it there (setSigner), ${advice}`,
  ]);
});

const haltChain = statement(
  'cli_test_halt',
  ['int8'],
  {},
  `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason, updated_at)
   values ($1, 9, '0x09', now(), 8, '0x08', now(), 'a final block was replaced', now())`,
);

test('a halted chain is told by doctor, and resumed by hand', async () => {
  assert.deepEqual(
    await run('chain resume --chain ethereum'),
    failure(1, 'the service has not followed the chain ethereum yet'),
  );
  await database.db.query(haltChain, [BigInt(life.chain.chainId)]);
  assert.match((await run('doctor')).stdout, /^WRONG ethereum watcher: halted: a final block was replaced:/m);
  assert.deepEqual(await json('chain resume --chain ethereum'), {
    chain: 'ethereum',
    wasHalted: true,
    reason: 'a final block was replaced',
  });
  assert.equal((await run('doctor')).exitCode, 0);
  assert.equal((await run('chain resume --chain ethereum')).stdout, 'the chain ethereum was not halted\n');
});

const dropEvent = statement(
  'cli_test_drop',
  ['int8'],
  {},
  `insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, dropped_at)
   values ($1, 7, '0x07', 0, '0xaa', now(), 'gateway', 'Paid', '0xbb', '{}', now())`,
);

test('what a resumed chain has taken back is told until it comes back', async () => {
  assert.deepEqual(await run('chain dropped --chain ethereum'), {
    exitCode: 0,
    stdout: 'nothing final was taken back on ethereum\n',
    stderr: '',
  });
  await database.db.query(dropEvent, [BigInt(life.chain.chainId)]);
  const told = await run('chain dropped --chain ethereum');
  assert.equal(told.exitCode, 1);
  assert.match(told.stdout, /^MISSING +Paid +0xbb +unknown +7 +0xaa$/m);
  assert.match(told.stdout, /^1 of 1 dropped events of ethereum have not come back$/m);
  assert.match((await run('doctor')).stdout, /^WRONG ethereum watcher: final events are gone/m);
  await database.db.query(forgetDropped);
});

const forgetDropped = statement('cli_test_forget_dropped', [], {}, 'delete from dropped_events');

test('final blocks are read again from the block that was asked for, and later ones are not', async () => {
  assert.deepEqual(
    await run('chain backfill --chain ethereum --from 9'),
    failure(1, 'block 9 of ethereum is not final yet: blocks up to 8 are, later ones are read anyway'),
  );
  assert.deepEqual(
    await run('chain backfill --chain ethereum --from x'),
    failure(1, '--from is x: give the number of a block in digits'),
  );
  assert.deepEqual(await json('chain backfill --chain ethereum --from 3'), {
    chain: 'ethereum',
    from: '3',
    to: '8',
  });
  assert.match((await run('doctor')).stdout, /final up to 8, reading block 3 again$/m);
});

test('doctor tells of a chain that one provider alone tells of', async () => {
  assert.match(
    (await run('doctor')).stdout,
    /^ok {4}ethereum providers: one only, on whose word alone a block counts as final: .*; final is finalized$/m,
  );
});

test('a command line that is not understood exits with 2 and the usage', async () => {
  const usage = 'usage: npm run florin --';
  const cases: readonly [commandLine: string, stderr: string][] = [
    ['merchant create', `--name is missing\n${usage} merchant create --name NAME [--json]`],
    ['merchant list --all', `Unknown option '--all'\n${usage} merchant list [--json]`],
    ['key revoke', `--key is missing\n${usage} key revoke --key ID [--json]`],
  ];
  for (const [commandLine, stderr] of cases) {
    assert.deepEqual(await run(commandLine), failure(2, stderr));
  }
  const kinds = await run('key create --merchant x --kind public');
  assert.equal(kinds.exitCode, 2);
  assert.match(kinds.stderr, /^--kind is public: choose secret or restricted\n/);
  const past = await run('key create --merchant x --kind secret --expires 2020-01-01T00:00:00Z');
  assert.match(past.stderr, /^--expires is 2020-01-01T00:00:00Z: it must lie ahead\n/);
  const unknown = await run('merchant destroy');
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.stderr, /^there is no command merchant destroy\n\nusage: /);
});

test('a refusal is one sentence and exits with 1', async () => {
  const merchantId = await newMerchant();
  assert.deepEqual(
    await run('account list --merchant mer_none'),
    failure(1, 'there is no merchant mer_none: florin merchant list shows them'),
  );
  const options = ['--merchant', merchantId, '--name', 'Till', '--currencies', 'ethereum::usdc'];
  assert.deepEqual(
    await run('account create --address 0x12', options),
    failure(1, 'Invalid field: accountAddress must be an EVM address with its checksum'),
  );
  assert.deepEqual(
    await run('merchant list', [], join(folder, 'none.json')).then(({ exitCode }) => exitCode),
    1,
  );
});

test('the program passes its exit code and streams on', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
  const environment = { ...process.env, FLORIN_CONFIG: '' };
  const result = spawnSync(process.execPath, [...flags, main, 'merchant', 'list'], {
    env: environment,
    encoding: 'utf8',
  });
  assert.deepEqual(
    { status: result.status, stdout: result.stdout, stderr: result.stderr },
    {
      status: 1,
      stdout: '',
      stderr: 'FLORIN_CONFIG is not set: give the path of the configuration file\n',
    },
  );
});
