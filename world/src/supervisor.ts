import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActWorld } from './acts/act-world.ts';
import { ActQueue } from './acts/acts.ts';
import { openWebhookReceiver } from './acts/webhook-receiver.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { Children } from './children.ts';
import { type Console, RECEIVER_PATH, startConsole } from './console/console-server.ts';
import { LiveReader } from './console/live.ts';
import { type ChainDeployment, deployWorld } from './deployment.ts';
import { deriveRoles, portOf, WorldHome, type WorldKeys, type WorldPorts, type WorldRoles } from './home.ts';
import { type LocalAttester, startLocalAttester } from './local-attester.ts';
import { type LocalChain, localChains } from './local-chain.ts';
import { planLocalCircle } from './local-circle.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { hasOwnDatabase, type OwnDatabaseOptions, openOwnDatabase } from './own-database.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { Revivals } from './revivals.ts';
import { type Seed, type SeedWorld, seedWorld } from './seed.ts';
import { type ServiceChild, startServiceChild } from './service.ts';
import { advanceChains, alignChains } from './world-clock.ts';
import {
  composeConfig,
  composeManifest,
  composeOrigin,
  type WorldConfig,
  type WorldManifest,
} from './world-config.ts';
import { findHolder, type LockHolder, takeLock, type WorldLock } from './world-lock.ts';
import { choosePorts } from './world-ports.ts';

/** The start options of a world. */
export interface LocalWorldOptions {
  /** The data folder. */
  readonly home: string;
  /** Loopback port of the service; the last start's, or 4000, when absent. The next free one when it is taken. */
  readonly port?: number | undefined;
  /** A PostgreSQL server in place of the world's own; see {@link openOwnDatabase}. */
  readonly serverUrl?: string | undefined;
  /** Gets each line that the person at the terminal should see. */
  readonly log: (line: string) => void;
  /** Stops this world, deletes its data and starts another. */
  readonly onReset: () => void;
  /** The service's program and the seeding; tests replace them. */
  readonly serviceScript?: string;
  readonly seed?: SeedWorld;
}

/** The home is in use: another process runs this world, or is starting or stopping it. */
export class WorldIsRunning extends Error {
  readonly holder: LockHolder;
  constructor(holder: LockHolder) {
    super(`This world is already running at ${holder.origin} (pid ${holder.pid}).`);
    this.name = 'WorldIsRunning';
    this.holder = holder;
  }
}

const LOCK_PATIENCE_MS = 30_000;
/** A manifest that stays this long belongs to a running world, not to one whose launcher was just killed. */
const SETTLED_AFTER_MS = 700;

/**
 * A local world: Postgres, local chains with their contracts, the service and a demo merchant. Runs until stopped,
 * restarts processes that end unexpectedly, and keeps everything in its home.
 */
export class LocalWorld {
  readonly #options: LocalWorldOptions;
  readonly #home: WorldHome;
  readonly #children: Children;
  readonly #chains: Anvil[] = [];
  #postgres: Postgres | undefined;
  #databaseUrl = '';
  #port = 0;
  #service: ServiceChild | undefined;
  #attester: LocalAttester | undefined;
  #console: Console | undefined;
  #mailbox: Mailbox | undefined;
  #clockOffsetSeconds = 0;
  #configPath: string;
  #isStopping = false;
  #starting: Promise<WorldManifest> | undefined;
  #stopping: Promise<void> | undefined;
  #lock: WorldLock | undefined;
  readonly #revivals: Revivals;

  constructor(options: LocalWorldOptions) {
    this.#options = options;
    this.#home = new WorldHome(options.home);
    this.#children = new Children(this.#home);
    this.#revivals = new Revivals(options.log);
    this.#configPath = this.#home.path('config.json');
  }

