import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toHex } from 'viem';
import { systemClock } from '#outside/clock.ts';
import type { ServiceSettings } from '../../src/service/options.ts';

const ownMain = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const startLimitMs = 180_000;
const unlimited = 1_000_000;

/** The configuration file that says what the options say. */
function configOf(options: ServiceSettings): unknown {
  const { keepAfterSeconds: _fixed, ...settlement } = options.settlement;
  return {
    environment: 'local',
    origin: options.origin,
    serviceDomain: options.serviceDomain,
    http: options.http,
    databaseUrl: options.databaseUrl,
    ...(options.databaseWaitSeconds === undefined
      ? {}
      : { databaseWaitSeconds: options.databaseWaitSeconds }),
    databaseWaitSeconds: options.databaseWaitSeconds ?? 10,
    ...(options.databaseReplica === undefined
      ? {}
      : {
          databaseReplicaUrl: options.databaseReplica.url,
          databaseReplicaMaxLagSeconds: options.databaseReplica.maxLagSeconds,
        }),
    roles: [...options.roles],
    chains: options.chains.all.map((chain) => ({
      name: chain.name,
      chainId: String(chain.chainId),
      rpcUrls: chain.rpcUrls,
      ...(chain.wsUrls === undefined ? {} : { wsUrls: chain.wsUrls }),
      gateway: chain.gateway,
      vault: chain.vault,
      startBlock: String(chain.startBlock),
      finality: chain.finality,
      pollIntervalMs: chain.pollIntervalMs,
      tokens: chain.tokens.map(({ tokenId, address, symbol, name, decimals }) => ({
        tokenId,
        address,
        symbol,
        name,
        decimals,
      })),
    })),
    signer: { orderKey: options.orderKey, settlerKey: options.settlerKey },
    masterKey: toHex(options.masterKeys[0]).slice(2),
    webhooks: { allowLoopback: options.webhooks.allowLoopback },
    settlement,
    // A story asks for more in a minute than an address may, unless it is about that.
    rateLimits: {
      signedRequestsPerMinute: unlimited,
      createsPerLinkPerMinute: unlimited,
      publicReadsPerSecond: unlimited,
      keyWritesPerSecond: unlimited,
      openSessionsPerPayer: options.maxOpenSessions ?? unlimited,
    },
  };
}

/** The service as a process of its own, which can be killed. */
export class ServiceProcess {
  readonly #options: ServiceSettings;
  #folder = '';
  #child: ChildProcess | undefined;
  #output = '';
  #main = ownMain;

  constructor(options: ServiceSettings) {
    this.#options = options;
  }

  /** The program from the next start on, such as that of another version; this checkout's when absent. */
  runFrom(main = ownMain): void {
    this.#main = main;
  }

  /** Starts the process and waits until it answers, if it has the role to. */
  async start(): Promise<void> {
    if (this.#folder === '') {
      this.#folder = await mkdtemp(join(tmpdir(), 'florin-service-'));
      await writeFile(join(this.#folder, 'config.json'), JSON.stringify(configOf(this.#options)), {
        mode: 0o600,
      });
      await writeFile(join(this.#folder, 'ca.pem'), this.#options.webhooks.certificateAuthority ?? '');
    }
    const child = spawn(
      process.execPath,
      ['--conditions=source', '--disable-warning=ExperimentalWarning', this.#main],
      {
        env: {
          ...process.env,
          FLORIN_CONFIG: join(this.#folder, 'config.json'),
          FLORIN_LOG_LEVEL: 'warn',
          NODE_EXTRA_CA_CERTS: join(this.#folder, 'ca.pem'),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-20_000);
      });
    }
    this.#child = child;
    // The other roles answer no requests.
    if (this.#options.roles.has('web')) await this.#ready(child);
  }

  async #ready(child: ChildProcess): Promise<void> {
    const end = performance.now() + startLimitMs;
    while (performance.now() < end) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the service ended with ${child.exitCode ?? child.signalCode}: ${this.#output}`);
      try {
        if ((await fetch(`${this.#options.origin}/health/ready`)).ok) return;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      await systemClock.sleep(30);
    }
    throw new Error(`the service did not get ready: ${this.#output}`);
  }

  /** Its number in the system; undefined before the start. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What it has written of late, from warnings on; the processes before a kill included. */
  get output(): string {
    return this.#output;
  }

  /** Whether it runs: it may have ended by itself when its database was away. */
  isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Pauses the process, as a machine that swaps or a hypervisor does, or lets it go on. */
  setPaused(isPaused: boolean): void {
    this.#child?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true });
    this.#folder = '';
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill(signal);
    await ended;
  }
}
