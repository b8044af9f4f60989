import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signWebhook } from '@florin/outbox';
import { discovery } from '@florin/protocol/discovery.ts';
import { findFreePort } from '@florin/world';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addLateDeposit } from '../../../test/harness/payment-fixture.ts';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const run = promisify(execFile);
let folder: string;
let world: MerchantWorld;
let environment: Record<string, string>;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-guide-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  const origin = await world.server.listen({ host: '127.0.0.1', port: 0 });
  environment = {
    API: `${origin}/payment/v1`,
    KEY: await world.addKey(merchantId),
    ACCOUNT: await world.addAccount(merchantId),
  };
});

after(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** The snippet that a guide marks with this name and language. */
function snippet(guide: string, name: string): string {
  const text = readFileSync(join(root, 'docs/guide', `${guide}.md`), 'utf8');
  const found = new RegExp(`^\`\`\`\\w+ ${name.replaceAll('.', '\\.')}\\n([\\s\\S]*?)\\n\`\`\`$`, 'm').exec(
    text,
  )?.[1];
  if (found === undefined) throw new Error(`${guide}.md has no snippet ${name}`);
  return found;
}

/** Runs a shell snippet against the merchant API and returns the printed answer. */
async function shell(guide: string, name: string, extra: Record<string, string> = {}) {
  const env = { ...process.env, ...environment, ...extra };
  const { stdout } = await run('sh', ['-c', snippet(guide, name)], { env, cwd: folder });
  return JSON.parse(stdout) as { code: number; message: string; data: Record<string, unknown> };
}

test('the command of “When payers pay wrongly” accepts a late deposit', async () => {
  const { KEY: key = '', ACCOUNT: accountId = '' } = environment;
  const { exceptionId } = await addLateDeposit(world, { key, accountId });
  const { code, data } = await shell('when-payers-pay-wrongly', 'decide', { EXCEPTION: exceptionId });
  assert.deepEqual([code, data], [0, { success: true }]);
});

test('the commands of “Take a payment by API” create, read and cancel a session', async () => {
  const created = await shell('take-a-payment', 'create');
  assert.deepEqual(
    [created.code, created.data['status'], created.data['amount'], created.data['metadata']],
    [0, 'initialized', 4_500_000, { order: 'A-1042' }],
  );
  const SESSION = String(created.data['sessionId']);
  const read = await shell('take-a-payment', 'read', { SESSION });
  assert.deepEqual(read.data, { session: created.data });
  const cancelled = await shell('take-a-payment', 'cancel', { SESSION });
  assert.deepEqual(cancelled.data, { success: true });
});

test('the set-up of “Take a payment by API” reads what the local world writes', async () => {
  const text = readFileSync(join(root, 'world/src/world-config.ts'), 'utf8');
  const names = [...snippet('take-a-payment', 'setup').matchAll(/world\.json"\)\.(\w+)/g)].map(
    (match) => match[1],
  );
  assert.deepEqual(names, ['merchantApi', 'secretKey', 'accountId']);
  for (const name of names) assert.ok(text.includes(`${name}:`), name);
});

test('the command of “Receive webhooks” is valid, and refused where loopback is not allowed', async () => {
  const refused = await shell('receive-webhooks', 'register');
  assert.equal(refused.code, 100503);
});

/** Whether the program is installed; a fresh machine may lack Python. */
function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

const receivers = [
  { file: 'receiver.mjs', program: process.execPath, skip: false },
  {
    file: 'receiver.py',
    program: 'python3',
    skip: isInstalled('python3') ? false : 'python3 is not installed on this machine',
  },
] as const;

for (const { file, program, skip } of receivers) {
  test(`${file} of “Receive webhooks” accepts signed notifications once and refuses others`, {
    skip,
  }, async () => {
    execFileSync('sh', ['-c', snippet('receive-webhooks', 'certificate')], { cwd: folder, stdio: 'ignore' });
    writeFileSync(join(folder, file), snippet('receive-webhooks', file));
    const key = randomBytes(32);
    const port = await findFreePort();
    const child = spawn(program, [file], {
      cwd: folder,
      env: { ...process.env, WEBHOOK_KEY: `whsec_${key.toString('base64')}`, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      assert.equal((await lines.next()).value, `listening on ${port}`);
      await checkReceiver(port, key, lines);
    } finally {
      await end(child);
    }
  });
}

async function checkReceiver(port: number, key: Uint8Array, lines: AsyncIterator<string>): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const bodyOf = (id: string, more = '') =>
    `{"id":"${id}","type":"session.paid","data":{"session":{"sessionId":"sess_${id}","note":"é😀"}}${more}}`;
  const headersOf = (eventId: string, body: string, change: { at?: number; keys?: Uint8Array[] } = {}) => ({
    ...signWebhook({ eventId, timestampSeconds: change.at ?? now, body, keys: change.keys ?? [key] }),
  });
  const [first, second, example] = [bodyOf('evt_1'), bodyOf('evt_2'), bodyOf('evt_3', ',"fixture":true')];
  const stranger = randomBytes(32);
  const forged = [
    headersOf('evt_1', first, { keys: [stranger] }),
    headersOf('evt_1', first, { at: now - 3600 }),
    headersOf('evt_1', first, { at: now + 3600 }),
    headersOf('evt_2', first),
    headersOf('evt_1', second),
    { ...headersOf('evt_1', first), 'webhook-signature': '' },
  ].map((headers, index) => ({ ...headers, 'webhook-id': index === 3 ? 'evt_1' : headers['webhook-id'] }));
  for (const headers of forged) assert.equal(await post(port, headers, first), 400);
  assert.equal(await post(port, headersOf('evt_1', first), first), 204);
  assert.equal((await lines.next()).value, 'session.paid sess_evt_1');
  assert.equal(await post(port, headersOf('evt_1', first), first), 204);
  assert.equal(await post(port, headersOf('evt_3', example), example), 204);
  // After a key refresh with an overlap, a notification has two signatures, and the receiver may know either key.
  assert.equal(await post(port, headersOf('evt_2', second, { keys: [stranger, key] }), second), 204);
  assert.equal((await lines.next()).value, 'session.paid sess_evt_2');
}

// apps/operator/src/documents.test.ts compares every command line in a document with the program.
test('“Receive webhooks” uses the commands for webhooks', () => {
  const guide = readFileSync(join(root, 'docs/guide/receive-webhooks.md'), 'utf8');
  const used = [...guide.matchAll(/npm run florin -- (\w+)/g)];
  assert.deepEqual([...new Set(used.map(([, name]) => name))].sort(), [
    'listen',
    'logs',
    'resend',
    'trigger',
  ]);
});

/** Posts a body to the receiver and trusts its certificate; returns the status. */
async function post(
  port: number,
  headers: Record<string, string>,
  body: string,
): Promise<number | undefined> {
  const ca = readFileSync(join(folder, 'receiver.crt'));
  const sent = request({ host: '127.0.0.1', port, method: 'POST', headers, ca });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

test('the commands of “First payment in five minutes” are commands of the checkout', () => {
  const text = readFileSync(join(root, 'docs/guide/first-payment.md'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const used = [...text.matchAll(/npm (?:run )?(start|demo|test)\b/g)].map((match) => match[1] ?? '');
  assert.deepEqual([...new Set(used)].sort(), ['demo', 'start']);
  for (const name of used) assert.ok(name in scripts, name);
});

test('“Let an agent pay” reads what the local world writes, and its command takes the policy', () => {
  const world = readFileSync(join(root, 'world/src/world-config.ts'), 'utf8');
  const setup = snippet('let-an-agent-pay', 'setup');
  for (const name of ['origin', 'linkIds', 'payers', 'chains']) {
    assert.ok(setup.includes(name) && world.includes(`${name}:`), name);
  }
  assert.match(snippet('let-an-agent-pay', 'mcp'), /florin -- mcp --policy policy\.json$/);
  const [, text = ''] = /<<END\n([\s\S]*)\nEND$/.exec(snippet('let-an-agent-pay', 'policy')) ?? [];
  const policy = JSON.parse(text) as object;
  assert.deepEqual(Object.keys(policy), ['maxAmount', 'tokens']);
});

test('the names of “Let an agent pay” are the names of the well-known document', () => {
  const text = readFileSync(join(root, 'docs/guide/let-an-agent-pay.md'), 'utf8');
  const section = text.slice(text.indexOf('## Find everything'));
  for (const name of ['serviceDomain', 'aiProtocol', 'merchantApi', 'mcp', 'x402', 'chains', 'documents']) {
    assert.ok(section.includes(`\`${name}\``) && name in discovery.properties, name);
  }
});

for (const { guide, example } of [
  { guide: 'hono', example: 'hono-worker' },
  { guide: 'nextjs', example: 'nextjs' },
]) {
  // test/examples/examples.deep.test.ts runs the example by these commands.
  test(`the guide ${guide} prints the files and the commands of its example`, () => {
    const read = (path: string) => readFileSync(join(root, path), 'utf8').trimEnd();
    const printed = [...read(`docs/guide/${guide}.md`).matchAll(/^```\w+ (\S+)\n([\s\S]*?)\n```$/gm)];
    const [, commands] = /```sh\n([\s\S]*?)\n```/.exec(read(`examples/${example}/README.md`)) ?? [];
    assert.ok(printed.length > 2);
    for (const [, name = '', text] of printed)
      assert.equal(text, name === 'run' ? commands : read(`examples/${example}/${name}`), name);
  });
}
