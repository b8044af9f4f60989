import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SeededRandom } from '@florin/lab';
import { toHex } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { TEST_MNEMONIC } from './anvil.ts';
import { LOOPBACK } from './port.ts';
import { describeProcess, signalProcess, waitUntil } from './process.ts';
import type { WorldManifest } from './world-config.ts';

const LAUNCHER = fileURLToPath(new URL('../../scripts/run.cjs', import.meta.url));
const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url));
const CHAIN = fileURLToPath(new URL('./chain.fixture.ts', import.meta.url));
const PATIENCE_MS = 240_000;
/** The sixth block below the head is final, and final blocks stay. */
const DEEPEST_REORG = 6;

const PAYERS = [0, 1, 2].map((addressIndex) => {
  const { privateKey } = mnemonicToAccount(TEST_MNEMONIC, { addressIndex }).getHdKey();
  if (privateKey === null) throw new Error('The account has no key.');
  return toHex(privateKey);
});

/** One run of `npm start`, without npm. */
export interface WorldRun {
  readonly manifest: WorldManifest;
  readonly output: () => string;
  /** Kills every Node process of the run at once, like a power cut. */
  readonly kill: () => Promise<void>;
  /** Ends the run as Ctrl-C does. */
  readonly stop: () => Promise<void>;
}

/** Pids of this Node process and those below it; excludes chains and PostgreSQL. */
const findNodes = (pid: number): number[] => {
  const isNode = (candidate: number): boolean =>
    readFileSync(`/proc/${candidate}/cmdline`, 'utf8').split('\0')[0]?.endsWith('node') === true;
  const below = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(parent) === pid && isNode(Number(name)) ? findNodes(Number(name)) : [];
    } catch {
      // It ended during the check.
      return [];
    }
  });
  return [pid, ...below];
};

const endProcessNow = (pid: number): void => {
  const record = describeProcess(pid);
  if (record !== undefined) signalProcess(record, 'SIGKILL');
};

const endAll = (child: ChildProcess): void => findNodes(child.pid ?? 0).forEach(endProcessNow);

const collectOutput = (child: ChildProcess): (() => string) => {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => {
      text += part.toString();
    });
  }
  return () => text;
};

