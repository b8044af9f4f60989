import { newHeads, runWatcher } from '@florin/evm';
import { timelineWatch } from '#backup/timeline.ts';
import { logSourceOf } from '#contracts/log-source.ts';
import { invitedTeller, mailNotifier, ownerTeller, personTeller } from '#mail/notify.ts';
import { receiptSender } from '#mail/receipt-again.ts';
import { nameProcess, type ProcessName } from '#outside/process-name.ts';
import { secretBox } from '#outside/secret-box.ts';
import { withTraces } from './follow.ts';
import { withMetrics } from './measure.ts';
import type { ServiceOptions } from './options.ts';
import { readiness } from './readiness.ts';
import { openRooms, type Rooms } from './rooms.ts';

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
 * options or is opened here. What only one role needs is loaded by that role: modules are most of a process's memory at rest.
 */
export async function startService(given: ServiceOptions): Promise<Service> {
  const options = await withTraces(await withMetrics(withMail(given)));
  const { roles, monitoring } = options;
  const ending = new AbortController();
  const rooms = openRooms(options);
  const web = roles.has('web')
    ? await (await import('./web-role.ts')).answer(options, rooms, ending.signal)
    : undefined;
  const watching = roles.has('watcher') ? nameProcess() : undefined;
  const ready = () => readiness(options, rooms, web?.conditions);
  const chains = web === undefined ? options.chains : { ...options.chains, conditions: web.conditions };
  const monitoringPort =
    monitoring &&
    (await (
      await import('./monitoring.ts')
    ).monitor({ ...options, chains, monitoring }, { ...rooms, leader: watching?.id }, ready));
  const timeline = timelineWatch({ ...options, db: rooms.db });
  // Before anything is settled: the database may be an older one.
  if (roles.has('worker')) await timeline.check();
  const worker = roles.has('worker') ? await import('./work.ts') : undefined;
  const loops = [
    options.verification.run(ending.signal),
    ...(web?.loops ?? []),
    ...(watching === undefined ? [] : watch(options, rooms, watching, ending.signal)),
    ...(worker === undefined
      ? []
      : [timeline.run(ending.signal), ...worker.work(options, rooms, ending.signal)]),
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
    sendReceipt: receiptSender(deps, options.origin),
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

/** The role watcher: follows the chains. */
function watch(
  options: ServiceOptions,
  rooms: Rooms,
  candidate: ProcessName,
  signal: AbortSignal,
): Promise<void>[] {
  const { clock, log, chains } = options;
  const { db, handler } = rooms;
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
