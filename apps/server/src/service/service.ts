import {
  call,
  createSender,
  type HttpRpc,
  newHeads,
  openHttpRpc,
  runWatcher,
  type Sender,
  walletOf,
} from '@florin/evm';
import {
  type DeliverySettings,
  defaultDeliverySettings,
  runDeliveries,
  runHousekeeping,
} from '@florin/outbox';
import { batched, type Database, openDatabase } from '@florin/pg';
import { agentApi } from '@florin/protocol/agent-api.ts';
import type { FeePpm } from '@florin/protocol/fee.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Hex, SettlementMode } from '@florin/protocol/order.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { SigningKey } from '@florin/signing';
import { type ImageSettings, type Images, openImages } from '#catalog/images/open-images.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import { conditionKeeper } from '#chains/condition.ts';
import type { ChainHandler } from '#contracts/event.ts';
import { logSourceOf } from '#contracts/log-source.ts';
import { purposes, type SendPurpose } from '#contracts/purpose.ts';
import { tokenSigningReader } from '#contracts/token-signing.ts';
import { runListCounts } from '#db/list-count.ts';
import { schema } from '#db/schema.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { discoveryDoor } from '#http/discovery.ts';
import { docsDoor } from '#http/docs/docs-door.ts';
import type { Readiness } from '#http/health.ts';
import { imagesDoor } from '#http/images/images-door.ts';
import { mcpDoor } from '#http/mcp/mcp-door.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { openApiDoor } from '#http/openapi.ts';
import { limitedDoor, type RateLimits } from '#http/rate-limit.ts';
import { buildServer } from '#http/server.ts';
import { statusDoor } from '#http/status/status-door.ts';
import { type ApiKeyLookup, findApiKeys } from '#merchants/api-key.ts';
import { isOriginListed, keyUseRecorder } from '#merchants/api-key-limits.ts';
import { defaultOrderLimits } from '#orders/order-limit.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { AddressPolicy } from '#outside/address.ts';
import { attestationSource } from '#outside/attestation.ts';
import type { Clock } from '#outside/clock.ts';
import { createEgress } from '#outside/egress.ts';
import { nameProcess } from '#outside/process-name.ts';
import type { Random } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { readStatus } from '#reconcile/status.ts';
import { groupSessionFinder } from '#sessions/session.ts';
import { groupInserter } from '#sessions/session-insert.ts';
import { searchSnapshots } from '#sessions/session-search.ts';
import { groupTermsReader } from '#sessions/terms-reader.ts';
import type { SettlementSettings } from '#settlement/context.ts';
import { runSettlement } from '#settlement/settlement.ts';
import type { Log } from '#telemetry/log.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { checkoutOptionsOf } from './checkout.ts';
import { agentDoors, depositLoops, type GaslessSettings, lookAfterGas, offeredGasless } from './gasless.ts';
import { runAnswerHousekeeping, runBooks, runExpiry } from './housekeeping.ts';
import { chainReactions, outcomesOf } from './reactions.ts';

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
  readonly orderKey: SigningKey;
  readonly settlerKey: SigningKey;
  /** More wallets that settle. */
  readonly otherSettlerKeys?: readonly SigningKey[];
  /** 32 bytes each; the first seals, all of them open. */
  readonly masterKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly webhooks: {
    readonly allowLoopback: boolean;
    /** Authorities that receivers' certificates may come from, in PEM, instead of the system's. */
    readonly certificateAuthority?: string;
    readonly pauseAfterFailures: number;
    readonly pauseAfterHours: number;
  };
  /** Where the images of products are kept; products have none when absent. */
  readonly images?: ImageSettings;
  /** Which payments of others are sent at the service's cost; none when absent. */
  readonly gasless?: GaslessSettings;
  readonly settlement: SettlementSettings & {
    readonly reclaimAfterSeconds: number;
    readonly maxFeePerGasGwei: number;
    /** For accounts without a mode of their own. */
    readonly mode: SettlementMode;
  };
  /** Where CCTP burns are attested; absent where no chain has CCTP. */
  readonly attestationUrl?: string;
  /** Local worlds alone: the key of a wallet that pays for visitors of the hosted page who have none. */
  readonly demoPayerKey?: Hex;
  /** Between two comparisons of the books with a chain; a minute when absent. */
  readonly reconcileIntervalMs?: number;
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
    schema,
    url: options.databaseUrl,
    onError: (error) => log.warn('database.connection_lost', { message: error.message }),
  });
  const rpcs = new Map<number, HttpRpc>(
    chains.all.map((chain) => [chain.chainId, rpcOfChain(chain, options)]),
  );
  const rooms = wireRooms(options, db, rpcs);
  const loops: Promise<void>[] = [];
  const keeper = conditionKeeper({ chains: chains.all, rpcOf: rooms.rpcOf, db, clock, log });
  let server: ListeningServer | undefined;
  if (roles.has('web')) {
    // Known before the first request, so that no payment is begun that could not be paid out.
    await keeper.refresh(ending.signal);
    const { gasless, loop } = offeredGasless(options, db, ending.signal);
    const offering = { ...options, ...(gasless === undefined ? {} : { gasless }) };
    server = await listen({ ...offering, chains: { ...chains, conditions: keeper.conditions } }, rooms);
    loops.push(keeper.run(ending.signal), loop);
  }
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
      await rooms.images?.close();
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
  readonly sender: Sender<SendPurpose>;
  readonly handler: ChainHandler;
  readonly lookupApiKey: ApiKeyLookup;
  /** Undefined where no images are hosted. */
  readonly images: Images | undefined;
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
    chains: chains.all,
    purposes,
    rpcOf,
    db,
    clock,
    log,
    wallet: walletOf(options.settlerKey),
    otherWallets: (options.otherSettlerKeys ?? []).map(walletOf),
    ...(options.gasless?.relayer === 'orderSigner' ? { relayer: walletOf(options.orderKey) } : {}),
    maxFeePerGas: BigInt(options.settlement.maxFeePerGasGwei) * 1_000_000_000n,
    onOutcome: outcomesOf(moves),
  });
  const lookup = batched((hashes: readonly Buffer[]) => findApiKeys(db, hashes), keyLookupLimits);
  return {
    db,
    rpcOf,
    sender,
    lookupApiKey: lookup,
    images: imagesOf(options, db),
    handler: chainReactions({ ...moves, log, chains }),
  };
}

