import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WorldActReport } from '@florin/cli/world-act';
import { openChromium } from '@florin/server/testing';
import type { ProcessRecord } from '../process.ts';
import {
  act,
  exceptionKinds,
  flags,
  home,
  lookAtConsole,
  manifest,
  numberOf,
  readManifest,
  readServiceLog,
  readSession,
  readState,
  request,
  rpc,
  script,
  sessionOf,
  undo,
  until,
  untilReceipt,
  untilStatus,
  useWorld,
} from './acts-world.fixture.ts';

/** The acts that wait for finality, for the next attempt of a settlement, or for another start of the world. */

const SPIKE_WEI = 500_000_000_000;

useWorld();

test('a lie about receipts is not believed, and finality and gas change until that is undone', async () => {
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

test('the console is the same on a wide screen in light colours', async () => {
  await untilReceipt(await act('pay'));
  const browser = await openChromium();
  try {
    await lookAtConsole(browser, { width: 1440, colorScheme: 'light' });
  } finally {
    await browser.close();
  }
});

/** Runs a command line in the world. Another profile of this person must not count. */
async function florin(...args: string[]): Promise<{ code: unknown; output: string }> {
  const child = spawn(process.execPath, [...flags, script('apps/operator/src/main.ts'), ...args], {
    env: { ...process.env, FLORIN_HOME: home, XDG_CONFIG_HOME: home },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      output += part.toString();
    });
  const [code] = await once(child, 'close');
  return { code, output };
}

test('florin trigger makes a session of the world, pays it, and waits for its event', async () => {
  const { code, output } = await florin('trigger', 'session.paid');
  assert.equal(code, 0, output);
  const [, event = '', session = ''] =
    /^raised session\.paid as (evt_\w+) for (sess_\w+)$/m.exec(output) ?? [];
  const shown = await florin('events', 'retrieve', event);
  assert.ok(shown.output.includes(session), shown.output);
  const paid = await florin('pay', session);
  assert.equal(paid.code, 1, 'a paid session is not paid again');
});

test('florin trigger pays, refunds, signs, overpays and delays, as an event needs it', async () => {
  for (const type of [
    ...['refund.created', 'refund.cancelled', 'refund.completed', 'session.exception'],
    ...['session.settlement_pending', 'session.payment_detected', 'session.settling', 'session.completed'],
  ]) {
    const { code, output } = await florin('trigger', type);
    assert.equal(code, 0, output);
    const [, event = '', subject = ''] = /^raised (?:\S+) as (evt_\w+) for (\w+)$/m.exec(output) ?? [];
    const shown = await florin('events', 'retrieve', event);
    assert.ok(shown.output.includes(`"type": "${type}"`) && shown.output.includes(subject), shown.output);
  }
});

test('florin world resets the world, which keeps its wallets and has new keys', async () => {
  assert.deepEqual(await florin('world', 'advance', '0'), {
    code: 1,
    output: 'The number of minutes must be a whole number from 1 to 527040.\n',
  });
  const before = manifest;
  const { code, output } = await florin('world', 'reset');
  assert.equal(code, 0, output);
  readManifest();
  assert.notEqual(manifest.secretKey, before.secretKey);
  assert.deepEqual([manifest.payers, manifest.origin], [before.payers, before.origin]);
  assert.match(output, /^The world stops.*\nWatch: The chains begin at block 0\./);
});
