import { agentApi } from '@florin/protocol/agent-api.ts';
import type { FeePpm } from '@florin/protocol/fee.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { FastifyInstance } from 'fastify';
import { viemCryptography } from '#authorizations/cryptography.ts';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { ChainHandler } from '#chains/event.ts';
import { call } from '#chains/rpc/actions.ts';
import { type HttpRpc, openHttpRpc } from '#chains/rpc/http-rpc.ts';
import { createSender, type Sender } from '#chains/sender/sender.ts';
import { localWallet } from '#chains/sender/wallet.ts';
import { runWatcher } from '#chains/watcher/watcher.ts';
import { batched } from '#db/batch.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { agentDoor } from '#http/agent/agent.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { docsDoor } from '#http/docs/docs-door.ts';
import type { Readiness } from '#http/health.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { openApiDoor } from '#http/openapi.ts';
import { limitedDoor, type RateLimits } from '#http/rate-limit.ts';
import { buildServer } from '#http/server.ts';
import { type ApiKeyLookup, findApiKeys } from '#merchants/api-key.ts';
import { keyUseRecorder } from '#merchants/api-key-limits.ts';
import { deleteOldAnswers } from '#merchants/idempotency.ts';
import type { Clock } from '#outside/clock.ts';
import { createEgress } from '#outside/egress.ts';
import type { Random } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { paymentHandler } from '#payments/payment.ts';
import { refundHandler } from '#refunds/refund-events.ts';
import { localOrderSigner } from '#sessions/local-signer.ts';
import { expireSessions, groupSessionFinder } from '#sessions/session.ts';
import { groupInserter } from '#sessions/session-insert.ts';
import { groupTermsReader } from '#sessions/terms-reader.ts';
import { runSettlement, type SettlementSettings, settlementOutcome } from '#settlement/settlement.ts';
import { settlementHandler } from '#settlement/settlement-events.ts';
import type { Log } from '#telemetry/log.ts';
import { defaultDeliverySettings, runDeliveries } from '#webhooks/delivery.ts';
import { runEventHousekeeping } from '#webhooks/event-housekeeping.ts';

/** What a process of the service does: answer HTTP, follow the chains, settle and deliver. */
export type Role = 'web' | 'watcher' | 'worker';

export interface ServiceOptions {
  /** Public origin without a slash at the end; behind it the merchant API, the AI protocol and the hosted pages. */
  readonly origin: string;
  /** `aipay.` before it is the name of the EIP-712 domain that payers sign for. */
  readonly serviceDomain: string;
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Proxies in front, whose X-Forwarded-For is believed; none when absent. */
    readonly trustedProxies?: readonly string[];
  };
  readonly databaseUrl: string;
  readonly roles: ReadonlySet<Role>;
  readonly chains: Chains;
  readonly fees: { readonly sameToken: FeePpm; readonly sameChain: FeePpm; readonly crossChain: FeePpm };
  readonly orderKey: Hex;
  readonly settlerKey: Hex;
  /** 32 bytes each; the first seals, all of them open. */
  readonly masterKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly webhooks: {
    readonly allowLoopback: boolean;
    /** Authorities that receivers' certificates may come from, in PEM, instead of the system's. */
    readonly certificateAuthority?: string;
    readonly pauseAfterFailures: number;
    readonly pauseAfterHours: number;
  };
  readonly settlement: SettlementSettings & {
    readonly reclaimAfterSeconds: number;
    readonly maxFeePerGasGwei: number;
  };
  /** Payable sessions that one payer may have open; undefined: no limit. */
  readonly maxOpenSessions: number | undefined;
  /** What callers may ask of one process in a time; undefined: no limit. */
  readonly rateLimits: RateLimits | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A running service. */
export interface Service {
  /** Rejects when a loop has ended by a bug: the process should end, too, and be started afresh. */
  readonly failed: Promise<never>;
  /** Where HTTP is answered on this machine; undefined without the role web. */
  readonly address: string | undefined;
  /** Ends loops and requests in order, then closes connections. */
  stop(): Promise<void>;
}

/** Time between two looks for sessions that have expired. */
const expiryIntervalMs = 1_000;
/** Sessions expired in one transaction. */
const expiryBatch = 200;
/** Time between two looks for answers to idempotency keys that are too old, and how many go at once. */
const answerIntervalMs = 60_000;
const answerBatch = 1_000;
/** Key lookups of requests that arrive together share a round trip. */
const keyLookupLimits = { maxSize: 128, maxInFlight: 1, maxWaiting: 10_000 };

