import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@florin/server/operator';
import { findFreePort } from '@florin/world';
import pg from 'pg';

const bin = '/usr/lib/postgresql/15/bin';
const startLimitMs = 120_000;

/** A standby that follows a primary on loopback. */
export interface Standby {
  /** With the role and the database of the primary's URL. */
  readonly url: string;
  /** Whether it replays what it receives. */
  setReplaying(replays: boolean): Promise<void>;
  /** Makes it a primary of its own. */
  promote(): Promise<void>;
  /** Ends it like a power cut. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Copies a primary whose superuser `postgres` needs no password, and follows it. */
export async function startStandby(primaryUrl: string): Promise<Standby> {
  const folder = await mkdtemp('/tmp/florin-standby-');
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  // PostgreSQL refuses to run as root.
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (isRoot) await chown(folder, idOf('-u'), idOf('-g'));
  await chmod(folder, 0o700);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, env: { LC_ALL: 'C.UTF-8', HOME: folder } };
  const source = ['--host=127.0.0.1', `--port=${new URL(primaryUrl).port}`, '--username=postgres'];
  execFileSync(
    join(bin, 'pg_basebackup'),
    [...source, '--write-recovery-conf', '--checkpoint=fast', '--pgdata', data],
    { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const port = await findFreePort();
  const places = [`port=${port}`, `unix_socket_directories=${folder}`, 'archive_mode=off'];
  const server: ChildProcess = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...places.flatMap((place) => ['-c', place])],
    { ...options, stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const ask = (text: string) => askAt(`postgres://postgres@127.0.0.1:${port}/postgres`, text);
  const end = performance.now() + startLimitMs;
  while (
    !(await ask('select pg_is_in_recovery()').then(
      () => true,
      () => false,
    ))
  ) {
    if (performance.now() > end) throw new Error('the standby did not start');
    await systemClock.sleep(100);
  }
  const url = new URL(primaryUrl);
  url.port = String(port);
  const kill = async (signal: NodeJS.Signals) => {
    if (server.exitCode === null && server.signalCode === null) server.kill(signal);
    await ended;
  };
  return {
    url: url.href,
    setReplaying: (replays) => ask(`select pg_wal_replay_${replays ? 'resume' : 'pause'}()`),
    promote: () => ask('select pg_promote()'),
    kill: () => kill('SIGKILL'),
    async close() {
      await kill('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function askAt(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => undefined);
  }
}
