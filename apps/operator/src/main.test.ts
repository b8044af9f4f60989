import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createWebhook, findWebhook } from '@florin/outbox';
import { statement } from '@florin/pg';
import {
  chainsOf,
  createLink,
  outboxContext,
  secretBox,
  systemClock,
  systemRandom,
} from '@florin/server/operator';
import { deepOnly } from '@florin/server/testing';
import { CliWorld, failure, origin } from './cli-world.fixture.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

test('a merchant that was created is listed', async () => {
  const merchantId = await world.newMerchant();
  const result = await world.run('merchant list');
  assert.match(result.stdout, new RegExp(`^MERCHANT +CREATED +NAME\n(.*\n)*${merchantId} .* Tea House\n`));
});

test('migrating a current schema changes nothing', async () => {
  assert.deepEqual(await world.run('migrate'), {
    exitCode: 0,
    stdout: 'the schema is current\n',
    stderr: '',
  });
});

const disabledLinks = statement({
  name: 'cli_test_links',
  parameters: { accountId: 'text' },
  columns: { status: 'text', disabled_reason: 'text', event_type: 'text' },
  text: `select l.status, l.disabled_reason, e.event_type from links l
   join events e on e.object_id = l.link_id where l.account_id = :accountId order by e.sequence`,
});

// proves W4.21
const actsOn = statement({
  name: 'main_test_acts_on',
  parameters: { subject: 'text' },
  columns: { action: 'text', actor_kind: 'text' },
  text: 'select action, actor_kind from audit_entries where subject = :subject order by entry_id',
});

test('removing an account disables its links, each with an event and an entry of the audit log', async () => {
  const merchantId = await world.newMerchant();
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const options = ['--merchant', merchantId, '--name', 'Till', '--address', address];
  const account = await world.json('account create --currencies ethereum::usdc', options);
  const accountId = String(account['accountId']);
  assert.deepEqual(await world.json('account list', ['--merchant', merchantId]), [account]);
  const deps = {
    clock: systemClock,
    random: systemRandom,
    chains: chainsOf([world.life.chain]),
    origin,
    isPayable: () => true,
  };
  await world.database.db.transaction((transaction) =>
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
  assert.deepEqual(await world.run('account remove', removal), {
    exitCode: 0,
    stdout: `removed account ${accountId} and disabled 1 payment link\n`,
    stderr: '',
  });
  const row = { status: 'disabled', disabled_reason: 'account_removed' };
  assert.deepEqual(await world.database.db.query(disabledLinks, { accountId }), [
    { ...row, event_type: 'payment.link.created' },
    { ...row, event_type: 'payment.link.disabled' },
  ]);
  assert.deepEqual(await world.database.db.query(actsOn, { subject: accountId }), [
    { action: 'addWalletAccount', actor_kind: 'operator' },
    { action: 'removeAccount', actor_kind: 'operator' },
  ]);
  assert.deepEqual(await world.run('account remove', removal), failure(1, `Account removed: ${accountId}`));
});

test('an account’s settlement mode is set by hand, and only to a valid mode', async () => {
  const merchantId = await world.newMerchant();
  const options = ['--merchant', merchantId, '--name', 'Till', '--currencies', 'ethereum::usdc'];
  const address = ['--address', '0x52908400098527886E0F7030069857D2E4169EE7'];
  const created = await world.json('account create --settlement-mode direct', [...options, ...address]);
  assert.equal(created['settlementMode'], 'direct');
  const accountId = String(created['accountId']);
  const update = (mode: string) =>
    world.run(`account update --settlement-mode ${mode}`, ['--merchant', merchantId, '--account', accountId]);
  assert.deepEqual(await update('escrow'), {
    exitCode: 0,
    stdout: `account ${accountId} is settled by escrow from the next order on\n`,
    stderr: '',
  });
  assert.deepEqual(await update('default'), {
    exitCode: 0,
    stdout: `account ${accountId} is settled by the configured mode\n`,
    stderr: '',
  });
  assert.equal((await update('instant')).exitCode, 2);
  const [listed] = (await world.json('account list', ['--merchant', merchantId])) as unknown as object[];
  assert.equal((listed as { settlementMode?: string } | undefined)?.settlementMode, '');
});

test('a payer is erased by hand, and the audit log does not name them', async () => {
  assert.deepEqual(await world.run('payer erase --email Payer@example.com'), {
    exitCode: 0,
    stdout:
      'erased from 0 sessions. Backups and what webhooks delivered still have it, and no chain has it.\n',
    stderr: '',
  });
  assert.deepEqual(await world.database.db.query(actsOn, { subject: '' }), [
    { action: 'erasePayer', actor_kind: 'operator' },
  ]);
});

test('resealing seals every webhook with the newest master key, and a second run finds none', async () => {
  const merchantId = await world.newMerchant();
  const [older, newer] = ['00'.repeat(32), '11'.repeat(32)];
  const sealedBy = (masterKey: string) =>
    outboxContext({
      clock: systemClock,
      random: systemRandom,
      secrets: secretBox([Buffer.from(masterKey, 'hex')]),
    });
  const fields = {
    webhookName: 'Till',
    webhookUrl: 'https://127.0.0.1/hook',
    subscribedEvents: ['session.*'],
  };
  const { webhookId, key } = await world.database.db.transaction((transaction) =>
    createWebhook(transaction, sealedBy(older), { ownerId: merchantId, fields }),
  );
  const config = world.writeConfig('rotated.json', { masterKey: `${newer},${older}` });
  assert.deepEqual(await world.json('webhook reseal', [], config), { resealed: 1 });
  assert.deepEqual(await world.json('webhook reseal', [], config), { resealed: 0 });
  const shown = await findWebhook(world.database.db, sealedBy(newer), { ownerId: merchantId, webhookId });
  assert.equal(shown.key, key);
});

test('a command line that is not understood exits with 2 and says where its options are', async () => {
  const hint = (name: string) => `npm run florin -- ${name} --help shows its options`;
  const cases: readonly [commandLine: string, stderr: string][] = [
    ['merchant create', `required option '--name <name>' not specified\n${hint('merchant create')}`],
    ['merchant create --name=', `--name is missing\n${hint('merchant create')}`],
    ['merchant list --all', `unknown option '--all'\n${hint('merchant list')}`],
    ['merchant list --jsn', `unknown option '--jsn'\n(Did you mean --json?)\n${hint('merchant list')}`],
    ['key revoke', `required option '--key <id>' not specified\n${hint('key revoke')}`],
    ['restore', `--from is missing\n${hint('restore')}`],
    ['merchant destroy', "unknown command 'destroy'\nnpm run florin -- merchant has: create, list, brand"],
    [
      'mrchant list',
      "unknown command 'mrchant'\n(Did you mean merchant?)\nnpm run florin -- help lists all commands",
    ],
  ];
  for (const [commandLine, stderr] of cases) {
    assert.deepEqual(await world.run(commandLine), failure(2, stderr));
  }
  const kinds = await world.run('key create --merchant x --kind public');
  assert.equal(kinds.exitCode, 2);
  assert.match(kinds.stderr, /argument 'public' is invalid\. Allowed choices are secret, restricted\.\n/);
  const past = await world.run('key create --merchant x --kind secret --expires 2020-01-01T00:00:00Z');
  assert.match(past.stderr, /^--expires is 2020-01-01T00:00:00Z: give a time in the future\n/);
  const group = await world.run('merchant');
  assert.deepEqual([group.exitCode, group.stdout], [2, '']);
  assert.match(group.stderr, /^Usage: npm run florin -- merchant .*\n.*^Commands:$/ms);
});

test('without a command the program shows its usage and exits with 2', deepOnly, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^Usage: npm run florin -- .*\n.*^Commands:$/ms);
});

