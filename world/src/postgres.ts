import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, isPortFree, LOOPBACK } from './port.ts';
import { type Identity, placeCluster, preparePostgresBundle } from './postgres-files.ts';
import { ensureServiceRole, SERVICE_ROLE } from './postgres-role.ts';
import { describeProcess, endProcess, type ProcessExit } from './process.ts';
import { readStartLimit } from './start-limit.ts';

/** A running Postgres server. */
export interface Postgres {
  /** Connection URL of the database `florin` as its owner, an ordinary role, with the password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<ProcessExit>;
  /** Ends the server: fast shutdown, then immediate, then SIGKILL. */
  stop(): Promise<void>;
}

/** The start options of Postgres. */
export interface PostgresOptions {
  /** Holds the cluster, its password and its log; created when missing. One server at a time. */
  readonly dataFolder: string;
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  /** Gets one sentence about anything unusual. */
  readonly log?: (line: string) => void;
  /** False trades safety at a power cut for speed, for throw-away test databases. */
  readonly isDurable?: boolean;
  /** Further server settings by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

const composeEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  TZ: 'UTC',
});

const SUPERUSER = 'florin';
const DATABASE = 'florin';
const STOP_STEPS = [
  ['SIGINT', 8_000],
  ['SIGQUIT', 2_000],
  ['SIGKILL', 5_000],
] as const;
/** The children of a killed server hold its memory until they notice, which is soon. */
const REMAINS_MESSAGE = 'pre-existing shared memory block';
const REMAINS_LIMIT_MS = 20_000;
/** Parallel queries need space here; containers often have 64 MB or none. */
const SHARED_MEMORY_FLOOR_BYTES = 16 * 1024 * 1024;

interface Cluster {
  readonly folder: string;
  readonly bundle: string;
  readonly identity: Identity | undefined;
  readonly password: string;
}

const run = async (cluster: Cluster, program: string, args: string[], input = ''): Promise<void> => {
  const child = spawn(join(cluster.bundle, 'bin', program), args, {
    cwd: '/',
    env: composeEnvironment(),
    ...cluster.identity,
  });
  let said = '';
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (part: Buffer) => {
      said += part.toString();
    });
  }
  // A program that fails early closes its input; its exit code says more than the broken pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} failed: ${said.trim()}`);
};

