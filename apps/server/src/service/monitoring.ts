import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { type Database, openDatabase } from '@florin/pg';
import { schema } from '#db/schema.ts';
import type { Readiness } from '#http/health.ts';
import type { Clock } from '#outside/clock.ts';
import { foreignUseGauges, readForeignUse } from '#reconcile/foreign-use.ts';
import { gaugesOf, installationGauges } from '#reconcile/gauges.ts';
import { readHealth, readWallets } from '#reconcile/health.ts';
import { nodeGauges, readNodeLag, readWork, workGauges } from '#reconcile/work-gauges.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { ServiceOptions } from './options.ts';
import { protectionGauges, readBackupAge, readCapUse } from './protection-gauges.ts';
import type { Rooms } from './rooms.ts';
import { sendingWallets } from './sending-wallets.ts';

export interface Monitor {
  /** Where it answers. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Answers GET /health/live, /health/ready and /metrics on an address of their own, in every role. It belongs into a private
 * network: metrics show balances. `leader` is this process's name as a watcher; undefined in other roles.
 */
export async function monitor(
  options: ServiceOptions & { readonly monitoring: NonNullable<ServiceOptions['monitoring']> },
  rooms: Rooms & { readonly leader: string | undefined },
  ready: () => Promise<Readiness>,
): Promise<Monitor> {
  const { metrics, monitoring, log } = options;
  const pages: Record<string, () => Promise<Page>> = {
    '/health/live': async () => jsonPage(200, { status: 'ok' }),
    '/health/ready': async () => {
      const state = await ready();
      return jsonPage(state.ready ? 200 : 503, {
        status: state.ready ? 'ready' : 'not_ready',
        checks: state.checks,
      });
    },
  };
  const own = metrics && openOwn(options);
  if (metrics !== undefined && own !== undefined) {
    addReaders(metrics, options, { ...rooms, own });
    pages['/metrics'] = async () => {
      const { contentType, text } = await metrics.render();
      return { status: 200, contentType, text };
    };
  }
  const pageOf = async ({ method, url = '' }: IncomingMessage): Promise<Page> => {
    if (method !== 'GET' && method !== 'HEAD') return jsonPage(405, { status: 'method_not_allowed' });
    const path = url.split('?', 1)[0] ?? '';
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return jsonPage(404, { status: 'not_found' });
    try {
      return await page();
    } catch (error) {
      // Without its database a process shows no half of its state: Prometheus then says that it is down.
      log.warn('monitoring.unanswered', { reason: error instanceof Error ? error.message : String(error) });
      return jsonPage(503, { status: 'unavailable' });
    }
  };
  // Node's own server: watchers and workers need no other, and the web's takes some megabytes.
  const server = createServer((request, response) => {
    void pageOf(request).then(({ status, contentType, text }) => {
      response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
    });
  });
  server.listen(monitoring.port, monitoring.host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : monitoring.port;
  const host = isIPv6(monitoring.host) ? `[${monitoring.host}]` : monitoring.host;
  return {
    address: `http://${host}:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await own?.close();
    },
  };
}

interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

function jsonPage(status: number, body: object): Page {
  return { status, contentType: 'application/json; charset=utf-8', text: JSON.stringify(body) };
}

const poolGauge = {
  name: 'florin_database_connections',
  help: 'Connections of the pool: open, idle, and callers that wait for one.',
  labels: ['state'],
} as const;

/**
 * The page's own connection. In the pool its statements would count as callers that wait, and when the pool is busy, the page
 * would be late: Prometheus would say that the process is down.
 */
function openOwn({ databaseUrl, log }: ServiceOptions): Database {
  return openDatabase({
    ...{ schema, url: databaseUrl, connections: 1 },
    onError: (error) => log.warn('database.connection_lost', { message: error.message }),
  });
}

function addReaders(
  metrics: Metrics,
  options: ServiceOptions,
  {
    db: pool,
    own: db,
    rpcOf,
    leader,
  }: Rooms & { readonly own: Database; readonly leader: string | undefined },
): void {
  const { chains, clock } = options;
  metrics.addReader([poolGauge], async () =>
    Object.entries(pool.poolState()).map(([state, value]) => ({
      gauge: poolGauge.name,
      labels: { state },
      value,
    })),
  );
  const backups = options.monitoring?.backups;
  const wallets = sendingWallets(options);
  const recentCapUse = recently(clock, () => readCapUse(chains, rpcOf, AbortSignal.timeout(capLimitMs)));
  metrics.addReader(protectionGauges, async () => [
    ...((await recentCapUse()) ?? []),
    ...(backups === undefined ? [] : [await readBackupAge(backups, clock.now())]),
  ]);
  const read = { chains, clock, rpcOf, wallets };
  const recentForeignUse = recently(clock, () => readForeignUse(db, read));
  metrics.addReader(foreignUseGauges, async () => (await recentForeignUse()) ?? []);
  const recentNodes = recently(clock, () => readNodeLag(chains, rpcOf));
  metrics.addReader(nodeGauges, async () => (await recentNodes()) ?? []);
  metrics.addReader(workGauges, () => readWork(db, chains, leader));
  const recentWallets = recently(clock, () => readWallets(db, read));
  metrics.addReader(installationGauges, async () => {
    const [health, report = unknownWallets] = await Promise.all([
      readHealth(db, { chains, clock }),
      recentWallets(),
    ]);
    return gaugesOf(health, report, clock.now());
  });
}

const unknownWallets = { wallets: [], vaults: [] };
/** A node that hangs keeps the caps unknown for so long. */
const capLimitMs = 10_000;
/** Prometheus gives up after some seconds, and a node that hangs is given ten. */
const longestWaitMs = 500;

/**
 * Reads anew, and gives what the read before found when that takes long: the page must not wait for a node. Undefined while
 * nothing is known.
 */
function recently<T>(clock: Clock, read: () => Promise<T>): () => Promise<T | undefined> {
  let known: T | undefined;
  let reading: Promise<void> | undefined;
  const readAnew = async () => {
    try {
      known = await read();
    } catch {
      // Its database is away, which the page says by itself.
      known = undefined;
    }
    reading = undefined;
  };
  return async () => {
    reading ??= readAnew();
    await Promise.race([reading, clock.sleep(longestWaitMs)]);
    return known;
  };
}
