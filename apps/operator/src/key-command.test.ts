import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { permissionPresets } from '@florin/protocol/permission.ts';
import { apiKeyLookup, authenticate } from '@florin/server/operator';
import { addresses, keys, quickenScrypt } from '@florin/server/testing';
import { decryptKeystore } from '@florin/signing';
import { privateKeyToAddress } from 'viem/accounts';
import { CliWorld } from './cli-world.fixture.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

// proves W5.10
test('a created key works until it is revoked, and no list shows it', async () => {
  const merchantId = await world.newMerchant();
  const { keyId, key } = await world.json('key create --kind restricted --preset agent', [
    '--merchant',
    merchantId,
  ]);
  const lookup = apiKeyLookup(world.database.db);
  const identity = await authenticate(lookup, `Bearer ${String(key)}`, new Date());
  assert.deepEqual(
    [identity.merchantId, [...identity.permissions]],
    [merchantId, [...permissionPresets.agent]],
  );

  const list = await world.run('key list', ['--merchant', merchantId]);
  assert.match(
    list.stdout,
    new RegExp(
      `${String(keyId)} +restricted +…${String(key).slice(-4)} +active +never +never +products:read`,
    ),
  );
  assert.equal(list.stdout.includes(String(key)), false);

  await world.json('key revoke', ['--key', String(keyId)]);
  await assert.rejects(authenticate(lookup, `Bearer ${String(key)}`, new Date()), /Refusal/);
  assert.match((await world.run('key list', ['--merchant', merchantId])).stdout, / revoked /);
});

test('a key has the limits that it was created with', async () => {
  const merchantId = await world.newMerchant();
  const expires = '2099-01-31T00:00:00Z';
  const { keyId } = await world.json(
    `key create --kind restricted --preset storefront --merchant ${merchantId} --expires ${expires}`,
    [
      ...['--origin', 'https://shop.example.com', '--origin', 'http://localhost:3000'],
      ...['--ip', '203.0.113.0/24', '--ip', '2001:db8::1'],
      ...['--max-session', '5', '--max-day', '100.50'],
    ],
  );
  const [listed] = (await world.json('key list', ['--merchant', merchantId])) as unknown as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    { ...listed, createdAt: '', last4: '' },
    {
      keyId,
      name: '',
      kind: 'restricted',
      last4: '',
      permissions: [...permissionPresets.storefront],
      expiresAt: '2099-01-31T00:00:00.000Z',
      ipAllowList: ['203.0.113.0/24', '2001:db8::1'],
      origins: ['https://shop.example.com', 'http://localhost:3000'],
      maxSessionAmount: '5000000',
      maxDayAmount: '100500000',
      createdAt: '',
      createdBy: '',
    },
  );
  assert.match(
    (await world.run('key list', ['--merchant', merchantId])).stdout,
    / ip 203\.0\.113\.0\/24, ip 2001:db8::1, origin https:\/\/shop\.example\.com, origin .*, session \$5\.00, day \$100\.50\n$/,
  );

  const created = await world.json(
    `key create --kind restricted --merchant ${merchantId} --permission events:read --permission reports:read`,
  );
  const told = await world.run(
    `key create --kind restricted --merchant ${merchantId} --permission events:read`,
  );
  assert.match(told.stdout, /^created key key_\S+ with events:read; store it now, .*:\nrk_live_\S+\n$/);
  const all = await world.run(`key create --kind secret --merchant ${merchantId}`);
  assert.match(all.stdout, /^created key key_\S+ with every permission; /);
  const keys = (await world.json('key list', ['--merchant', merchantId])) as unknown as Record<
    string,
    unknown
  >[];
  assert.deepEqual(keys.find((key) => key['keyId'] === created['keyId'])?.['permissions'], [
    'events:read',
    'reports:read',
  ]);
});

test('a key with contradictory limits, or restricted to nothing, is not created', async () => {
  const merchantId = await world.newMerchant();
  const outcome = async (typed: string) => {
    const { exitCode, stderr } = await world.run(`key create --merchant ${merchantId} ${typed}`);
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
  assert.deepEqual(await outcome('--kind restricted --preset agent --ip localhost'), [
    1,
    'Invalid field: ipAllowList[0] must be an IP address or CIDR block',
  ]);
  assert.deepEqual(await outcome('--kind restricted --preset agent --max-day 1.5000001'), [
    2,
    '--max-day is 1.5000001: give US dollars such as 4.50',
  ]);
  assert.deepEqual(await outcome('--kind restricted --preset agent --max-session 0'), [
    2,
    '--max-session is 0: give US dollars such as 4.50',
  ]);
  assert.deepEqual(await outcome('--kind restricted'), [
    2,
    '--kind is restricted without permissions: give --preset read_only, fulfilment, storefront, agent, or each --permission',
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
  assert.deepEqual(await world.json('key list', ['--merchant', merchantId]), []);
});

test('a keystore holds a new or a given key, only its owner can read it, and it is never overwritten', async (t) => {
  t.after(quickenScrypt());
  const password = join(world.folder, 'password');
  writeFileSync(password, 'correct horse battery\n');
  const out = join(world.folder, 'settler.json');
  const keyFile = join(world.folder, 'key');
  writeFileSync(keyFile, `${keys.settler}\n`);
  const options = ['--out', out, '--password-file', password, '--key-file', keyFile];
  const created = await world.json('keystore create', options);
  assert.deepEqual(created, { file: out, address: addresses.settler });
  assert.equal(statSync(out).mode & 0o777, 0o600);
  const open = (path: string) =>
    decryptKeystore(JSON.parse(readFileSync(path, 'utf8')), 'correct horse battery');
  assert.equal(open(out), keys.settler);
  assert.match(
    (await world.run('keystore create', options)).stderr,
    /settler\.json cannot be written: EEXIST/,
  );

  const second = join(world.folder, 'new.json');
  const { address } = await world.json('keystore create', ['--out', second, '--password-file', password]);
  assert.equal(privateKeyToAddress(open(second)), address);
});
