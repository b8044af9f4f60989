import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { openChromium } from '@florin/server/testing';
import { ask } from '../demo-api.ts';
import {
  act,
  dashboardLine,
  exceptionKinds,
  lookAtConsole,
  manifest,
  merchantReads,
  numberOf,
  readState,
  request,
  rpc,
  sessionOf,
  undo,
  until,
  untilBlock,
  untilReceipt,
  untilStatus,
  useWorld,
} from './acts-world.fixture.ts';

/** The acts on one world of `npm start`; `acts.deep.test.ts` has those that wait longest. */

useWorld();

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
  await untilReceipt(paid);
  const wanted = ['duplicate', 'overpaid', 'overpaid', 'wrong_token'];
  await until(wanted.join(' '), async () => (await exceptionKinds()).join() === wanted.join());
});

test('the dashboard opens with the e-mail and the password that the start prints, for the demo merchant', async () => {
  const [, dashboard = '', email, password] =
    /(http\S+) {2}\(sign in as (\S+), password (\S+)\)$/.exec(dashboardLine) ?? [];
  assert.deepEqual([dashboard, { email, password }], [manifest.dashboard, manifest.dashboardLogin]);
  const signedIn = await fetch(`${dashboard}/api/sign-in/password`, {
    method: 'POST',
    headers: { origin: new URL(dashboard).origin, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(signedIn.status, 200, await signedIn.text());
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const { merchants } = await ask<{ merchants: { merchantId: string; role: string }[] }>({
    url: `${dashboard}/api/me`,
    headers: { cookie: cookie.join('; ') },
  });
  assert.deepEqual(
    merchants.map(({ merchantId, role }) => [merchantId, role]),
    [[manifest.merchantId, 'owner']],
  );
});

test('the merchant’s wallet signs a refund of settled money', async () => {
  const paid = await act('pay');
  await untilStatus(paid, 'completed');
  const headers = { authorization: `Bearer ${manifest.secretKey}` };
  const url = `${manifest.merchantApi}/refund/create`;
  const { refundId } = await ask<{ refundId: string }>({
    ...{ url, headers },
    body: { sessionId: sessionOf(paid) },
  });
  assert.equal((await request('sign-refund', { argument: 'rfd_none' })).status, 422);
  assert.equal((await act('sign-refund')).facts['refund'], refundId);
  await until('the money to be back', async () => {
    const { status } = await merchantReads<{ status: string }>(`/refund/${refundId}`);
    return status === 'completed';
  });
  assert.equal((await request('sign-refund', {})).status, 422);
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

test('a reorg removes a payment', async () => {
  const removed = await act('pay');
  await until('its payment', async () => (await readState(sessionOf(removed))).payment !== undefined);
  const { facts } = await act('reorg', { argument: '5' });
  assert.match(facts['transactions gone'] ?? '', new RegExp(removed.facts['transaction'] ?? 'none'));
  await until('no payment', async () => (await readState(sessionOf(removed))).payment === undefined);
});

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

test('a browser at the service’s address gets the console, which performs acts and ends them', async () => {
  const browser = await openChromium();
  try {
    await lookAtConsole(browser, { width: 390, colorScheme: 'dark' });
  } finally {
    await browser.close();
  }
  const program = await fetch(manifest.origin);
  assert.ok((await program.text()).startsWith(`A local world of Florin.\nConsole: ${manifest.console}\n`));
});

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
