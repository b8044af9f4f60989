import type { ChainConditions } from '#chains/chain.ts';
import { conditionKeeper } from '#chains/condition.ts';
import { buildServer } from '#http/server.ts';
import { sharedLimits } from '#http/shared-limits.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { doorsOf, offeredGasless } from './doors.ts';
import type { ServiceOptions } from './options.ts';
import { readiness } from './readiness.ts';
import type { Rooms } from './rooms.ts';

export interface WebRole {
  readonly address: string;
  readonly loops: readonly Promise<void>[];
  readonly conditions: ChainConditions;
  close(): Promise<void>;
}

/** Between two exchanges of what this process and others counted against the rate limits. */
const exchangeIntervalMs = 1_000;

/** The role web: listens for HTTP. */
export async function answer(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<WebRole> {
  const { clock, log, random, origin, chains, verification, http } = options;
  const { db, rpcOf } = rooms;
  const keeper = conditionKeeper({ chains: chains.all, verification, rpcOf, db, clock, log });
  // Known before the first request, so that no payment begins that could not be paid out.
  await keeper.refresh(signal);
  const { gasless, loop } = offeredGasless(options, db, signal);
  const { rateLimits } = options;
  const shared = rateLimits && sharedLimits(rateLimits, { clock, db });
  const offering = {
    ...{ ...options, gasless, limits: shared?.limits },
    chains: { ...chains, conditions: keeper.conditions },
  };
  const server = await buildServer({
    ...{ log, random, origin, trustedProxies: http.trustedProxies },
    ...{ displayName: options.displayName, consoleUrl: options.consoleUrl },
    ready: () => readiness(options, rooms, keeper.conditions),
    onAnswered: options.metrics?.request,
    traces: options.traces,
    requestLogShare: options.requestLogShare,
    doors: doorsOf(offering, rooms),
  });
  const rounds = { clock, log, intervalMs: exchangeIntervalMs, failure: 'rate_limits.exchange_failed' };
  const exchanging = shared === undefined ? [] : [runRounds(rounds, signal, shared.exchange)];
  await server.listen({ host: http.host, port: http.port });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : http.port;
  return {
    address: `http://${http.host}:${port}`,
    loops: [keeper.run(signal), loop, ...exchanging],
    conditions: keeper.conditions,
    close: async () => server.close(),
  };
}
