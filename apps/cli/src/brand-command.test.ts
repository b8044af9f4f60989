import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createMerchant, systemClock, systemRandom } from '@florin/server/operator';
import { keys, type TestDatabase, testDatabase } from '@florin/server/testing';
import { type CliResult, runCli } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-brand-test-'));
const configFile = join(folder, 'florin.json');
let database: TestDatabase;
let merchantId: string;

before(async () => {
  database = await testDatabase();
  const address = `0x${'11'.repeat(20)}`;
  const config = {
    environment: 'local',
    origin: 'http://127.0.0.1:4000',
    serviceDomain: 'localhost',
    databaseUrl: database.url,
    chains: [
      {
        name: 'ethereum',
        chainId: '31337',
        rpcUrls: ['http://127.0.0.1:1'],
        gateway: address,
        vault: address,
        startBlock: '0',
        finality: { tag: 'finalized', depth: 0 },
        tokens: [{ tokenId: 'ethereum::usdc', address, name: 'USDC', symbol: 'USDC', decimals: 6 }],
      },
    ],
    signer: { orderKey: keys.orderSigner, settlerKey: keys.settler },
    masterKey: '00'.repeat(32),
  };
  writeFileSync(configFile, JSON.stringify(config));
  const outside = { clock: systemClock, random: systemRandom };
  const merchant = await database.db.transaction((transaction) =>
    createMerchant(transaction, outside, { merchantName: 'Tea House' }),
  );
  merchantId = merchant.merchantId;
});
after(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

function brand(...more: readonly string[]): Promise<CliResult> {
  return runCli(['merchant', 'brand', '--merchant', merchantId, ...more], {
    environment: { FLORIN_CONFIG: configFile },
    clock: systemClock,
    random: systemRandom,
    tell: () => {},
  });
}

const shown = (color: string): CliResult => ({
  exitCode: 0,
  stdout: `logo: none\ncolor: ${color}\n`,
  stderr: '',
});

test('a colour is set, kept while it is not named, and removed', async () => {
  const results = [
    await brand(),
    await brand('--color', '#FF8800'),
    await brand(),
    await brand('--logo', 'none'),
    await brand('--color', 'none'),
  ];
  const colors = ["the page's own", '#ff8800', '#ff8800', '#ff8800', "the page's own"];
  assert.deepEqual(results, colors.map(shown));
});

test('an invalid colour, and a logo that cannot be downloaded, change nothing', async () => {
  await brand('--color', '#0b6b4d');
  const wrong = await brand('--color', 'red');
  assert.deepEqual(
    [wrong.exitCode, wrong.stderr.split('\n', 1)[0]],
    [2, '--color is red: write # and six hexadecimal digits, or none'],
  );
  assert.deepEqual(await brand('--color', '#ffffff', '--logo', 'https://shop.example/logo.png'), {
    exitCode: 1,
    stdout: '',
    stderr: 'Invalid field: logoUrl cannot be used: this installation hosts no images\n',
  });
  assert.deepEqual(await brand(), shown('#0b6b4d'));
});
