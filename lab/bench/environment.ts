import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, startPostgres } from '@florin/world';
import pg from 'pg';
import { type Server, startServer } from './child.ts';
import type { Effort } from './measure.ts';

/** What every subject works in: a PostgreSQL of its own, free ports, a folder, and an orderly end. */
export interface Environment {
  readonly folder: string;
  readonly effort: Effort;
  /** Where processor profiles of the product go; none are taken when absent. */
  readonly profileFolder: string | undefined;
  readonly log: (line: string) => void;
  /** Starts a limit of `limits/`; it ends with the environment. */
  startLimit(name: string, script: string, environment: Readonly<Record<string, string>>): Promise<Server>;
  /** Makes an empty database and runs `schema` in it; returns its URL. */
  createDatabase(name: string, schema?: string): Promise<string>;
  /** What is to be ended, last first. */
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

/** As docs/runbook/production.md has them for a busy server. */
const walSettings = { max_wal_size: '4GB', min_wal_size: '1GB' };
/** Somewhat more than PostgreSQL writes before it makes a checkpoint by itself with these settings. */
const filledMegabytes = 2_400;
const megabytesAtOnce = 8;

/**
 * A server that has run for a while writes its log over segments of before. A new one makes each of them first, 16 MB of
 * zeros, while every commit waits: limits and product alike would be measured at that.
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

/** Runs `work` in a fresh environment and ends everything that it started, whatever comes of it. */
export async function withEnvironment<Result>(
  options: Pick<Environment, 'log' | 'profileFolder'> & { readonly effort: Omit<Effort, 'postgresPid'> },
  work: (environment: Environment) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-bench-'));
  const ends: (() => Promise<void>)[] = [];
  const endAll = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  // PostgreSQL has a session of its own and would outlive Ctrl-C.
  const interrupt = () => void endAll().finally(() => process.exit(1));
  for (const signal of signals) process.once(signal, interrupt);
  try {
    // Durable as delivered: a commit that has not reached the disk is no commit.
    const postgres = await startPostgres({
      dataFolder: join(folder, 'postgres'),
      isDurable: true,
      mayCreateDatabases: true,
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
