import type { ChainConditions } from '#chains/chain.ts';
import { conditionKeeper } from '#chains/condition.ts';
import { buildServer } from '#http/server.ts';
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

/** The role web: listens for HTTP. */
export async function answer(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<WebRole> {
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