/**
 * Wires the whole service by hand and starts the roles asked for. Everything from outside (time, chance, network, keys)
 * comes in through the options or is opened here.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { clock, log, chains, roles } = options;
  const ending = new AbortController();
  const db = openDatabase({
    url: options.databaseUrl,
    onError: (error) => log.warn('database.connection_lost', { message: error.message }),
  });
  const rpcs = new Map<number, HttpRpc>(
    chains.all.map((chain) => [
      chain.chainId,
      openHttpRpc({ chainId: chain.chainId, urls: chain.rpcUrls, clock, log }),
    ]),
  );
  const rooms = wireRooms(options, db, rpcs);
  const server = roles.has('web') ? await listen(options, rooms) : undefined;
  const loops: Promise<void>[] = [];
  if (roles.has('watcher')) loops.push(...watch(options, rooms, ending.signal));
  if (roles.has('worker')) loops.push(...work(options, rooms, ending.signal));
  return {
    failed: firstFailure(loops),
    address: server?.listeningOrigin,
    async stop() {
      await server?.close();
      ending.abort();
      await Promise.allSettled(loops);
      await Promise.all([...rpcs.values()].map((rpc) => rpc.close()));
      await db.close();
    },
  };
}

function firstFailure(loops: readonly Promise<void>[]): Promise<never> {
  const failure = new Promise<never>((_resolve, reject) => {
    for (const loop of loops) loop.catch(reject);
  });
  // Whoever starts the service decides what a failure means; not looking at it is no crash of its own.
  failure.catch(() => undefined);
  return failure;
}

/** What the roles share. */
interface Rooms {
  readonly db: Database;
  readonly rpcOf: (chainId: number) => HttpRpc;
  readonly sender: Sender;
  readonly handler: ChainHandler;
  readonly lookupApiKey: ApiKeyLookup;
}

function wireRooms(options: ServiceOptions, db: Database, rpcs: ReadonlyMap<number, HttpRpc>): Rooms {
  const { clock, random, log, chains, origin } = options;
  const rpcOf = (chainId: number) => {
    const rpc = rpcs.get(chainId);
    if (rpc === undefined) throw new Error(`chain ${chainId} is not configured`);
    return rpc;
  };
  const moves = { clock, random, origin };
  const sender = createSender({
    chains,
    rpcOf,
    db,
    clock,
    log,
    wallet: localWallet(options.settlerKey),
    maxFeePerGas: BigInt(options.settlement.maxFeePerGasGwei) * 1_000_000_000n,
    onOutcome: (transaction, outcome) => settlementOutcome(transaction, moves, outcome),
  });
  const lookup = batched((hashes: readonly Buffer[]) => findApiKeys(db, hashes), keyLookupLimits);
  return {
    db,
    rpcOf,
    sender,
    lookupApiKey: lookup,
    // Refunds before the settlement, whose moves and exceptions then show sessions with what went back.
    handler: inOrder(
      paymentHandler({ ...moves, log }),
      refundHandler(moves),
      settlementHandler({ ...moves, log }),
    ),
  };
}

/** Runs handlers one after the other in the same transaction: first what was paid, then what that settles. */
function inOrder(...handlers: readonly ChainHandler[]): ChainHandler {
  return {
    async onBlock(...args) {
      for (const handler of handlers) await handler.onBlock(...args);
    },
    async onReorg(...args) {
      for (const handler of handlers) await handler.onReorg(...args);
    },
    async onFinal(...args) {
      for (const handler of handlers) await handler.onFinal(...args);
    },
  };
}

interface ListeningServer {
  readonly listeningOrigin: string;
  close(): Promise<void>;
}

