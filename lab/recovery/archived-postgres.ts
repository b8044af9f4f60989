import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@florin/server/operator';
import { findFreePort } from '@florin/world';
import pg from 'pg';
import { backupTools } from './backup-tool.ts';

/** Debian's version, which its pgBackRest knows. */
const bin = '/usr/lib/postgresql/15/bin';
const startLimitMs = 120_000;

/** A PostgreSQL that is backed up, and whose WAL is archived; on loopback. */
export interface ArchivedPostgres {
  /** As the service's role. */
  readonly url: string;
  /** Makes a backup; returns its seconds, and its bytes in the repository. */
  backUp(kind: 'full' | 'incr'): Promise<{ readonly seconds: number; readonly repositoryBytes: number }>;
  /** Ends the server like a power cut, and removes its files: the repository is what is left. */
  destroy(): Promise<void>;
  /** Restores to a moment, and returns when the server takes writes again at the same address. */
  restoreTo(moment: Date): Promise<void>;
  /** What the server says when asked with one statement as its superuser. */
  ask(text: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Installs what is missing, where the process may. */
export function installRecovery(): void {
  if (existsSync('/usr/bin/pgbackrest') && existsSync(bin)) return;
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'pgbackrest', 'postgresql'], {
    stdio: 'inherit',
  });
}

export async function startArchivedPostgres(toolName: keyof typeof backupTools): Promise<ArchivedPostgres> {
  // Short, because the path of a socket has at most 107 characters.
  const folder = await mkdtemp('/tmp/florin-pitr-');
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  // PostgreSQL refuses to run as root.
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (isRoot) await chown(folder, idOf('-u'), idOf('-g'));
  await chmod(folder, 0o700);
  const port = await findFreePort();
  const data = join(folder, 'data');
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C.UTF-8', HOME: folder };
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, {
      ...user,
      env,
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const runBeside = (program: string, ...args: readonly string[]) =>
    finished(spawn(program, args, { ...user, env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }));
  const tool = backupTools[toolName]({ folder, data, port, run, runBeside });
  let server: ChildProcess | undefined;
  const ask = (text: string) => askAt(`postgres://postgres@127.0.0.1:${port}/postgres`, text);
  const start = async () => {
    server = spawn(join(bin, 'postgres'), ['-D', data], { ...user, env, cwd: folder, stdio: 'ignore' });
    const end = performance.now() + startLimitMs;
    for (;;) {
      const rows = await ask('select pg_is_in_recovery() as standby').catch(() => []);
      if (rows[0]?.['standby'] === false) return;
      if (performance.now() > end) throw new Error('PostgreSQL did not start');
      await systemClock.sleep(100);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  run('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--data-checksums');
  writeFileSync(join(data, 'postgresql.auto.conf'), settingsOf(folder, port, tool.archiveCommand));
  await start();
  await ask('create role florin login');
  await ask('create database florin owner florin');
  tool.prepare();
  return {
    url: `postgres://florin@127.0.0.1:${port}/florin`,
    async backUp(kind) {
      const begin = performance.now();
      const repositoryBytes = await tool.backUp(kind);
      return { seconds: Math.round((performance.now() - begin) / 100) / 10, repositoryBytes };
    },
    async destroy() {
      await end('SIGKILL');
      // Its backends notice that the postmaster is gone.
      await systemClock.sleep(2_000);
      await rm(data, { recursive: true, force: true });
    },
    async restoreTo(moment) {
      tool.restoreTo(moment);
      await start();
    },
    ask,
    async close() {
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function finished(child: ChildProcess): Promise<void> {
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`the backup ended with ${code}`);
}

async function askAt(connectionString: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function settingsOf(folder: string, port: number, archiveCommand: string): string {
  return [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    'max_connections = 150',
    'archive_mode = on',
    `archive_command = '${archiveCommand}'`,
    // What is lost with the machine, at most; the runbook has 60 s.
    "archive_timeout = '5s'",
    '',
  ].join('\n');
}
