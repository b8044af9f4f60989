import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signWebhook } from '#webhooks/signature.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
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

/** The text of the snippet that a guide marks with this name, behind the language. */
function snippet(guide: string, name: string): string {
  const text = readFileSync(join(root, 'docs/guide', `${guide}.md`), 'utf8');
  const found = new RegExp(`^\`\`\`\\w+ ${name.replaceAll('.', '\\.')}\\n([\\s\\S]*?)\\n\`\`\`$`, 'm').exec(
    text,
  )?.[1];
  if (found === undefined) throw new Error(`${guide}.md has no snippet ${name}`);
  return found;
}

/** Runs a snippet of the shell against the merchant API, and gives the answer that it prints. */
async function shell(guide: string, name: string, extra: Record<string, string> = {}) {
  const env = { ...process.env, ...environment, ...extra };
  const { stdout } = await run('sh', ['-c', snippet(guide, name)], { env, cwd: folder });
  return JSON.parse(stdout) as { code: number; message: string; data: Record<string, unknown> };
}

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

test('the command of “Receive webhooks” is understood, and refused where loopback is not allowed', async () => {
  const refused = await shell('receive-webhooks', 'register');
  assert.equal(refused.code, 100503);
});

test('the receiver of “Receive webhooks” takes signed notifications once and refuses the others', async () => {
  execFileSync('sh', ['-c', snippet('receive-webhooks', 'certificate')], { cwd: folder, stdio: 'ignore' });
  writeFileSync(join(folder, 'receiver.mjs'), snippet('receive-webhooks', 'receiver.mjs'));
  const key = randomBytes(32);
  const port = await freePort();
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_KEY: `whsec_${key.toString('base64')}`, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, `listening on ${port}`);
    const body = '{"id":"evt_1","type":"session.paid","data":{"session":{"sessionId":"sess_1"}}}';
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const headers = { ...signWebhook({ eventId: 'evt_1', timestampSeconds, body, keys: [key] }) };
    const forged = { ...signWebhook({ eventId: 'evt_1', timestampSeconds, body, keys: [randomBytes(32)] }) };
    assert.equal(await post(port, forged, body), 400);
    assert.equal(await post(port, headers, body), 204);
    assert.equal((await lines.next()).value, 'session.paid sess_1');
    const again = body.replaceAll('_1', '_2');
    const other = { ...signWebhook({ eventId: 'evt_2', timestampSeconds, body: again, keys: [key] }) };
    assert.deepEqual([await post(port, headers, body), await post(port, other, again)], [204, 204]);
    assert.equal((await lines.next()).value, 'session.paid sess_2');
  } finally {
    await end(child);
  }
});

/** Posts a body to the receiver with its own certificate as authority; gives the status. */
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
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