async function listen(options: ServiceOptions, rooms: Rooms): Promise<ListeningServer> {
  const { clock, random, log, chains, origin, http } = options;
  const { db } = rooms;
  const sessionDeps = {
    clock,
    random,
    origin,
    chains,
    rates: options.fees,
    termsReader: groupTermsReader(db),
  };
  const { rateLimits } = options;
  const server = await buildServer({
    log,
    random,
    origin,
    trustedProxies: http.trustedProxies ?? [],
    ready: () => readiness(rooms),
    doors: [
      merchantDoor({
        ...sessionDeps,
        db,
        lookupApiKey: rooms.lookupApiKey,
        insertSession: groupInserter(db, sessionDeps),
        findSession: groupSessionFinder(db),
        secrets: secretBox(options.masterKeys),
        addresses: { allowLoopback: options.webhooks.allowLoopback },
        rateLimits,
        recordKeyUse: keyUseRecorder({ db, clock, log }),
      }),
      limitedDoor(
        agentDoor({
          db,
          basePaths: ['/aipay/api/v1', '/api/v1'],
          deps: {
            ...sessionDeps,
            signer: localOrderSigner(options.orderKey),
            reclaimAfterSeconds: options.settlement.reclaimAfterSeconds,
            serviceDomain: options.serviceDomain,
            cryptography: viemCryptography,
            payerChain: payerChainOf(rooms.rpcOf),
            maxOpenSessions: options.maxOpenSessions,
          },
        }),
        rateLimits,
        clock,
      ),
      checkoutDoor({ db, chains, origin, agentApi: `${origin}/aipay/api/v1` }),
      openApiDoor({ origin, tables: [merchantApi, agentApi] }),
      docsDoor({ origin, tables: [merchantApi, agentApi] }),
    ],
  });
  await server.listen({ host: http.host, port: http.port });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : http.port;
  return { listeningOrigin: `http://${http.host}:${port}`, close: () => closeServer(server) };
}

async function closeServer(server: FastifyInstance): Promise<void> {
  await server.close();
}

async function readiness(rooms: Rooms): Promise<Readiness> {
  try {
    await rooms.lookupApiKey(Buffer.alloc(32));
    return { ready: true, checks: { database: 'ok' } };
  } catch {
    // The error is the database's own, logged where connections are made; the answer names no details.
    return { ready: false, checks: { database: 'unavailable' } };
  }
}

function watch(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { clock, log } = options;
  const { db, handler } = rooms;
  return options.chains.all.map((chain: Chain) =>
    runWatcher({ chain, rpc: rooms.rpcOf(chain.chainId), db, clock, log, handler, signal }),
  );
}

function work(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { clock, random, log, chains, origin } = options;
  const { db, sender } = rooms;
  const { allowLoopback, certificateAuthority: ca } = options.webhooks;
  const addresses = { allowLoopback };
  const settlement = runSettlement(
    {
      db,
      clock,
      random,
      log,
      chains,
      origin,
      sender,
      signer: localOrderSigner(options.orderKey),
      settings: options.settlement,
      wallet: localWallet(options.settlerKey).address,
      read: (chainId, request) => call(rooms.rpcOf(chainId), request, 'latest'),
    },
    signal,
  );
  const egress = createEgress({ addresses, ...(ca === undefined ? {} : { ca }) });
  const deliveries = runDeliveries({
    db,
    clock,
    random,
    log,
    egress,
    secrets: secretBox(options.masterKeys),
    settings: deliverySettings(options),
    signal,
  }).finally(() => egress.close());
  const housekeeping = [runEventHousekeeping({ db, clock, log }, signal), forgetAnswers(options, db, signal)];
  return [sender.run(signal), settlement, deliveries, ...housekeeping, expire(options, db, signal)];
}

function deliverySettings({ webhooks }: ServiceOptions): typeof defaultDeliverySettings {
  const { pauseAfterFailures, pauseAfterHours } = webhooks;
  return {
    ...defaultDeliverySettings,
    retry: {
      ...defaultDeliverySettings.retry,
      pauseAfterFailures,
      pauseAfterMs: pauseAfterHours * 3_600_000,
    },
  };
}

async function expire(options: ServiceOptions, db: Database, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  while (!signal.aborted) {
    try {
      const count = await db.transaction((transaction) => expireSessions(transaction, options, expiryBatch));
      if (count >= expiryBatch) continue;
    } catch (error) {
      log.error('sessions.expiry_failed', error);
    }
    await clock.sleep(expiryIntervalMs, signal);
  }
}

/** Deletes the answers to idempotency keys that are too old. */
async function forgetAnswers(options: ServiceOptions, db: Database, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  while (!signal.aborted) {
    try {
      const count = await deleteOldAnswers(db, clock.now(), answerBatch);
      if (count >= answerBatch) continue;
    } catch (error) {
      log.error('idempotency.housekeeping_failed', error);
    }
    await clock.sleep(answerIntervalMs, signal);
  }
}
