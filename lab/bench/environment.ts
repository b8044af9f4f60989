import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, startPostgres } from '@florin/world';
import pg from 'pg';
import { type Server, startServer } from './child.ts';
import type { LoadProfile } from './measure.ts';

/** The environment of every subject: its own PostgreSQL, free ports, a folder, and cleanup. */
export interface BenchEnvironment {
  readonly folder: string;
  readonly effort: LoadProfile;
  /** The folder for processor profiles of the product. Absent: no profiles. */
  readonly profileFolder: string | undefined;
  readonly log: (line: string) => void;
  /** Starts a limit of `limits/`. It ends with the environment. */
  startLimit(name: string, script: string, environment: Readonly<Record<string, string>>): Promise<Server>;
  /** Creates an empty database, runs `schema` in it and returns its URL. */
  createDatabase(name: string, schema?: string): Promise<string>;
  /** Registers a cleanup. The last one runs first. */
  onEnd(end: () => Promise<void>): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** The settings of docs/runbook/production.md for a busy server. */
const walSettings = { max_wal_size: '4GB', min_wal_size: '1GB' };
/** Slightly more than PostgreSQL writes before these settings cause a checkpoint. */
const filledMegabytes = 2_400;
const megabytesAtOnce = 8;

/**
 * A server that has run for a while reuses old WAL segments. A new server first writes each segment, 16 MB of zeros,
 * while every commit waits. Without this step, the bench would measure that for limits and product alike.
 */
async function fillWal(url: string): Promise<void> {
  const message = `select pg_logical_emit_message(false, 'bench', repeat('x', ${megabytesAtOnce * 1_000_000}))`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let filled = 0; filled < filledMegabytes; filled += megabytesAtOnce) await client.query(message);
  } finally {
    await client.end();
  }
}

/** Runs `work` in a new environment and cleans up in every case. */
export async function withEnvironment<Result>(
  options: Pick<BenchEnvironment, 'log' | 'profileFolder'> & {
    readonly effort: Omit<LoadProfile, 'postgresPid'>;
  },
  work: (environment: BenchEnvironment) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-bench-'));
  const ends: (() => Promise<void>)[] = [];
  const endAll = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  // PostgreSQL has its own session and would survive Ctrl-C.
  const interrupt = () => void endAll().finally(() => process.exit(1));
  for (const signal of signals) process.once(signal, interrupt);
  try {
    // PostgreSQL's default durability: a commit counts only once it is on the disk.
    const postgres = await startPostgres({
      dataFolder: join(folder, 'postgres'),
      isDurable: true,
      settings: walSettings,
    });
    ends.push(postgres.stop);
    await fillWal(postgres.url);
    return await work({
      ...options,
      folder,
      effort: { ...options.effort, postgresPid: postgres.pid },
      async startLimit(name, script, environment) {
        const port = await findFreePort();
        const server = await startServer({
          ...{ name, port, script: `./limits/${script}`, logFile: join(folder, `${script}.log`) },
          environment: { ...environment, LIMIT_PORT: String(port) },
        });
        ends.push(server.stop);
        return server;
      },
      async createDatabase(name, schema = '') {
        await execute(postgres.url, `create database ${name}`);
        const url = new URL(postgres.url);
        url.pathname = `/${name}`;
        if (schema !== '') await execute(url.href, schema);
        return url.href;
      },
      onEnd: (end) => ends.push(end),
    });
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupt);
    await endAll();
  }
}