/** Builds the cluster in a temporary folder and moves it last, so that a killed start leaves no half cluster. */
const createCluster = async (cluster: Cluster, dataFolder: string): Promise<void> => {
  const draft = `${cluster.folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const passwordFile = `${cluster.folder}.password`;
  writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  if (cluster.identity !== undefined) {
    chownSync(draft, cluster.identity.uid, cluster.identity.gid);
    chownSync(passwordFile, cluster.identity.uid, cluster.identity.gid);
  }
  const collation = [
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--encoding=UTF8',
  ];
  const access = ['--username', SUPERUSER, '--auth=scram-sha-256', '--pwfile', passwordFile];
  // A thousand files are synced after the start, because that takes ten seconds on a busy disk.
  await run(cluster, 'initdb', ['-D', draft, ...access, ...collation, '--no-sync', '--no-instructions']);
  rmSync(passwordFile);
  const settings = ['-c', 'log_min_messages=fatal', '-c', 'fsync=off'];
  await run(
    cluster,
    'postgres',
    ['--single', '-D', draft, ...settings, 'postgres'],
    `create database ${DATABASE}\n`,
  );
  renameSync(draft, cluster.folder);
  if (cluster.folder !== join(dataFolder, 'cluster')) {
    writeFileSync(join(dataFolder, 'location'), `${cluster.folder}\n`);
  }
};

/** Syncs a new cluster to disk while it is already in use; its own log is on disk at each commit anyway. */
const syncCluster = (cluster: Cluster, log: (line: string) => void): Promise<void> =>
  run(cluster, 'initdb', ['--sync-only', '-D', cluster.folder]).catch((error: unknown) => {
    log(
      `postgres: its files are not surely on the disk: ${error instanceof Error ? error.message : String(error)}`,
    );
  });

const keepPassword = (dataFolder: string, isNew: boolean): string => {
  const path = join(dataFolder, 'password');
  if (!isNew || existsSync(path)) return readFileSync(path, 'utf8').trim();
  const password = randomBytes(24).toString('hex');
  writeFileSync(path, `${password}\n`, { mode: 0o600, flush: true });
  return password;
};

/**
 * Cleans up after a SIGKILLed start: a server that still runs, and the pid file, whose number may belong to an
 * unrelated process now. The working folder would identify it better than the command line, but a container's root may
 * be unable to read another user's process.
 */
const clearRemains = async (folder: string, log: (line: string) => void): Promise<void> => {
  const pidFile = join(folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const server = describeProcess(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
  if (server?.commandLine.includes(`postgres -D ${folder} `) === true) {
    log(`postgres: ends the server ${server.pid} that an earlier start left running.`);
    await endProcess(server, STOP_STEPS);
  }
  rmSync(pidFile, { force: true });
};

const chooseSharedMemory = (): 'posix' | 'mmap' => {
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= SHARED_MEMORY_FLOOR_BYTES ? 'posix' : 'mmap';
  } catch {
    // Without this device, files in the cluster do the same, slightly slower.
    return 'mmap';
  }
};

const composeSettings = (port: number, options: PostgresOptions): string[] => {
  const isDurable = options.isDurable ?? true;
  const settings: Record<string, string> = {
    listen_addresses: LOOPBACK,
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    dynamic_shared_memory_type: chooseSharedMemory(),
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    fsync: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
    synchronous_commit: isDurable ? 'on' : 'off',
    log_checkpoints: 'off',
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
};

/** Postgres writes its readiness into its pid file, which is more reliable than connection attempts. */
const isReady = (folder: string, pid: number): boolean => {
  const pidFile = join(folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return false;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
};

const readTail = (path: string): string =>
  readFileSync(path, 'utf8').trim().split('\n').slice(-12).join('\n');

const launch = async (cluster: Cluster, port: number, options: PostgresOptions): Promise<Postgres> => {
  const logFile = join(options.dataFolder, 'postgres.log');
  // A file rather than a pipe: the server outlives us when we are killed, and a closed pipe must not end it.
  const output = openSync(logFile, 'a', 0o600);
  const child = spawn(
    join(cluster.bundle, 'bin', 'postgres'),
    ['-D', cluster.folder, ...composeSettings(port, options)],
    {
      cwd: '/',
      env: composeEnvironment(),
      stdio: ['ignore', output, output],
      // Its own session: Ctrl-C reaches only us, and we stop processes in order.
      detached: true,
      ...cluster.identity,
    },
  );
  closeSync(output);
  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).then((value) => {
    exit = value;
    return value;
  });
  const { pid } = child;
  if (pid === undefined) throw await exited.then(() => new Error('Postgres did not start.'));
  const limit = readStartLimit();
  const deadline = performance.now() + limit.ms;
  while (!isReady(cluster.folder, pid)) {
    if (exit !== undefined) throw new Error(`Postgres ended at its start:\n${readTail(logFile)}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`Postgres ${limit.sentence}:\n${readTail(logFile)}`);
    }
    await sleep(10);
  }
  const stop = async (): Promise<void> => {
    const record = describeProcess(pid);
    if (exit === undefined && record !== undefined) await endProcess(record, STOP_STEPS);
    await exited;
  };
  const urlOf = (role: string) => `postgres://${role}:${cluster.password}@${LOOPBACK}:${port}/${DATABASE}`;
  const { password } = cluster;
  await ensureServiceRole(urlOf(SUPERUSER), { password }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const url = urlOf(SERVICE_ROLE);
  return { url, port, pid, exited, stop };
};

const launchAfterRemains = async (
  cluster: Cluster,
  port: number,
  options: PostgresOptions,
): Promise<Postgres> => {
  const deadline = performance.now() + REMAINS_LIMIT_MS;
  for (;;) {
    try {
      return await launch(cluster, port, options);
    } catch (error) {
      const isWaiting = error instanceof Error && error.message.includes(REMAINS_MESSAGE);
      if (!isWaiting || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
};

/**
 * Starts the embedded PostgreSQL 18 on loopback and returns when it accepts connections. Creates the cluster at first
 * use, takes over after a SIGKILLed server, never runs as root.
 */
export const startPostgres = async (options: PostgresOptions): Promise<Postgres> => {
  const log = options.log ?? (() => undefined);
  const { clusterFolder: folder, identity } = placeCluster(options.dataFolder);
  const isNew = !existsSync(folder);
  const bundle = preparePostgresBundle(identity);
  const password = keepPassword(options.dataFolder, isNew);
  const cluster: Cluster = { folder, bundle, identity, password };
  if (isNew) await createCluster(cluster, options.dataFolder);
  else await clearRemains(folder, log);
  const port = options.port ?? (await findFreePort());
  if (!(await isPortFree(port))) {
    throw new Error(`Port ${port} is taken by another program; Postgres needs it.`);
  }
  const server = await launchAfterRemains(cluster, port, options);
  if (!isNew || options.isDurable === false) return server;
  const synced = syncCluster(cluster, log);
  return {
    ...server,
    async stop() {
      await server.stop();
      await synced;
    },
  };
};