  /** Starts the world; throws {@link WorldIsRunning} when it already runs. A failed start leaves no process. */
  async start(): Promise<WorldManifest> {
    await this.#takeLock();
    this.#starting = this.#startInOrder();
    try {
      return await this.#starting;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends everything in order: service, chains, Postgres. May be called at any time, even during the start. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#revivals.stop();
    this.#stopping ??= this.#stopInOrder();
    return this.#stopping;
  }

  async #takeLock(): Promise<void> {
    const deadline = performance.now() + LOCK_PATIENCE_MS;
    let readySince: number | undefined;
    for (;;) {
      this.#lock = await takeLock(this.#home.folder);
      if (this.#lock !== undefined) return;
      this.#continue();
      // A starting world becomes ready and a stopping one ends, so both are worth a wait.
      const now = performance.now();
      const holder = findHolder(this.#home.folder);
      readySince = this.#home.read('world.json') === undefined ? undefined : (readySince ?? now);
      const isSettled = readySince !== undefined && now - readySince > SETTLED_AFTER_MS;
      if (holder !== undefined && (isSettled || now > deadline)) throw new WorldIsRunning(holder);
      if (now > deadline) throw new Error('An unidentified process holds the lock of this world.');
      await sleep(50);
    }
  }

  #continue(): void {
    if (this.#isStopping) throw new Error('The start was stopped.');
  }

  async #step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    this.#continue();
    const begin = performance.now();
    const result = await work();
    const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
    this.#options.log(`  ✓ ${name.padEnd(12)}${seconds} s`);
    return result;
  }

  async #startInOrder(): Promise<WorldManifest> {
    this.#home.remove('world.json');
    await this.#children.reap(this.#options.log);
    // A reset that was interrupted is finished.
    if (this.#home.readDatabase()?.state === 'stale') this.#home.clear();
    const ports = await this.#choosePorts();
    this.#children.watch();
    const keys = this.#home.keepKeys();
    const roles = deriveRoles(keys.mnemonic);
    const kept = this.#home.read<Record<string, ChainDeployment>>('deployment.json');
    await this.#settleAll([
      this.#step('postgres', () => this.#openDatabase(portOf(ports, 'postgres'))),
      ...localChains.map((chain) =>
        this.#step(chain.name, () =>
          this.#startChain(chain, portOf(ports, chain.name), keys, kept === undefined),
        ),
      ),
    ]);
    const deployments = kept ?? (await this.#step('contracts', () => this.#deploy(roles)));
    const attester = await this.#startAttester(roles);
    const consoleUrl = composeOrigin(portOf(ports, 'console'));
    this.#clockOffsetSeconds = await alignChains(this.#chains);
    const mailbox = await this.#startMailbox(portOf(ports, 'mailbox'));
    const config = this.#writeConfig(keys, roles, deployments, {
      ...{ attestationUrl: attester.url, consoleUrl, smtpPort: mailbox.port },
    });
    await this.#step('service', () => this.#startService());
    const seed =
      this.#home.read<Seed>('seed.json') ?? (await this.#step('merchant', () => this.#seed(roles)));
    this.#continue();
    const control = {
      ...{ console: consoleUrl, mailbox: `${consoleUrl}/mailbox`, controlToken: keys.controlToken },
    };
    const manifest = composeManifest(config, seed, roles, control);
    await this.#startConsole(portOf(ports, 'console'), manifest, { config, roles, mailbox });
    this.#home.write('world.json', manifest);
    return manifest;
  }

  async #startConsole(
    port: number,
    manifest: WorldManifest,
    parts: { readonly config: WorldConfig; readonly roles: WorldRoles; readonly mailbox: Mailbox },
  ): Promise<void> {
    const { config, roles, mailbox } = parts;
    const receiver = openWebhookReceiver(`${manifest.console}${RECEIVER_PATH}`);
    const world: ActWorld = {
      ...{ manifest, roles, receiver, chains: this.#chains, reset: this.#options.onReset },
      clockOffsetSeconds: () => this.#clockOffsetSeconds,
      advance: (seconds) => this.#advance(seconds, config),
      killService: () => {
        this.#service?.kill();
        return this.#service?.pid ?? 0;
      },
    };
    const acts = new ActQueue(world);
    const logFile = this.#home.path('service.log');
    const live = new LiveReader({ ...world, acts, logFile, mailbox });
    this.#console = await startConsole({
      ...{ port, token: manifest.controlToken, manifest, acts, receiver, live, mailbox },
    });
  }

  /** Moves chains and service on. The chains first: a block ahead of the service is usual, and one far behind is not. */
  async #advance(seconds: number, config: WorldConfig): Promise<void> {
    await advanceChains(this.#chains, seconds);
    this.#clockOffsetSeconds += seconds;
    // For a service that starts again.
    this.#home.write('config.json', { ...config, clockOffsetSeconds: this.#clockOffsetSeconds });
    await this.#service?.setClockOffset(this.#clockOffsetSeconds);
  }

  /** Like Promise.all, but waits for all before it fails, so that stop finds everything that started. */
  async #settleAll(works: readonly Promise<unknown>[]): Promise<unknown[]> {
    const results = await Promise.allSettled(works);
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  async #choosePorts(): Promise<WorldPorts> {
    const unused = hasOwnDatabase(this.#database) ? ['postgres'] : [];
    const { log, port: asked } = this.#options;
    const { port, ports } = await choosePorts({ home: this.#home, asked, unused, log });
    this.#port = port;
    this.#lock?.record(composeOrigin(port));
    return ports;
  }

  get #database(): OwnDatabaseOptions {
    return { home: this.#home, serverUrl: this.#options.serverUrl };
  }

  async #openDatabase(port: number): Promise<void> {
    this.#databaseUrl = hasOwnDatabase(this.#database)
      ? await openOwnDatabase(this.#database)
      : (await this.#startPostgres(port)).url;
  }

  async #startPostgres(port: number): Promise<Postgres> {
    const postgres = await startPostgres({
      dataFolder: this.#home.path('postgres'),
      port,
      log: this.#options.log,
    });
    this.#postgres = postgres;
    this.#children.note('postgres', postgres.pid);
    this.#revivals.watch('postgres', postgres.exited, async () => {
      await this.#startPostgres(port);
    });
    return postgres;
  }

  async #startChain(
    { name, chainId }: LocalChain,
    port: number,
    keys: WorldKeys,
    isNew: boolean,
  ): Promise<Anvil> {
    const chain = await startAnvil({
      ...{ name, chainId, port, mnemonic: keys.mnemonic, log: this.#options.log },
      stateFolder: this.#home.path('chains', name),
      // Set-up mines its own few blocks; the clock starts after it.
      mining: isNew ? 'manual' : { seconds: 1 },
      onProcess: (pid) => this.#children.note(name, pid),
    });
    this.#chains.push(chain);
    return chain;
  }

  async #deploy(roles: WorldRoles): Promise<Record<string, ChainDeployment>> {
    const entries = await this.#settleAll(
      this.#chains.map(async (chain) => [chain.name, await deployWorld(chain, roles)] as const),
    );
    const deployments = Object.fromEntries(entries as [string, ChainDeployment][]);
    this.#home.write('deployment.json', deployments);
    await Promise.all(this.#chains.map((chain) => chain.setMining({ seconds: 1 })));
    return deployments;
  }

  /** The simulated attestation service of this world; in this process, because it has no state. */
  async #startAttester(roles: WorldRoles): Promise<LocalAttester> {
    this.#continue();
    const { transmitter, settings } = planLocalCircle(roles);
    const chains = this.#chains.flatMap((chain) => {
      const domain = settings.domains.find(({ chainId }) => chainId === chain.chainId)?.domain;
      const request = (method: string, params: readonly unknown[]) => chain.rpc(method, [...params]);
      return domain === undefined ? [] : [{ domain, request }];
    });
    const { privateKey } = roles.attester;
    this.#attester = await startLocalAttester({ privateKey, transmitter, chains });
    return this.#attester;
  }

  /** In this process, because it keeps e-mails in memory alone. */
  async #startMailbox(port: number): Promise<Mailbox> {
    this.#continue();
    const now = (): Date => new Date(Date.now() + this.#clockOffsetSeconds * 1_000);
    this.#mailbox = await startMailbox({ port, now });
    return this.#mailbox;
  }

  #writeConfig(
    keys: WorldKeys,
    roles: WorldRoles,
    deployments: Record<string, ChainDeployment>,
    parts: { readonly attestationUrl: string; readonly consoleUrl: string; readonly smtpPort: number },
  ): WorldConfig {
    const chains = localChains.map(({ name, chainId }) => {
      const chain = this.#chains.find((candidate) => candidate.name === name);
      const deployment = deployments[name];
      if (chain === undefined || deployment === undefined)
        throw new Error(`The chain ${name} is incomplete.`);
      return { name, chainId, rpcUrl: chain.rpcUrl, deployment };
    });
    const config = composeConfig({
      port: this.#port,
      databaseUrl: this.#databaseUrl,
      imageFolder: resolve(this.#home.path('images')),
      ...parts,
      clockOffsetSeconds: this.#clockOffsetSeconds,
      chains,
      roles,
      keys,
    });
    this.#home.write('config.json', config);
    return config;
  }

  async #startService(): Promise<void> {
    const { serviceScript } = this.#options;
    const service = startServiceChild({
      ...{
        configPath: this.#configPath,
        origin: composeOrigin(this.#port),
        logFile: this.#home.path('service.log'),
      },
      ...(serviceScript === undefined ? {} : { script: serviceScript }),
    });
    this.#service = service;
    this.#children.note('service', service.pid);
    try {
      await service.waitUntilReady(() => this.#isStopping);
    } catch (error) {
      await service.stop();
      throw error;
    }
    this.#revivals.watch('service', service.exited, () => this.#startService());
  }

  async #seed(roles: WorldRoles): Promise<Seed> {
    const work = this.#options.seed ?? seedWorld;
    const seed = await work({
      databaseUrl: this.#databaseUrl,
      configPath: this.#configPath,
      origin: composeOrigin(this.#port),
      collectionAddress: roles.merchant.address,
    });
    this.#home.write('seed.json', seed);
    return seed;
  }

  async #stopInOrder(): Promise<void> {
    // The steps below see starting children only once their start has settled.
    await this.#starting?.catch(() => undefined);
    await this.#revivals.settle();
    if (this.#lock === undefined) return;
    this.#home.remove('world.json');
    const failures: unknown[] = [];
    for (const stopAll of [
      () => [this.#console?.close()],
      () => [this.#service?.stop()],
      () => [this.#attester?.close(), this.#mailbox?.close()],
      () => this.#chains.map((chain) => chain.stop()),
      () => [this.#postgres?.stop()],
    ]) {
      const results = await Promise.allSettled(stopAll());
      failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
    }
    this.#children.forget();
    await this.#lock.release();
    if (failures.length > 0) throw new AggregateError(failures, 'Some processes could not be stopped.');
  }
}
