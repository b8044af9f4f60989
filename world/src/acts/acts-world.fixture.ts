import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { WorldActReport } from '@florin/cli/world-act';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import type { Browser } from 'playwright-core';
import { ask } from '../demo-api.ts';
import { findFreePort } from '../port.ts';
import { waitUntil } from '../process.ts';
import type { WorldManifest } from '../world-config.ts';

/** One world of `npm start` for the acts of a test file. */

const PATIENCE_MS = 120_000;
export const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
export const script = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

export let home = '';
let world: ChildProcess;
export let manifest: WorldManifest;
/** The line of `npm start` that tells where to sign in, and as whom. */
export let dashboardLine = '';

/** Starts the world before the tests of the file and ends it after them. */
export const useWorld = (): void => {
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'florin-acts-'));
    const env = { ...process.env, FLORIN_HOME: home, FLORIN_PORT: String(await findFreePort()) };
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    world = spawn(process.execPath, [...flags, script('world/src/main.ts')], { env, stdio: [...stdio] });
    dashboardLine = await waitForLine(/^ {2}Dashboard /);
    readManifest();
  });
  after(async () => {
    if (world.exitCode === null) {
      const ended = once(world, 'exit');
      world.kill();
      await ended;
    }
    rmSync(home, { recursive: true, force: true });
  });
};

const waitForLine = async (line: RegExp): Promise<string> => {
  const { stdout } = world;
  assert.ok(stdout !== null);
  const seen: string[] = [];
  for await (const text of createInterface({ input: stdout })) {
    seen.push(text);
    if (!line.test(text)) continue;
    stdout.resume();
    return text;
  }
  return assert.fail(`the world has ended:\n${seen.join('\n')}`);
};

/** Reads what the world has written about itself, after its start and after a reset. */
export const readManifest = (): void => {
  manifest = JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as WorldManifest;
};

export const request = (act: string, body: object, token = manifest.controlToken): Promise<Response> =>
  fetch(`${manifest.console}/acts/${act}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

export const act = async (name: string, body: object = {}): Promise<WorldActReport> => {
  const response = await request(name, body);
  const text = await response.text();
  assert.equal(response.status, 200, `${name}: ${text}`);
  return JSON.parse(text) as WorldActReport;
};

export const undo = (name: string, argument?: string): Promise<WorldActReport> =>
  act(name, { argument, undo: true });

export const sessionOf = ({ facts }: WorldActReport): string => facts['session'] ?? '';

/** What the merchant reads. */
export const merchantReads = <Data>(path: string): Promise<Data> =>
  ask<Data>({
    url: manifest.merchantApi + path,
    headers: { authorization: `Bearer ${manifest.secretKey}` },
  });

export const readSession = async (sessionId: string) =>
  (await merchantReads<SessionView>(`/session/${sessionId}`)).session;

export const readState = async (sessionId: string): Promise<CheckoutState & { readonly now: number }> => {
  const url = `${manifest.origin}/checkout/api/session/${sessionId}`;
  const { state, now } = await ask<{ state: CheckoutState; now: number }>({ url });
  return { ...state, now };
};

export const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  assert.ok(await waitUntil(isSo, PATIENCE_MS, 150), `never came: ${what}`);
};

export const untilStatus = (report: WorldActReport, ...wanted: string[]): Promise<void> =>
  until(`${sessionOf(report)} ${wanted.join(' or ')}`, async () =>
    wanted.includes((await readSession(sessionOf(report))).status),
  );

export const exceptionKinds = async (): Promise<string[]> => {
  const { exceptions } = await merchantReads<{ exceptions: { kind: string }[] }>('/exception/list/1/50');
  return exceptions.map(({ kind }) => kind).sort();
};

export const rpc = async (chain: string, method: string, ...params: unknown[]): Promise<unknown> => {
  const url = manifest.chains.find(({ name }) => name === chain)?.rpcUrl ?? '';
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', body });
  return ((await response.json()) as { result: unknown }).result;
};

export const numberOf = async (chain: string, tag = 'latest'): Promise<number> =>
  Number(((await rpc(chain, 'eth_getBlockByNumber', tag, false)) as { number: string }).number);

export const untilBlock = (chain: string, number: number): Promise<void> =>
  until(`block ${number} of ${chain}`, async () => (await numberOf(chain)) >= number);

export const readServiceLog = (): string => readFileSync(join(home, 'service.log'), 'utf8');

/** Until a receipt in the mailbox leads to the page of a payment; e-mails leave out its secret. */
export const untilReceipt = ({ facts }: WorldActReport): Promise<void> =>
  until('a receipt', async () => (await receiptedPages()).includes(facts['page']?.split('#')[0] ?? ''));

/** The pages of the payments that receipts in the mailbox lead to. */
const receiptedPages = async (): Promise<string[]> => {
  const headers = { authorization: `Bearer ${manifest.controlToken}` };
  const response = await fetch(`${manifest.mailbox}.json`, { headers });
  const { mails } = (await response.json()) as { mails: { subject: string; text: string }[] };
  return mails.flatMap(({ subject, text }) =>
    subject === 'Your receipt from Demo Shop' ? (/^http\S+$/m.exec(text) ?? []) : [],
  );
};

/** Looks at the console at the service's address, performs an act there and ends it, and reads a receipt in its mailbox. */
export const lookAtConsole = async (
  browser: Browser,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
): Promise<void> => {
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
};

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** The frame of an e-mail runs no script, so axe could not answer from it. */
const axeRun = `axe.run(document, { iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(
  ({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`;
