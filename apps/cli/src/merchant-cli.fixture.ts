import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@florin/server/operator';
import { MerchantWorld } from '@florin/server/testing';
import type { CliOutside } from './command.ts';
import { merchantFamily } from './merchant-family.ts';
import { startPlainReceiver } from './plain-receiver.fixture.ts';
import { type CliResult, runProgram } from './program.ts';

interface CliRun {
  readonly told: string[];
  readonly emitted: string[];
  readonly end: AbortController;
  readonly result: Promise<CliResult>;
}

const settings = { name: 'florin', description: 'merchant', version: '0', families: [merchantFamily] };

/** A merchant's world and receiver, and the command line with the merchant's key; the caller closes it. */
export async function openMerchantCli() {
  const folder = mkdtempSync(join(tmpdir(), 'florin-cli-story-'));
  const receiver = await startPlainReceiver();
  const world = await MerchantWorld.open();
  const url = await world.server.listen({ host: '127.0.0.1', port: 0 });
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const key = await world.addKey(merchantId);

  /** Runs a command line against the world's API, with the key from the environment. */
  function start(
    args: readonly string[],
    environment: Record<string, string> = {},
    clock: CliOutside['clock'] = systemClock,
  ): CliRun {
    const [told, emitted]: [string[], string[]] = [[], []];
    const end = new AbortController();
    const result = runProgram(settings, args, {
      environment: { FLORIN_URL: url, FLORIN_KEY: key, XDG_CONFIG_HOME: folder, ...environment },
      clock,
      folder,
      tell: (sentence) => told.push(sentence),
      emit: (line) => emitted.push(line),
      ending: () => end.signal,
    });
    return { told, emitted, end, result };
  }

  async function run(args: readonly string[]): Promise<CliResult> {
    return start(args).result;
  }

  /** Runs a command that must succeed and returns its JSON. */
  async function json<Answer>(...args: readonly string[]): Promise<Answer> {
    const result = await run([...args, '--json']);
    assert.deepEqual({ ...result, stdout: '' }, { exitCode: 0, stdout: '', stderr: '' }, result.stdout);
    return JSON.parse(result.stdout) as Answer;
  }

  const post = (path: string, body: object) => world.send('POST', path, { key, body });

  /** The newest event: later ones are certain to be seen, even when a command starts late. */
  async function newestEvent(): Promise<string> {
    return (await world.send('GET', '/event/list/1/1', { key })).data.events[0].id;
  }

  async function close(): Promise<void> {
    await world.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  }

  return { folder, url, receiver, world, accountId, key, start, run, json, post, newestEvent, close };
}

/** Asks every 20 ms; gives up late, for slow machines. */
export async function until(isDone: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isDone()) {
    if (performance.now() > end) throw new Error('waited in vain');
    await delay(20);
  }
}
