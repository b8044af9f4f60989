import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CliResult } from '@florin/cli';
import { createMerchant, systemClock, systemRandom } from '@florin/server/operator';
import { keys, type TestDatabase, testDatabase } from '@florin/server/testing';
import { runCli } from './cli.ts';

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
    folder: '/',
    tell: () => {},
  });
}

/** What the command prints: the named fields, and none for every other one. */
function shown(values: Readonly<Record<string, string>>): CliResult {
  const names = ['logo', 'dark-logo', 'icon', 'color', 'background', 'corner-radius', 'font', 'legal-name'];
  const links = ['support-url', 'terms-url', 'refund-url', 'privacy-url'];
  const lines = [...names, ...links].map((name) => `${name}: ${values[name] ?? 'none'}\n`);
  return { exitCode: 0, stdout: lines.join(''), stderr: '' };
}

test('a field is set, kept while it is not named, and removed', async () => {
  const results = [
    await brand(),
    await brand('--color', '#FF8800', '--corner-radius', '4'),
    await brand('--font', 'serif', '--terms-url', 'https://shop.example/terms'),
    await brand('--logo', 'none', '--legal-name', 'Tea House GmbH'),
    await brand('--color', 'none', '--corner-radius', 'none', '--font', 'none', '--terms-url', 'none'),
    await brand('--legal-name', 'none'),
  ];
  const look = { color: '#ff8800', 'corner-radius': '4' };
  const more = { ...look, font: 'serif', 'terms-url': 'https://shop.example/terms' };
  const named = { 'legal-name': 'Tea House GmbH' };
  assert.deepEqual(results, [{}, look, more, { ...more, ...named }, named, {}].map(shown));
});

test('an invalid value, and a logo that cannot be downloaded, change nothing', async () => {
  await brand('--color', '#0b6b4d');
  for (const [option, value, words] of [
    ['color', 'red', 'of buttons: # and six hexadecimal digits, or none'],
    ['corner-radius', '25', '0 to 24, or none'],
    ['font', 'comic', 'system, humanist, geometric, rounded, serif, or none'],
    ['support-url', 'http://shop.example', 'where payers get help, or none'],
  ]) {
    const wrong = await brand(`--${option}`, value ?? '');
    assert.deepEqual(
      [wrong.exitCode, wrong.stderr.split('\n', 1)[0]],
      [2, `--${option} is ${value}: write ${words}`],
    );
  }
  assert.deepEqual(await brand('--color', '#ffffff', '--logo', 'https://shop.example/logo.png'), {
    exitCode: 1,
    stdout: '',
    stderr: 'Invalid field: logoUrl cannot be used: this installation hosts no images\n',
  });
  assert.deepEqual(await brand(), shown({ color: '#0b6b4d' }));
});
