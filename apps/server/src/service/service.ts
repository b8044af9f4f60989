import { newHeads, runWatcher } from '@florin/evm';
import { timelineWatch } from '#backup/timeline.ts';
import type { Chain, ChainConditions } from '#chains/chain.ts';
import { conditionKeeper } from '#chains/condition.ts';
import { logSourceOf } from '#contracts/log-source.ts';
import type { Readiness } from '#http/health.ts';
import { buildServer } from '#http/server.ts';
import { invitedTeller, mailNotifier, ownerTeller, personTeller } from '#mail/notify.ts';
import { nameProcess } from '#outside/process-name.ts';
import { secretBox } from '#outside/secret-box.ts';
import { doorsOf, offeredGasless } from './doors.ts';
import { withTraces } from './follow.ts';
import { withMetrics } from './measure.ts';
import { monitor } from './monitoring.ts';
import type { ServiceOptions } from './options.ts';
import { openRooms, type Rooms } from './rooms.ts';
import { work } from './work.ts';

/** A running service. */
export interface Service {
  /** Rejects when a loop has ended by a bug: the process should then end and be restarted. */
  readonly failed: Promise<never>;
  /** Where this machine answers HTTP; undefined without the role web. */
  readonly address: string | undefined;
  /** Where this process tells its health and its metrics; undefined where the options name no place. */
  readonly monitoring: string | undefined;
  /** Ends requests and loops in order, then closes connections. */
  stop(): Promise<void>;
}

/**
 * Wires the service by hand and starts its roles. Everything from outside (time, randomness, network, keys) comes from the
 * options or is opened here.
 */
export async function startService(given: ServiceOptions): Promise<Service> {
  const options = await withTraces(withMetrics(withMail(given)));
  const { roles, monitoring } = options;
  const ending = new AbortController();
  const rooms = openRooms(options);
  const web = roles.has('web') ? await answer(options, rooms, ending.signal) : undefined;
  const ready = () => readiness(options, rooms, web?.conditions);
  const chains = web === undefined ? options.chains : { ...options.chains, conditions: web.conditions };
  const monitoringPort = monitoring && (await monitor({ ...options, chains, monitoring }, rooms, ready));
  const timeline = timelineWatch({ ...options, db: rooms.db });
  // Before anything is settled: the database may be an older one.
  if (roles.has('worker')) await timeline.check();
  const loops = [
    options.verification.run(ending.signal),
    ...(web?.loops ?? []),
    ...(roles.has('watcher') ? watch(options, rooms, ending.signal) : []),
    ...(roles.has('worker') ? [timeline.run(ending.signal), ...work(options, rooms, ending.signal)] : []),
  ];
  return {
    failed: firstFailure(loops),
    address: web?.address,
    monitoring: monitoringPort?.address,
    async stop() {
      await web?.close();
      await monitoringPort?.close();
      ending.abort();
      await Promise.allSettled(loops);
      await rooms.close();
      await options.traces?.close();
    },
  };
}

/** Without a mail server nothing stores e-mails. */
function withMail(options: ServiceOptions): ServiceOptions {
  const { smtp, random, masterKeys } = options;
  if (smtp === undefined) return options;
  const deps = { random, secrets: secretBox(masterKeys) };
  return {
    ...options,
    notify: mailNotifier(deps),
    tellPerson: personTeller(deps),
    tellInvited: invitedTeller(deps),
    tellOwners: ownerTeller(deps),
  };
}

function firstFailure(loops: readonly Promise<void>[]): Promise<never> {
  const failure = new Promise<never>((_resolve, reject) => {
    for (const loop of loops) loop.catch(reject);
  });
  // The starter decides what a failure means; an unread failure must not crash the process.
  failure.catch(() => undefined);
  return failure;
}

interface WebRole {
  readonly address: string;
  readonly loops: readonly Promise<void>[];
  readonly conditions: ChainConditions;
  close(): Promise<void>;
}

/** The role web: listens for HTTP. */
async function answer(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<WebRole> {
  const { clock, log, random, origin, chains, verification, http } = options;
  const { db, rpcOf } = rooms;
  const keeper = conditionKeeper({ chains: chains.all, verification, rpcOf, db, clock, log });
  // Known before the first request, so that no payment begins that could not be paid out.
  await keeper.refresh(signal);
  const { gasless, loop } = offeredGasless(options, db, signal);
  const offering = { ...options, gasless, chains: { ...chains, conditions: keeper.conditions } };
  const server = await buildServer({
    ...{ log, random, origin, trustedProxies: http.trustedProxies },
    ...{ displayName: options.displayName, consoleUrl: options.consoleUrl },
    ready: () => readiness(options, rooms, keeper.conditions),
    onAnswered: options.metrics?.request,
    traces: options.traces,
    requestLogShare: options.requestLogShare,
    doors: doorsOf(offering, rooms),
  });
  await server.listen({ host: http.host, port: http.port });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : http.port;
  return {
    address: `http://${http.host}:${port}`,
    loops: [keeper.run(signal), loop],
    conditions: keeper.conditions,
    close: async () => server.close(),
  };
}

/** A chain that does not answer or differs is reported. The process stays ready: it serves the other chains. */
async function readiness(
  { chains, verification }: ServiceOptions,
  rooms: Rooms,
  conditions: ChainConditions | undefined,
): Promise<Readiness> {
  const stateOf = ({ chainId }: Chain) =>
    verification.problemOf(chainId) ??
    (conditions?.of(chainId).reason === 'chain_unreachable' ? 'unreachable' : 'ok');
  const checks = Object.fromEntries(chains.all.map((chain) => [`chain ${chain.name}`, stateOf(chain)]));
  try {
    await rooms.lookupApiKey(Buffer.alloc(32));
    return { ready: true, checks: { database: 'ok', ...checks } };
  } catch {
    // The database logs its own errors where connections are made; this answer has no details.
    return { ready: false, checks: { database: 'unavailable', ...checks } };
  }
}

/** The role watcher: follows the chains. */
function watch(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { clock, log, chains } = options;
  const { db, handler } = rooms;
  const candidate = nameProcess();
  return chains.all.flatMap((chain) => {
    const { chainId, wsUrls: urls = [] } = chain;
    const heads = newHeads({ chainId, urls, clock, log });
    const wake = urls.length === 0 ? undefined : heads.wake;
    const parts = { rpc: rooms.rpcOf(chainId), db, clock, log, handler };
    return [
      runWatcher({ chain, source: logSourceOf(chain), ...parts, signal, candidate, wake }),
      heads.run(signal),
    ];
  });
}
