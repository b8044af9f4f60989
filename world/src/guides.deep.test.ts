import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { copyCheckout, plainEnvironment } from '@florin/server/testing';
import { findFreePort } from './port.ts';

/**
 * Runs the commands of the guides as printed, in a copy of the checkout next to a world that `npm start` began there.
 */

/** Commands that wait for something, such as a paid order, would wait for ever where it does not come. */
const commandsLimitMs = 600_000;

/** Has the checkout, and beside it the folders of shops. */
let parent: string;
let checkout: string;
let world: ChildProcess;

before(async () => {
  parent = mkdtempSync(join(tmpdir(), 'florin-guides-'));
  checkout = copyCheckout(join(parent, 'florin'));
  const port = String(await findFreePort());
  world = spawn('npm', ['start'], {
    cwd: checkout,
    env: { ...plainEnvironment(), FLORIN_PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await isReady(world);
});
after(async () => {
  // Its output closes once all its processes have ended.
  if (world.stdout?.closed === false) {
    const ended = once(world, 'close');
    world.kill();
    await ended;
  }
  rmSync(parent, { recursive: true });
});

async function isReady({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('the output of the world is not read');
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    if (line.startsWith('Florin is ready')) {
      stdout.resume();
      return;
    }
  }
  throw new Error(`npm start has ended:\n${lines.join('\n')}`);
}

interface Block {
  readonly language: string;
  /** The name after the language; empty for blocks without one. */
  readonly name: string;
  readonly text: string;
}

/** The code blocks of a document, in order. */
function blocksOf(document: string): Block[] {
  const text = readFileSync(join(checkout, document), 'utf8');
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)\n```$/gm)].map(
    ([, language = '', name = '', code = '']) => ({ language, name, text: code }),
  );
}

/** Saves the files of a document and runs its named commands in one shell. Returns the output of each. */
async function follow(
  document: string,
  { last, shop, ...options }: FollowOptions = {},
): Promise<Map<string, string>> {
  const blocks = blocksOf(document);
  const folder = shop === undefined ? checkout : join(parent, shop);
  mkdirSync(folder, { recursive: true });
  for (const { language, name, text } of blocks)
    if (language !== 'sh' && name.includes('.')) writeFileSync(join(folder, name), `${text}\n`);
  const commands = blocks.filter(({ language, name }) => language === 'sh' && name !== '');
  return runAll(last === undefined ? commands : [...commands, { language: 'sh', ...last }], options);
}

interface RunOptions {
  /** What the last command reads. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

interface FollowOptions extends RunOptions {
  /** The folder beside the checkout to which the commands of the document go; the checkout when absent. */
  readonly shop?: string;
  /** A command after those of the document, in the same shell. */
  readonly last?: Omit<Block, 'language'>;
}

async function runAll(
  commands: readonly Block[],
  { input = '', environment }: RunOptions = {},
): Promise<Map<string, string>> {
  const mark = '--- end of block ---';
  const script = commands.map(({ text }) => `${text}\nprintf '\\n%s\\n' '${mark}'`).join('\n');
  // Only the last command gets the input.
  const env = { ...plainEnvironment(), ...environment };
  // A group of its own, which ends with what the commands left running. Its output would stay open else.
  const shell = spawn('sh', ['-e', '-c', script], { cwd: checkout, env, detached: true });
  const endGroup = () => endProcessGroup(shell);
  shell.once('exit', endGroup);
  const limit = setTimeout(endGroup, commandsLimitMs);
  shell.stdin.end(input);
  let output = '';
  let errors = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = await once(shell, 'close');
  clearTimeout(limit);
  assert.equal(code, 0, `${output}\n${errors}`);
  const printed = output.split(`\n${mark}\n`);
  return new Map(commands.map(({ name }, index) => [name, (printed[index] ?? '').trim()]));
}

function endProcessGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const codeOf = (answer = '') => (JSON.parse(answer) as { code: number }).code;

test('“First payment in five minutes” asks the merchant API, and its demo pays', async () => {
  const [start, ask, demo] = blocksOf('docs/guide/first-payment.md').filter(
    ({ language }) => language === 'sh',
  );
  assert.ok(start?.text === 'npm start' && ask !== undefined && demo !== undefined);
  const printed = await runAll([
    { ...ask, name: 'ask' },
    { ...demo, name: 'demo' },
  ]);
  assert.equal(codeOf(printed.get('ask')), 0);
  assert.match(printed.get('demo') ?? '', /completed/);
});

test('“Take a payment of your own” of the README creates a session', async () => {
  const [create] = blocksOf('README.md').filter(({ text }) => text.includes('/session/checkout/create'));
  assert.ok(create !== undefined);
  const printed = await runAll([{ ...create, name: 'create' }]);
  assert.equal(codeOf(printed.get('create')), 0);
});

test('“Take a payment by API” creates, reads and cancels a session, and refunds a settled payment', async () => {
  const printed = await follow('docs/guide/take-a-payment.md');
  for (const name of ['create', 'read', 'cancel', 'refund', 'refunded', 'cancel-refund'])
    assert.equal(codeOf(printed.get(name)), 0, name);
  assert.match(printed.get('refund') ?? '', /"status":"requires_signature"/);
  assert.match(printed.get('send') ?? '', /^0x[0-9a-f]{64}\n0x[0-9a-f]{64}$/);
});

/** A port that is free on all addresses, where the shop of the guide listens: findFreePort keeps one of them to itself. */
async function findWholePort(): Promise<string> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(typeof address === 'object' && address !== null);
  return String(address.port);
}

test('“Take payments with the SDK” packs the packages, sells, refunds, and tests the shop', async () => {
  const port = await findWholePort();
  const environment = { PORT: port };
  const printed = await follow('docs/guide/sdk.md', { shop: 'express-shop', environment });
  assert.match(printed.get('paid') ?? '', /: paid$/);
  assert.match(printed.get('refund') ?? '', /txHash: '0x[0-9a-f]{64}'/);
  assert.match(printed.get('test') ?? '', /pass 1\b/);
});

test('“Take payments in a Fastify shop” packs the packages, sells, and learns from its webhook what is paid', async () => {
  const port = String(await findFreePort());
  const environment = { PORT: port };
  const printed = await follow('docs/guide/fastify.md', { shop: 'fastify-shop', environment });
  assert.match(printed.get('paid') ?? '', /: paid$/);
});

test('“Testing” pays an order in a test, and completes one that is short', async () => {
  const printed = await follow('docs/guide/testing.md');
  assert.match(printed.get('test') ?? '', /pass 2\b/);
});

// apps/server/test/browser/embed.deep.test.ts presses the button of its page.
test('“Take payments on a plain HTML page” makes a link, lists the origin, and serves the page', async () => {
  const port = String(await findFreePort());
  const printed = await follow('docs/guide/plain-html.md', {
    shop: 'breakfast',
    environment: { PORT: port },
    last: { name: 'visit', text: `until curl -sf "http://localhost:$PORT"; do sleep 1; done; kill $!` },
  });
  const link = (printed.get('link') ?? '').split('/').at(-1) ?? '';
  assert.match(link, /^lnk_\w{22}$/);
  assert.ok(printed.get('visit')?.includes(`<florin-button link="${link}">`), printed.get('visit'));
  assert.ok(printed.get('origin')?.includes(`http://localhost:${port}`), printed.get('origin'));
});

test('“Let an agent pay in ten lines” builds the package, pays, and serves MCP with a tool that pays', async () => {
  const messages = [
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
  ];
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  const printed = await follow('docs/guide/let-an-agent-pay.md', { input });
  assert.match(printed.get('run') ?? '', /^\w+ 0x[0-9a-f]{64}$/);
  assert.match(printed.get('mcp') ?? '', /"name":"pay"/);
});

test('“Pay without gas” pays with a stock x402 client', async () => {
  const printed = await follow('docs/guide/pay-without-gas.md');
  assert.match(printed.get('run') ?? '', /^20[02] sess_\w+ 0x[0-9a-f]{64}$/);
});

test('“Backup and restore” rehearses a restore beside the running world', async () => {
  const printed = await follow('docs/runbook/restore.md');
  assert.match(printed.get('backup') ?? '', /wrote \d+ rows/);
  assert.match(
    printed.get('restore') ?? '',
    /restored \d+ rows[\s\S]*the ledger is complete and unchanged[\s\S]*stopped: restored/,
  );
});

test('“The local world” performs an act by one request', async () => {
  const printed = await follow('docs/guide/local-world.md');
  assert.match(printed.get('act') ?? '', /^\{"did":"Sent 15 USDT on base/);
});

test('“Receive webhooks” makes a certificate, registers a webhook and shows its key', async () => {
  const blocks = blocksOf('docs/guide/receive-webhooks.md').filter(({ language }) => language === 'sh');
  const settings = blocks.filter(({ text }) => text.startsWith('API='));
  const named = (name: string) => blocks.filter((block) => block.name === name);
  const printed = await runAll([...named('certificate'), ...settings, ...named('register'), ...named('key')]);
  assert.equal(codeOf(printed.get('register')), 0);
  assert.match(printed.get('key') ?? '', /^whsec_\S+$/);
});