function imagesOf(options: ServiceOptions, db: Database): Images | undefined {
  const { images: settings, masterKeys } = options;
  if (settings === undefined) return undefined;
  const searchSessions = (search: Parameters<typeof searchSnapshots>[1]) => searchSnapshots(db, search);
  return openImages({ ...options, settings, db, masterKey: masterKeys[0], searchSessions });
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
    settlementMode: options.settlement.mode,
    termsReader: groupTermsReader(db),
    ...(options.rateLimits === undefined ? {} : { orderLimits: defaultOrderLimits }),
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
        isOriginListed: (webOrigin) => isOriginListed(db, webOrigin, clock.now()),
        ...(rooms.images === undefined ? {} : { images: rooms.images.intake }),
        ...(options.gasless === undefined ? {} : { signingOf: tokenSigningReader(rooms.rpcOf) }),
        secrets: secretBox(options.masterKeys),
        addresses: webhookAddresses(options),
        rateLimits,
        recordKeyUse: keyUseRecorder({ db, clock, log }),
      }),
      ...agentDoors(options, rooms, sessionDeps).map((door) => limitedDoor(door, rateLimits, clock)),
      limitedDoor(checkoutDoor(checkoutOptionsOf(options, rooms, sessionDeps)), rateLimits, clock),
      ...(rooms.images === undefined ? [] : [imagesDoor({ store: rooms.images.store, log })]),
      statusDoor({ readStatus: () => readStatus(db, chains.all) }),
      openApiDoor({ origin, tables: interfacesOf(options) }),
      discoveryDoor({ ...options, hasX402: options.gasless !== undefined }),
      mcpDoor({ origin, clock, rateLimits, lookupApiKey: rooms.lookupApiKey }),
      docsDoor({ origin, chains }),
    ],
  });
  await server.listen({ host: http.host, port: http.port });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : http.port;
  return { listeningOrigin: `http://${http.host}:${port}`, close: async () => void (await server.close()) };
}

function rpcOfChain(chain: Chain, { clock, log }: ServiceOptions): HttpRpc {
  const { chainId, rpcUrls: urls } = chain;
  return openHttpRpc({ chainId, urls, clock, log });
}

/** The interfaces that this installation has, as its documents describe them. */
function interfacesOf({ gasless }: Pick<ServiceOptions, 'gasless'>): readonly RouteTable[] {
  return gasless === undefined ? [merchantApi, agentApi] : [merchantApi, agentApi, x402Api];
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
  const candidate = nameProcess();
  return options.chains.all.flatMap((chain: Chain) => {
    const { chainId, wsUrls: urls = [] } = chain;
    const heads = newHeads({ chainId, urls, clock, log });
    const wake = urls.length === 0 ? {} : { wake: heads.wake };
    const parts = { rpc: rooms.rpcOf(chainId), db, clock, log, handler };
    return [
      runWatcher({ chain, source: logSourceOf(chain), ...parts, signal, candidate, ...wake }),
      heads.run(signal),
    ];
  });
}

function work(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { clock, random, log, chains, origin } = options;
  const { db, sender } = rooms;
  const { certificateAuthority: ca } = options.webhooks;
  const { attestationUrl } = options;
  const attestations = attestationUrl === undefined ? undefined : attestationSource(attestationUrl);
  const settlement = runSettlement(
    {
      db,
      clock,
      random,
      log,
      chains,
      origin,
      sender,
      signer: orderSignerOf(options.orderKey),
      settings: options.settlement,
      read: (chainId, request) => call(rooms.rpcOf(chainId), request, 'latest'),
      attestations,
    },
    signal,
  ).finally(() => attestations?.close());
  const egress = createEgress({ addresses: webhookAddresses(options), ...(ca === undefined ? {} : { ca }) });
  const secrets = secretBox(options.masterKeys);
  const settings = deliverySettings(options);
  const outbox = outboxWorker({ db, clock, random, log, egress, secrets, settings });
  const deliveries = runDeliveries(outbox, signal).finally(() => egress.close());
  const housekeeping = [
    runHousekeeping(outbox, signal),
    runListCounts({ db, clock, log }, signal),
    runAnswerHousekeeping({ ...options, db }, signal),
    ...runBooks({ ...options, chains: chains.all, rpcOf: rooms.rpcOf, db }, signal),
    ...lookAfterGas(options, rooms, signal),
  ];
  const images = rooms.images?.run(signal) ?? [];
  return [
    sender.run(signal),
    settlement,
    deliveries,
    ...images,
    ...depositLoops(options, rooms, signal),
    ...housekeeping,
    runExpiry({ ...options, db }, signal),
  ];
}

/** Loopback is for the local world alone, which need not have certificates. */
function webhookAddresses({ webhooks: { allowLoopback } }: ServiceOptions): AddressPolicy {
  return { allowLoopback, allowPlainLoopback: allowLoopback };
}

function deliverySettings({ webhooks }: ServiceOptions): DeliverySettings {
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
