import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOOPBACK } from './port.ts';
import { describeProcess, endProcess, type ProcessExit } from './process.ts';
import { readStartLimit } from './start-limit.ts';

/** A JSON-RPC error object from a node. */
export class AnvilRpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** A JSON-RPC call; rejects with {@link RpcError} when the node answers with an error. */
export type AnvilRpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** One anvil process and a way to call it. */
export interface AnvilProcess {
  readonly pid: number;
  readonly port: number;
  readonly rpc: AnvilRpc;
  /** Forwards a JSON-RPC body unchanged and returns the answer unchanged. */
  readonly forward: (body: Buffer | string) => Promise<Buffer>;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<void>;
}

/** When blocks are mined: every so many seconds, with each transaction, or on request. */
export type Mining = 'automatic' | 'manual' | { readonly seconds: number };

/** The start options of one anvil process. */
export interface AnvilLaunch {
  readonly chainId: number;
  readonly port: number;
  readonly mnemonic: string;
  readonly mining: Mining;
  readonly genesisSeconds: number;
  /** State file to start from, in the format that `anvil_dumpState` unpacks to. */
  readonly loadStatePath?: string;
  readonly logFile?: string;
  /** Gets the pid at once, before the node answers. */
  readonly onSpawn?: (pid: number) => void;
  readonly extraArguments?: readonly string[];
}

/** `finalized` is this many blocks behind the head: two of anvil's epochs of three. */
export const FINALITY_DEPTH = 6;
/** States kept for calls at earlier blocks. Without a limit anvil writes gigabytes to disk in hours. */
export const STATE_HISTORY_BLOCKS = 64;
const STOP_STEPS = [
  ['SIGTERM', 1_000],
  ['SIGKILL', 5_000],
] as const;

const findProgram = (): string => {
  // Found on this machine by the launcher, or named by its user.
  const given = process.env['FLORIN_ANVIL'];
  if (given) return given;
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  try {
    // The npm wrapper would leave the chain running after a kill, so this is the binary itself.
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', 'anvil');
  } catch (error) {
    throw new Error(
      `There is no anvil here: ${name} is missing. Install Foundry, so that anvil is on the PATH, or name one in FLORIN_ANVIL.`,
      { cause: error },
    );
  }
};

const composeArguments = (launch: AnvilLaunch): string[] => {
  const mining =
    launch.mining === 'manual'
      ? ['--no-mining']
      : launch.mining === 'automatic'
        ? []
        : ['--block-time', String(launch.mining.seconds)];
  return [
    ...['--quiet', '--host', LOOPBACK, '--port', String(launch.port), '--chain-id', String(launch.chainId)],
    ...['--hardfork', 'prague', '--mnemonic', launch.mnemonic, '--timestamp', String(launch.genesisSeconds)],
    // First come, first mined: an order that a replay repeats exactly.
    ...['--order', 'fifo', '--slots-in-an-epoch', String(FINALITY_DEPTH / 2)],
    ...['--prune-history', String(STATE_HISTORY_BLOCKS), '--threads', '1', '--no-request-size-limit'],
    ...mining,
    ...(launch.loadStatePath === undefined ? [] : ['--load-state', launch.loadStatePath]),
    ...(launch.extraArguments ?? []),
  ];
};

/** A sender of JSON-RPC bodies to one loopback port over kept connections. */
export const createForwarder = (
  port: number,
): { forward: (body: Buffer | string) => Promise<Buffer>; close(): void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const forward = (body: Buffer | string): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const outgoing = request({ host: LOOPBACK, port, method: 'POST', agent, headers }, (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.once('end', () => resolve(Buffer.concat(parts)));
        incoming.once('error', reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return { forward, close: () => agent.destroy() };
};

/** Calls by method and parameters on top of a sender of bodies. */
export const createRpc = (forward: (body: string) => Promise<Buffer>): AnvilRpc => {
  let id = 0;
  return async (method, params = []) => {
    id += 1;
    const answer: unknown = JSON.parse(
      (await forward(JSON.stringify({ jsonrpc: '2.0', id, method, params }))).toString(),
    );
    const { error, result } = answer as {
      error?: { code: number; message: string; data?: unknown };
      result?: unknown;
    };
    if (error !== undefined) throw new AnvilRpcError(error.code, `${method}: ${error.message}`, error.data);
    return result;
  };
};

const openLog = (path: string | undefined): number | 'ignore' => {
  if (path === undefined) return 'ignore';
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, 'a', 0o600);
};

/** Starts one anvil and returns when it answers. */
export const launchAnvil = async (launch: AnvilLaunch): Promise<AnvilProcess> => {
  const output = openLog(launch.logFile);
  const child = spawn(findProgram(), composeArguments(launch), {
    cwd: '/',
    stdio: ['ignore', output, output],
    // Its own session: Ctrl-C reaches only us, and we stop processes in order.
    detached: true,
  });
  if (typeof output === 'number') closeSync(output);
  let hasExited = false;
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      hasExited = true;
      resolve({ code, signal });
    });
  });
  const { pid } = child;
  if (pid === undefined) throw await exited.then(() => new Error('anvil did not start.'));
  launch.onSpawn?.(pid);
  const { forward, close } = createForwarder(launch.port);
  void exited.finally(close);
  const rpc = createRpc(forward);
  const limit = readStartLimit();
  const deadline = performance.now() + limit.ms;
  for (;;) {
    if (hasExited) {
      const said =
        launch.logFile === undefined ? '' : `:\n${readFileSync(launch.logFile, 'utf8').trim().slice(-1_000)}`;
      throw new Error(`anvil on port ${launch.port} ended at its start${said}`);
    }
    try {
      // Another program on this port would answer with another chain or not at all.
      if (Number(await rpc('eth_chainId')) === launch.chainId && !hasExited) break;
      throw new Error(`Port ${launch.port} answers for another chain.`);
    } catch (error) {
      if (performance.now() > deadline) {
        child.kill('SIGKILL');
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`anvil on port ${launch.port} ${limit.sentence}: ${reason}`, { cause: error });
      }
    }
    await sleep(10);
  }
  const stop = async (): Promise<void> => {
    const record = describeProcess(pid);
    if (!hasExited && record !== undefined) await endProcess(record, STOP_STEPS);
    await exited;
  };
  return { pid, port: launch.port, rpc, forward, exited, stop };
};