/** Begins a payment across the two chains of a world, as `npm run demo` makes it. */
export const startPayment = (
  home: string,
): { child: ChildProcess; exited: Promise<unknown>; output: () => string } => {
  const child = spawn(process.execPath, [...process.execArgv, DEMO, '--link', 'crossChain'], {
    env: { ...process.env, FLORIN_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, exited: once(child, 'exit'), output: collectOutput(child) };
};

/** Starts the world of this home and returns when it is ready. */
export const startRun = async (home: string, port: number): Promise<WorldRun> => {
  const child = spawn(process.execPath, [LAUNCHER, 'start'], {
    env: { ...process.env, FLORIN_HOME: home, FLORIN_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const output = collectOutput(child);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const isReady = await waitUntil(() => output().includes('Ctrl-C ends it') || hasEnded(), PATIENCE_MS);
  if (!isReady || hasEnded()) {
    endAll(child);
    throw new Error(`The world did not start:\n${output()}`);
  }
  return {
    manifest: JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as WorldManifest,
    output,
    async kill() {
      endAll(child);
      await exited;
    },
    async stop() {
      if (!hasEnded()) child.kill('SIGTERM');
      await exited;
    },
  };
};

/** One call of a chain of the world; rejects with the chain's answer. */
export const callChain = async (
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> => {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
};

type Chain = Pick<WorldManifest['chains'][number], 'name' | 'chainId' | 'rpcUrl'>;

interface Block {
  readonly number: string;
  readonly hash: string;
}

/** The newest final block of each chain. It must never change, and its hash covers all earlier ones. */
export class FinalBlocks {
  readonly #newest = new Map<string, Block>();

  /** Records the newest final block of a chain. */
  async look({ name, rpcUrl }: Chain): Promise<void> {
    const block = (await callChain(rpcUrl, 'eth_getBlockByNumber', ['finalized', false])) as Block;
    const known = this.#newest.get(name);
    if (known === undefined || Number(block.number) > Number(known.number)) this.#newest.set(name, block);
  }

  /** Fails when a final block of a chain is gone. */
  async check({ name, rpcUrl }: Chain, circumstances: string): Promise<void> {
    const known = this.#newest.get(name);
    if (known === undefined) return;
    const block = (await callChain(rpcUrl, 'eth_getBlockByNumber', [known.number, false])) as Block | null;
    const what = `block ${Number(known.number)} of ${name} was final. ${circumstances}`;
    assert.equal(block?.hash, known.hash, what);
  }
}

/** Sends coins from a payer to itself, once or a few times in a row. */
const sendCoins = async (chain: Chain, privateKey: `0x${string}`, random: SeededRandom): Promise<void> => {
  const account = privateKeyToAccount(privateKey);
  // From the mined count it resends a transaction that a reorg removed, or replaces a pending one.
  const tag = random.chance(0.5) ? 'latest' : 'pending';
  const answer = await callChain(chain.rpcUrl, 'eth_getTransactionCount', [account.address, tag]);
  for (let index = 0; index < random.between(1, 3); index += 1) {
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: Number(chain.chainId), nonce: Number(answer) + index, gas: 21_000n },
      ...{ maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: BigInt(random.between(1, 1_000)) },
      ...{ to: account.address, value: BigInt(random.between(1, 1_000_000)) },
    });
    await callChain(chain.rpcUrl, 'eth_sendRawTransaction', [raw]);
  }
};

/** One step; the chain may refuse it. */
const shakeOnce = async (chain: Chain, privateKey: `0x${string}`, random: SeededRandom): Promise<void> => {
  if (random.chance(0.08)) {
    await callChain(chain.rpcUrl, 'anvil_reorg', [random.between(1, DEEPEST_REORG), []]);
  } else if (random.chance(0.5)) await sendCoins(chain, privateKey, random);
  else await callChain(chain.rpcUrl, 'anvil_mine', [random.between(1, 4)]);
};

/** A run under stress until it is killed. */
export interface StressRun {
  readonly chains: readonly Chain[];
  readonly payers: readonly `0x${string}`[];
  readonly random: SeededRandom;
  readonly finals: FinalBlocks;
  readonly mostSteps: number;
  readonly mostPauseMs: number;
  readonly kill: () => Promise<void>;
}

/**
 * Reorgs chains, sends to them, mines on them and checks final blocks. Kills the run after a number of answers, at any
 * point. Returns the refusals, by a chain or by the kill.
 */
export const stressAndKill = async (storm: StressRun): Promise<string[]> => {
  const { chains, payers, random, finals, mostSteps, mostPauseMs, kill } = storm;
  const refusals = new Set<string>();
  const enough = Promise.withResolvers<void>();
  let left = random.between(1, mostSteps);
  let isOver = false;
  const shake = async (chain: Chain, payer: `0x${string}`): Promise<void> => {
    const chance = random.fork(`${chain.name} ${payer}`);
    while (!isOver) {
      try {
        await shakeOnce(chain, payer, chance);
        await finals.look(chain);
      } catch (error) {
        refusals.add(error instanceof Error ? error.message : String(error));
      }
      left -= 1;
      if (left <= 0) enough.resolve();
    }
  };
  const shaking = chains.flatMap((chain) => payers.map((payer) => shake(chain, payer)));
  await enough.promise;
  await sleep(random.between(0, mostPauseMs));
  await kill();
  isOver = true;
  await Promise.all(shaking);
  return [...refusals];
};

/** One kept chain in its own process. */
export interface ChainRun {
  readonly chain: Chain;
  readonly payers: readonly `0x${string}`[];
  readonly output: () => string;
  readonly kill: () => Promise<void>;
}

/** Starts the chain of this folder and returns when it answers. */
export const startChainRun = async (folder: string, port: number): Promise<ChainRun> => {
  const child = spawn(process.execPath, [...process.execArgv, CHAIN, folder, String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const output = collectOutput(child);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const isReady = await waitUntil(() => output().includes('ready\n') || hasEnded(), PATIENCE_MS);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    // A world ends the nodes of a killed process.
    for (const [, pid] of output().matchAll(/^node (\d+)$/gm)) endProcessNow(Number(pid));
  };
  if (!isReady || hasEnded()) {
    await kill();
    throw new Error(`The chain did not start:\n${output()}`);
  }
  return {
    chain: { name: 'storm', chainId: '31337', rpcUrl: `http://${LOOPBACK}:${port}` },
    payers: PAYERS,
    ...{ output, kill },
  };
};
