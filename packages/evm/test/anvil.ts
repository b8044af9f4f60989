import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'viem';

/** A local chain of one test, with keys that hold money. */
export interface Anvil {
  readonly url: string;
  readonly chainId: number;
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[];
  /** Sends one JSON-RPC request; an error answer rejects. */
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Mines empty blocks, or what is in the pool. */
  mine(count?: number): Promise<void>;
  /** Stops the process (SIGSTOP), so that it takes connections and answers nothing, or lets it go on. */
  pause(isPaused: boolean): void;
  close(): Promise<void>;
}

export interface AnvilOptions {
  readonly chainId?: number;
  /** A third of `finalized`'s and half of `safe`'s distance from the head; 2 by default. */
  readonly slotsInAnEpoch?: number;
  /** Mine each transaction at once. By default blocks come only from `mine`. */
  readonly automine?: boolean;
}

const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
const binary = fileURLToPath(
  new URL(
    `../../../node_modules/@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`,
    import.meta.url,
  ),
);

/** anvil's own well-known keys, from its default mnemonic. */
const accounts = [
  {
    address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  },
  {
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    privateKey: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  },
] as const;

// A process that a signal ends emits no `exit`, and would leave its chains behind.
process.once('SIGTERM', () => {
  if (process.listenerCount('SIGTERM') === 0) process.exit(143);
});

/** Starts a chain of its own on a free port and returns when it answers. */
export async function startTestAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31_337;
  const settings = [
    ['--port', '0'],
    ['--chain-id', String(chainId)],
    ['--slots-in-an-epoch', String(options.slotsInAnEpoch ?? 2)],
    ['--accounts', '2'],
    ...(options.automine === true ? [] : [['--no-mining']]),
  ].flat();
  const child = spawn(binary, settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const url = `http://${await listeningAddress(child)}`;
  const request = (method: string, params: readonly unknown[] = []) => post(url, method, params);
  return {
    url,
    chainId,
    accounts,
    request,
    async mine(count = 1) {
      await request('anvil_mine', [`0x${count.toString(16)}`]);
    },
    pause: (isPaused) => void child.kill(isPaused ? 'SIGSTOP' : 'SIGCONT'),
    async close() {
      process.removeListener('exit', killAtExit);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function listeningAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`anvil ended at its start: ${output}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Listening on (\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}

async function post(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
