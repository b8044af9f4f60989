import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { paidEvent } from '@florin/server/testing';
import { findFreePort } from '@florin/world';
import { toEventSignature } from 'viem';
import { cpuOf } from './cpu.ts';
import type { BenchEnvironment } from './environment.ts';
import type { LogChain } from './ingestion-chain.ts';

const folder = fileURLToPath(new URL('./ponder', import.meta.url));
const program = `${folder}/node_modules/ponder/dist/esm/bin/ponder.js`;

/** Installs Ponder for the comparison. It is not a dependency of the project. */
export const ponderInstall = 'npm install --ignore-scripts --prefix lab/bench/ponder';

export function isPonderInstalled(): boolean {
  return existsSync(program);
}

/** Ponder's result for its backfill. */
export interface PonderRun {
  readonly logs: number;
  /** From its first request for logs until its last row, without the startup. */
  readonly seconds: number;
  /** Processor time of its process, without the startup. */
  readonly cpuMicroseconds: number;
}

/** Runs Ponder, which reads all logs of the chain into its own PostgreSQL database. */
export async function runPonder(
  environment: BenchEnvironment,
  chain: LogChain,
  round: number,
): Promise<PonderRun> {
  const child = spawn(
    process.execPath,
    [program, 'start', '--schema', 'bench', '--log-format', 'json', '--port', String(await findFreePort())],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: await environment.createDatabase(`ponder_${round}`),
        PONDER_TELEMETRY_DISABLED: 'true',
        BENCH_RPC: chain.url,
        BENCH_CHAIN_ID: String(chain.chain.chainId),
        BENCH_GATEWAY: chain.chain.gateway,
        BENCH_PAID: humanReadable(),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  try {
    return await followLog(child);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function humanReadable(): string {
  const inputs = paidEvent.inputs.map(
    ({ type, name, ...rest }) => `${type}${'indexed' in rest && rest.indexed ? ' indexed' : ''} ${name}`,
  );
  return `event ${toEventSignature(paidEvent).split('(')[0]}(${inputs.join(', ')})`;
}

interface LogLine {
  readonly msg?: string;
  readonly duration?: number;
  readonly event_count?: number;
}

async function followLog(child: ChildProcess): Promise<PonderRun> {
  const { stdout, pid = 0 } = child;
  if (stdout === null) throw new Error('Ponder has no output');
  let logs = 0;
  let cpuBefore = 0;
  for await (const line of createInterface({ input: stdout })) {
    const { msg = '', duration = 0, event_count: count = 0 } = JSON.parse(line) as LogLine;
    if (msg.startsWith('Started') && cpuBefore === 0) cpuBefore = cpuOf(pid);
    if (msg === 'Indexed block range') logs += count;
    if (msg.startsWith('Completed backfill indexing across all chains')) {
      return { logs, seconds: duration / 1_000, cpuMicroseconds: cpuOf(pid) - cpuBefore };
    }
  }
  throw new Error('Ponder ended before it had read all logs');
}
