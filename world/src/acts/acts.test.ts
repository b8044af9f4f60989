import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { WorldActReport } from '@florin/cli';
import type { CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { openChromium } from '@florin/server/testing';
import { ask } from '../demo-api.ts';
import { findFreePort } from '../port.ts';
import { type ProcessRecord, waitUntil } from '../process.ts';
import type { WorldManifest } from '../world-config.ts';

/** Every act on one world of `npm start`. */

const PATIENCE_MS = 120_000;
const SPIKE_WEI = 500_000_000_000;
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
const script = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

let home = '';
let world: ChildProcess;
let manifest: WorldManifest;

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'florin-acts-'));
  const env = { ...process.env, FLORIN_HOME: home, FLORIN_PORT: String(await findFreePort()) };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  world = spawn(process.execPath, [...flags, script('world/src/main.ts')], { env, stdio: [...stdio] });
  await waitForLine(/^Florin is ready/);
  manifest = readManifest();
});
after(async () => {
  if (world.exitCode === null) {
    const ended = once(world, 'exit');
    world.kill();
    await ended;
  }
  rmSync(home, { recursive: true, force: true });
});

const waitForLine = async (line: RegExp): Promise<void> => {
  const { stdout } = world;
  assert.ok(stdout !== null);
  const seen: string[] = [];
  for await (const text of createInterface({ input: stdout })) {
    seen.push(text);
    if (!line.test(text)) continue;
    stdout.resume();
    return;
  }
  assert.fail(`the world has ended:\n${seen.join('\n')}`);
};

const readManifest = (): WorldManifest =>
  JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as WorldManifest;

