import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openTestApi } from './api.fixture.ts';

/** The package as it is published: packed with the SDK, installed into a clean folder, and used there. */

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'florin-cli-package-'));
const [shopFolder, toolFolder] = [join(folder, 'shop'), join(folder, 'tools')];
const tools = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5', '@modelcontextprotocol/client@2.4.0'];
const npmFlags = ['--ignore-scripts', '--no-audit', '--no-fund'];
/** Bytes of everything that is installed: the package with its MCP server, the SDK, and two libraries. */
const maxInstalledBytes = 2_500_000;
/** Files of the package itself, compressed; nine tenths are the MCP server. */
const maxPackedBytes = 300_000;
/** What a start may take, as a multiple of the start of Node.js itself: 0.4 s where that takes 0.1 s. One file takes half of it. */
const maxStartRatio = 4;
let tarball: string;
let packedBytes: number;

before(() => {
  // The checkout runs no scripts by themselves, so packing alone would not build.
  execFileSync('npm', ['run', 'build', '--workspace', '@florin/cli'], { cwd: checkout, stdio: 'ignore' });
  const workspaces = ['--workspace', '@florin/sdk', '--workspace', '@florin/cli'];
  const pack = ['pack', ...workspaces, '--pack-destination', folder, '--json'];
  const printed = execFileSync('npm', pack, { cwd: checkout, encoding: 'utf8' });
  const packed = JSON.parse(printed.slice(printed.indexOf('[\n'))) as { filename: string; size: number }[];
  const [sdk, cli] = packed;
  tarball = join(folder, cli?.filename ?? '');
  packedBytes = cli?.size ?? 0;
  install(shopFolder, join(folder, sdk?.filename ?? ''), tarball);
  install(toolFolder, ...tools);
});
after(() => rmSync(folder, { recursive: true }));

function install(project: string, ...packages: readonly string[]): void {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const args = ['install', ...npmFlags, ...packages];
  execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
}

const main = join(shopFolder, 'node_modules/@florin/cli/dist/main.js');

async function tool(name: string, ...args: readonly string[]): Promise<string> {
  const path = join(toolFolder, 'node_modules/.bin', name);
  return (await run(process.execPath, [path, ...args], { cwd: toolFolder })).stdout;
}

test('publint and are-the-types-wrong find nothing, and the package is small', async () => {
  assert.match(await tool('publint', 'run', '--strict', tarball), /All good!/);
  await tool('attw', '--profile', 'esm-only', tarball);
  const path = join(shopFolder, 'node_modules/@florin/cli/package.json');
  const { dependencies } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies: object };
  assert.deepEqual(Object.keys(dependencies), ['@bomb.sh/tab', '@florin/sdk', 'commander']);
  assert.ok(packedBytes > 0 && packedBytes < maxPackedBytes, `${packedBytes} bytes`);
  const { stdout } = await run('du', ['-sb', 'node_modules'], { cwd: shopFolder });
  const bytes = Number.parseInt(stdout, 10);
  assert.ok(bytes < maxInstalledBytes, `${bytes} bytes`);
});

test('npx florin runs in an empty project: the version, and sessions of an API as JSON', async () => {
  const times = { createAt: '2030-01-31 00:00:00', paidToken: 'base::usdc' };
  const session = { sessionId: 'sess_1', status: 'paid', amount: 4_500_000, metadata: {}, ...times };
  await using api = await openTestApi(() => ({ sessions: [{ session }], hasMore: false, nextCursor: '' }));
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const env = { ...process.env, PATH, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const npx = async (...args: readonly string[]) =>
    (await run('npx', ['--no-install', 'florin', ...args], { cwd: shopFolder, env })).stdout;
  assert.equal(await npx('--version'), '0.1.0\n');
  assert.deepEqual(JSON.parse(await npx('sessions', 'list', '--json')), [{ session }]);
  assert.equal(api.seen.at(-1)?.path, '/payment/v1/session/list/all/1/20');
});

/** The stock client, as an assistant starts a server that its configuration names. Prints the names of its tools. */
const assistant = `
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [cwd, ...args] = process.argv.slice(2);
const env = { PATH: process.env.PATH, FLORIN_URL: process.env.FLORIN_URL, FLORIN_KEY: process.env.FLORIN_KEY ?? '' };
const transport = new StdioClientTransport({ command: 'npx', args: ['--no-install', 'florin', ...args], cwd, env });
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join(' '));
await client.close();
`;

test('an assistant’s configuration names npx florin mcp: the stock client gets the tools that the key may use', async () => {
  writeFileSync(join(toolFolder, 'assistant.mjs'), assistant);
  await using api = await openTestApi(({ key }, response) => {
    if (key === 'sk_live_wrong') return response.writeHead(401).end();
    const tools = [{ name: 'merchant_read_session' }];
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }));
  });
  const ask = async (key: string) => {
    const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
    const env = { ...process.env, PATH, FLORIN_URL: api.url, FLORIN_KEY: key };
    const options = { cwd: toolFolder, env };
    return (await run(process.execPath, ['assistant.mjs', shopFolder, 'mcp'], options)).stdout.trim();
  };
  const payers = 'get_link create_session prepare submit status receipt';
  assert.deepEqual([await ask(''), await ask('sk_live_right')], [payers, `${payers} merchant_read_session`]);
  await assert.rejects(ask('sk_live_wrong'), /does not know the API key/);
});

/** The fastest of several starts: the others shared the machine. */
function startMs(args: readonly string[]): number {
  const times = Array.from({ length: 7 }, () => {
    const begin = performance.now();
    assert.equal(spawnSync(process.execPath, args).status, 0);
    return performance.now() - begin;
  });
  return Math.min(...times);
}

test('it starts within a few times the start of Node.js itself', () => {
  const [bare, own] = [startMs(['-e', '0']), startMs([main, '--version'])];
  const figures = `${own.toFixed(0)} ms, and Node.js alone ${bare.toFixed(0)} ms`;
  assert.ok(own < bare * maxStartRatio, figures);
});