test('help lists each command, and each command lists its options', async () => {
  const all = await world.run('help');
  assert.equal(all.exitCode, 0);
  assert.match(all.stdout, /^ {2}merchant +merchants: create, list, brand$/m);
  assert.doesNotMatch(all.stdout, /^ {2}[a-z]+ +: /m, 'each group says what it is about');
  for (const line of ['key help revoke', 'key revoke --help']) {
    const { exitCode, stdout, stderr } = await world.run(line);
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(
      stdout,
      /^Usage: .* key revoke --key <id> \[options\]\n\nrevokes .*--key <id> +the id of the key$/ms,
    );
  }
});

test('a refusal is one sentence and exits with 1', async () => {
  const merchantId = await world.newMerchant();
  assert.deepEqual(
    await world.run('account list --merchant mer_none'),
    failure(1, 'there is no merchant mer_none: florin merchant list shows them'),
  );
  const options = ['--merchant', merchantId, '--name', 'Till', '--currencies', 'ethereum::usdc'];
  assert.deepEqual(
    await world.run('account create --address 0x12', options),
    failure(1, 'Invalid field: accountAddress must be an EVM address with its checksum'),
  );
  assert.deepEqual(
    await world.run('merchant list', [], join(world.folder, 'none.json')).then(({ exitCode }) => exitCode),
    1,
  );
});

test('a shell completes commands and options', deepOnly, () => {
  const complete = (...args: string[]) =>
    spawnSync(process.execPath, [...flags, main, 'complete', ...args], { encoding: 'utf8' }).stdout;
  assert.match(complete('--', 'mer'), /^merchant\t/);
  assert.match(complete('--', 'key', 'create', '--ki'), /^--kind\t/);
  assert.match(complete('bash'), /complete .*florin/);
});

test('the program passes its exit code and streams on', () => {
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