const request = (act: string, body: object, token = manifest.controlToken): Promise<Response> =>
  fetch(`${manifest.console}/acts/${act}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

const act = async (name: string, body: object = {}): Promise<WorldActReport> => {
  const response = await request(name, body);
  const text = await response.text();
  assert.equal(response.status, 200, `${name}: ${text}`);
  return JSON.parse(text) as WorldActReport;
};

const undo = (name: string, argument?: string): Promise<WorldActReport> =>
  act(name, { argument, undo: true });

const sessionOf = ({ facts }: WorldActReport): string => facts['session'] ?? '';

/** What the merchant reads. */
const merchantReads = <Data>(path: string): Promise<Data> =>
  ask<Data>({
    url: manifest.merchantApi + path,
    headers: { authorization: `Bearer ${manifest.secretKey}` },
  });

const readSession = async (sessionId: string) =>
  (await merchantReads<SessionView>(`/session/${sessionId}`)).session;

const readState = async (sessionId: string): Promise<CheckoutState & { readonly now: number }> => {
  const url = `${manifest.origin}/checkout/api/session/${sessionId}`;
  const { state, now } = await ask<{ state: CheckoutState; now: number }>({ url });
  return { ...state, now };
};

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  assert.ok(await waitUntil(isSo, PATIENCE_MS, 150), `never came: ${what}`);
};

const untilStatus = (report: WorldActReport, ...wanted: string[]): Promise<void> =>
  until(`${sessionOf(report)} ${wanted.join(' or ')}`, async () =>
    wanted.includes((await readSession(sessionOf(report))).status),
  );

const exceptionKinds = async (): Promise<string[]> => {
  const { exceptions } = await merchantReads<{ exceptions: { kind: string }[] }>('/exception/list/1/50');
  return exceptions.map(({ kind }) => kind).sort();
};

const rpc = async (chain: string, method: string, ...params: unknown[]): Promise<unknown> => {
  const url = manifest.chains.find(({ name }) => name === chain)?.rpcUrl ?? '';
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', body });
  return ((await response.json()) as { result: unknown }).result;
};

const numberOf = async (chain: string, tag = 'latest'): Promise<number> =>
  Number(((await rpc(chain, 'eth_getBlockByNumber', tag, false)) as { number: string }).number);

const untilBlock = (chain: string, number: number): Promise<void> =>
  until(`block ${number} of ${chain}`, async () => (await numberOf(chain)) >= number);

const readServiceLog = (): string => readFileSync(join(home, 'service.log'), 'utf8');

/** The pages of the payments that receipts in the mailbox lead to. */
const receiptedPages = async (): Promise<string[]> => {
  const headers = { authorization: `Bearer ${manifest.controlToken}` };
  const response = await fetch(`${manifest.mailbox}.json`, { headers });
  const { mails } = (await response.json()) as { mails: { subject: string; text: string }[] };
  return mails.flatMap(({ subject, text }) =>
    subject === 'Your receipt from Demo Shop' ? (/^http\S+$/m.exec(text) ?? []) : [],
  );
};

test('a payment completes with a receipt in the mailbox, and each wrong payment becomes its exception', async () => {
  const paid = await act('pay');
  const short = await act('underpay');
  await act('overpay');
  await act('double');
  await act('wrong-token');
  await until('the missing part', async () => {
    const { deposits } = await readState(sessionOf(short));
    return deposits.some(({ missingInToken }) => missingInToken === '10000000');
  });
  await act('underpay', { argument: short.facts['page'] ?? '' });
  await untilStatus(short, 'paid', 'settling', 'completed');
  await untilStatus(paid, 'completed');
  const { page = '' } = paid.facts;
  await until('a receipt', async () => (await receiptedPages()).includes(page));
  const wanted = ['duplicate', 'overpaid', 'overpaid', 'wrong_token'];
  await until(wanted.join(' '), async () => (await exceptionKinds()).join() === wanted.join());
});

test('an unreachable node answers nothing, and a halted chain has no blocks, until they are undone', async () => {
  await act('outage', { argument: 'ethereum' });
  await act('halt', { argument: 'base' });
  await assert.rejects(rpc('ethereum', 'eth_blockNumber'), /fetch failed/);
  assert.equal((await request('pay', { token: 'ethereum::usdc' })).status, 500);
  await undo('outage', 'ethereum');
  const head = await numberOf('base');
  await untilBlock('ethereum', (await numberOf('ethereum')) + 2);
  assert.equal(await numberOf('base'), head);
  await undo('halt', 'base');
  await untilBlock('base', head + 1);
});

test('a reorg removes a payment, and a lie about receipts is not believed', async () => {
  const removed = await act('pay');
  await until('its payment', async () => (await readState(sessionOf(removed))).payment !== undefined);
  const { facts } = await act('reorg', { argument: '5' });
  assert.match(facts['transactions gone'] ?? '', new RegExp(removed.facts['transaction'] ?? 'none'));
  await until('no payment', async () => (await readState(sessionOf(removed))).payment === undefined);

  await act('lying-node');
  const hidden = await act('pay');
  await until('a refusal', async () => readServiceLog().includes('receipts that do not come to the root'));
  assert.equal((await readState(sessionOf(hidden))).payment, undefined);
  await act('slow-finality');
  const final = await numberOf('base', 'finalized');
  await undo('lying-node');
  const isDeep = async (): Promise<boolean> =>
    ((await readState(sessionOf(hidden))).payment?.confirmations ?? 0) > 8;
  await until('eight confirmations', isDeep);
  assert.equal((await readSession(sessionOf(hidden))).status, 'initialized');
  assert.equal(await numberOf('base', 'finalized'), final);
  await act('gas-spike');
  await undo('slow-finality');
  await untilStatus(hidden, 'paid', 'settling');
  await until('a high base fee', async () => {
    const block = (await rpc('base', 'eth_getBlockByNumber', 'latest', false)) as { baseFeePerGas: string };
    return Number(block.baseFeePerGas) > SPIKE_WEI;
  });
  await undo('gas-spike');
  await untilStatus(hidden, 'completed');
});

/** Payments whose settlement waits for its next attempt. */
const delayed: WorldActReport[] = [];

test('a blocked wallet and an empty vault delay settlements, and a paused token takes no payment', async () => {
  await act('blocklist');
  const blocked = await act('pay');
  await act('pause-token', { argument: 'ethereum::usdt' });
  const refused = await request('pay', { token: 'ethereum::usdt' });
  assert.match(((await refused.json()) as { error: string }).error, /reverted/);
  await undo('pause-token', 'ethereum::usdt');
  await untilReason(blocked, 'recipient_blocked');
  await undo('blocklist');
  await act('empty-vault');
  const short = await act('pay', { token: 'ethereum::usdt' });
  await untilReason(short, 'vault_short');
  await undo('empty-vault');
  delayed.push(blocked, short);
});

const untilReason = (report: WorldActReport, reason: string): Promise<void> =>
  until(reason, async () => (await readSession(sessionOf(report))).pendingReason === reason);

test('the webhook of the acts fails and hangs until that is undone', async () => {
  const { facts } = await act('fail-webhooks');
  const receiver = `${manifest.console}/receiver`;
  const receive = (): Promise<Response> => fetch(receiver, { method: 'POST', body: '{}' });
  assert.equal((await receive()).status, 500);
  const session = await act('underpay');
  await act('pay', { argument: sessionOf(session) });
  const path = `/webhook/delivery/list/${facts['webhook'] ?? ''}/1/10`;
  await until('a failed attempt', async () => {
    const { deliveries } = await merchantReads<{ deliveries: { attempts: { httpStatus: number }[] }[] }>(
      path,
    );
    return deliveries.some(({ attempts }) => attempts.some(({ httpStatus }) => httpStatus === 500));
  });
  await act('hang-webhooks');
  const hanging = receive();
  await Promise.all([assert.rejects(hanging, /fetch failed/), undo('hang-webhooks')]);
  assert.equal((await receive()).status, 204);
});

test('time moves on for chains and service together, also over a restart of the service', async () => {
  const open = await act('underpay');
  const { now: before } = await readState(sessionOf(open));
  await act('advance', { argument: '40' });
  await act('pay');
  const pids = (): number =>
    (JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as { service: ProcessRecord }).service
      .pid;
  const pid = pids();
  await act('kill-worker');
  assert.notEqual(pids(), pid);
  assert.ok((await readState(sessionOf(open))).now >= before + 2_400);
  const { timestamp } = (await rpc('ethereum', 'eth_getBlockByNumber', 'latest', false)) as {
    timestamp: string;
  };
  assert.ok(Number(timestamp) >= before + 2_400);
  await untilStatus(open, 'expired');
  for (const report of delayed) await untilStatus(report, 'completed');
  await act('late');
  await until('a late payment', async () => (await exceptionKinds()).includes('late'));
});

test('a browser at the service’s address gets the console, which performs acts and ends them', async () => {
  const browser = await openChromium();
  try {
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [390, 'dark'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(manifest.origin);
      assert.equal(page.url(), `${manifest.console}/`);
      await page.waitForSelector('#parts .dot.good');
      await page.waitForSelector('#events .what');
      const form = page.locator('form[data-act="outage"]');
      await form.locator('select').selectOption('ethereum');
      await form.locator('.inputs button').click();
      await form.locator('.did').getByText('The node of ethereum closes every connection.').waitFor();
      await page.locator('#lasting').getByText('outage ethereum').waitFor();
      await assert.rejects(rpc('ethereum', 'eth_blockNumber'), /fetch failed/);
      await form.getByRole('button', { name: 'End' }).click();
      await form.getByRole('button', { name: 'Begin' }).waitFor();
      assert.notEqual(await rpc('ethereum', 'eth_blockNumber'), undefined);
      await page.evaluate(axeSource);
      assert.deepEqual(await page.evaluate(axeRun), []);
      assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= width);

      await page.getByRole('link', { name: /Mailbox \d+/ }).click();
      await page.getByRole('link', { name: 'Your receipt from Demo Shop' }).first().click();
      await page.frameLocator('iframe').getByText('You paid $25.00').waitFor();
      await page.evaluate(axeSource);
      assert.deepEqual(await page.evaluate(axeRun), []);
      assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= width);
      assert.deepEqual(complaints, []);
      await page.close();
    }
  } finally {
    await browser.close();
  }
  const program = await fetch(manifest.origin, { headers: { accept: 'application/json' } });
  assert.equal(((await program.json()) as { code: number }).code, 404_000);
});

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** The frame of an e-mail runs no script, so axe could not answer from it. */
const axeRun = `axe.run(document, { iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(
  ({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`;

interface ConsoleRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks the console from one process, as another user of this machine where we may; returns status and location. */
const askConsole = async (
  requests: readonly ConsoleRequest[],
  uid: number | undefined,
): Promise<string[]> => {
  const program = `const [, origin, requests] = process.argv;
    const ask = ({ path, headers = {} }) => new Promise((resolve) => require('node:http').get(origin + path, { headers },
      (answer) => resolve(answer.statusCode + ' ' + (answer.resume().headers.location ?? ''))));
    Promise.all(JSON.parse(requests).map(ask)).then((answers) => console.log(JSON.stringify(answers)));`;
  const args = ['-e', program, manifest.console, JSON.stringify(requests)];
  const child = spawn('node', args, { cwd: '/', ...(uid === undefined ? {} : { uid }) });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
  });
  await once(child, 'close');
  return JSON.parse(text) as string[];
};

test('the console refuses other names of its address, other sites’ pages, and other users without the token', async () => {
  const foreign = { 'x-florin-console': '1', 'sec-fetch-site': 'cross-site' };
  for (const headers of [{}, foreign]) {
    const answer = await fetch(`${manifest.console}/acts/pay`, { method: 'POST', headers, body: '{}' });
    assert.equal(answer.status, 401);
  }
  const token = manifest.controlToken;
  const requests = [
    { path: '/', headers: { host: 'evil.example' } },
    { path: '/' },
    { path: '/live' },
    { path: '/mailbox' },
    { path: '/mailbox.json' },
    { path: `/?token=${'0'.repeat(32)}` },
    { path: `/?token=${token}` },
    { path: '/', headers: { cookie: `other=1; florin_console=${token}` } },
  ];
  // Only root can ask as another user; the other processes of our own user need no token.
  const [uid, other] = process.getuid?.() === 0 ? [65_534, '401 '] : [undefined, '200 '];
  const others = [other, other, other, other, other];
  assert.deepEqual(await askConsole(requests, uid), ['421 ', ...others, '303 /', '200 ']);
});

test('the acts serve only callers who know the token, and refuse what they do not understand', async () => {
  assert.equal((await request('reset', {}, '0'.repeat(32))).status, 401);
  const refusals = [
    ['dance', {}],
    ['halt', { argument: 'solana' }],
    ['advance', { argument: '-1' }],
    ['pay', { argument: 'lnk_1' }],
    ['pay', { undo: true }],
    ['reorg', { token: 'base::usdc' }],
    ['outage', {}],
  ] as const;
  for (const [name, body] of refusals) assert.equal((await request(name, body)).status, 422, name);
  assert.equal((await request('pay', { amount: 1 })).status, 400);
});

test('florin world resets the world, which keeps its wallets and has new keys', async () => {
  const florin = async (...args: string[]): Promise<{ code: unknown; output: string }> => {
    const child = spawn(process.execPath, [...flags, script('apps/cli/src/main.ts'), 'world', ...args], {
      env: { ...process.env, FLORIN_HOME: home },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        output += part.toString();
      });
    const [code] = await once(child, 'close');
    return { code, output };
  };
  assert.deepEqual(await florin('advance', '0'), {
    code: 1,
    output: 'The number of minutes must be a whole number from 1 to 527040.\n',
  });
  const before = manifest;
  const { code, output } = await florin('reset');
  assert.equal(code, 0, output);
  manifest = readManifest();
  assert.notEqual(manifest.secretKey, before.secretKey);
  assert.deepEqual([manifest.payers, manifest.origin], [before.payers, before.origin]);
  assert.match(output, /^The world stops.*\nWatch: The chains begin at block 0\./);
});
