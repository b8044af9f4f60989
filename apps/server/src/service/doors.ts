import { createHmac } from 'node:crypto';
import { walletOf } from '@florin/evm';
import type { Database } from '@florin/pg';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import { secp256k1 } from '@florin/signing';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import { tokenSigningReader } from '#contracts/token-signing.ts';
import { agentDoor } from '#http/agent/agent.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { demoPayerOf } from '#http/checkout/demo-payer.ts';
import { previewPage } from '#http/checkout/preview.ts';
import { dashboardDoor } from '#http/dashboard/dashboard-door.ts';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { previewDoor } from '#http/dashboard/preview-door.ts';
import { uploadDoor } from '#http/dashboard/upload-door.ts';
import { discoveryDoor } from '#http/discovery.ts';
import { docsDoor } from '#http/docs/docs-door.ts';
import { imagesDoor } from '#http/images/images-door.ts';
import { unsubscribeDoor } from '#http/mail/unsubscribe-door.ts';
import { mcpDoor } from '#http/mcp/mcp-door.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { openApiDoor } from '#http/openapi.ts';
import { creationGuard, type Limits, limitedDoor, walletCallGuard } from '#http/rate-limit.ts';
import { reportsDoor } from '#http/reports/reports-door.ts';
import type { Door } from '#http/server.ts';
import { statusDoor } from '#http/status/status-door.ts';
import { x402Door } from '#http/x402/x402-door.ts';
import { unsubscribeLinks } from '#mail/unsubscribe.ts';
import { dashboardOriginOf } from '#members/dashboard-origin.ts';
import { isOriginListed, keyUseRecorder } from '#merchants/api-key-limits.ts';
import { gasOffers } from '#merchants/relayed-gas.ts';
import { defaultOrderLimits } from '#orders/order-limit.ts';
import { secretBox } from '#outside/secret-box.ts';
import { readStatus } from '#reconcile/status.ts';
import { groupSessionFinder } from '#sessions/session.ts';
import { groupInserter } from '#sessions/session-insert.ts';
import { groupTermsReader } from '#sessions/terms-reader.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { findPayments } from '#x402/accepted-payment.ts';
import { defaultWaitingLimits, requestSlots, sharedReads } from '#x402/waiting.ts';
import type { GaslessSettings, ServiceOptions } from './options.ts';
import { type Rooms, webhookAddresses } from './rooms.ts';
import { sendingWallets } from './sending-wallets.ts';

interface DoorOptions extends ServiceOptions {
  /** What counts requests against `rateLimits`; undefined without these. */
  readonly limits: Limits | undefined;
}

/** All doors of a web process. */
export function doorsOf(options: DoorOptions, rooms: Rooms): Door[] {
  const { origin, chains, gasless, limits, clock, log } = options;
  const { db, images } = rooms;
  const sessions = sessionContext(options, rooms);
  const tables = gasless === undefined ? [merchantApi, agentApi] : [merchantApi, agentApi, x402Api];
  const merchant = merchantContext(options, rooms, sessions);
  const dashboard = {
    ...{ ...merchant, people: db, signIn: rooms.signIn },
    dashboardOrigin: dashboardOriginOf(options),
    environment: options.environment ?? 'production',
  };
  return [
    merchantDoor(merchant),
    dashboardDoor({
      ...dashboard,
      verifyWallet: rooms.verifyWallet,
      displayName: options.displayName,
      installation: {
        rpcOf: rooms.rpcOf,
        wallets: sendingWallets(options),
        configuration: options.configuration ?? {},
      },
      tellPerson: options.tellPerson,
      tellInvited: options.tellInvited,
      sendReceipt: options.sendReceipt,
      walletDelayMs: (options.walletDelaySeconds ?? 86_400) * 1_000,
    }),
    dashboardPagesDoor({ origin, dashboardOrigin: dashboard.dashboardOrigin }),
    uploadDoor(dashboard),
    previewDoor({
      ...dashboard,
      // Stored pictures are at the payment pages' origin, the page's own at that of the dashboard.
      render: (...page) => previewPage({ chains, origins: [origin, dashboard.dashboardOrigin] }, ...page),
    }),
    ...payerDoors(options, rooms, sessions).map(([name, door]) => limitedDoor(name, door, limits)),
    ...(images === undefined ? [] : [imagesDoor({ store: images.store, log })]),
    reportsDoor({ db, clock }),
    limitedDoor('unsubscribe', unsubscribing(options, rooms), limits),
    statusDoor({ readStatus: () => readStatus(db, chains) }),
    openApiDoor({ origin, tables }),
    discoveryDoor({ ...options, hasX402: gasless !== undefined }),
    mcpDoor({ ...options, lookupApiKey: rooms.lookupApiKey }),
    docsDoor({ origin, chains }),
  ];
}

/** Also without a mail server: earlier e-mails have links. */
function unsubscribing(options: ServiceOptions, { db }: Rooms): Door {
  const { origin, masterKeys } = options;
  return unsubscribeDoor({
    db,
    links: unsubscribeLinks(origin, masterKeys),
    dashboardOrigin: dashboardOriginOf(options),
  });
}

/** What concurrent requests of all doors share. */
type Sessions = ReturnType<typeof sessionContext>;

function sessionContext(options: ServiceOptions, { db }: Rooms) {
  const { clock, random, origin, chains, fees: rates, settlement, rateLimits, notify } = options;
  return {
    ...{ clock, random, origin, chains, rates, notify },
    settlementMode: settlement.mode,
    termsReader: groupTermsReader(db),
    orderLimits: rateLimits === undefined ? undefined : defaultOrderLimits,
  };
}

function merchantContext(
  options: DoorOptions,
  rooms: Rooms,
  sessions: Sessions,
): Parameters<typeof merchantDoor>[0] {
  const { clock, log, gasless, limits, masterKeys } = options;
  const { db, lists, lookupApiKey, images, rpcOf } = rooms;
  return {
    ...sessions,
    ...{ db, lists, lookupApiKey, limits },
    insertSession: groupInserter(db, sessions),
    findSession: groupSessionFinder(db),
    isOriginListed: (webOrigin) => isOriginListed(db, webOrigin, clock.now()),
    deposits: gasless?.deposits,
    images: images?.intake,
    tellOwners: options.tellOwners,
    signingOf: gasless === undefined ? undefined : tokenSigningReader(rpcOf),
    secrets: secretBox(masterKeys),
    addresses: webhookAddresses(options),
    recordKeyUse: keyUseRecorder({ db, clock, log }),
  };
}

/** The doors of payers and their agents by name: the AI protocol, the hosted pages, and x402 if the service pays gas. */
function payerDoors(options: DoorOptions, rooms: Rooms, sessions: Sessions): [string, Door][] {
  const { gasless, clock, limits, demoPayerKey, settlement } = options;
  const { db, rpcOf, sender, signer, images } = rooms;
  const deps = {
    ...sessions,
    signer,
    reclaimAfterSeconds: settlement.reclaimAfterSeconds,
    serviceDomain: options.serviceDomain,
    cryptography: cryptographyOf(secp256k1),
    payerChain: payerChainOf(rpcOf),
    maxOpenSessions: options.maxOpenSessions,
    gasless: gasless === undefined ? undefined : { ...gasless, signingOf: tokenSigningReader(rpcOf) },
  };
  const walletCalls = walletCallGuard(limits);
  const admitCreation = creationGuard(limits);
  const submissions = deps.gasless === undefined ? undefined : { ...deps, gasless: deps.gasless, sender };
  const agent = { db, deps: { ...deps, admitCreation }, submissions, walletCalls };
  const checkout = {
    ...{ ...deps, db, log: options.log, agentApi: `${options.origin}/aipay/api/v1` },
    fundingUrl: options.fundingUrl,
    walletConnect: options.walletConnect,
    imageStore: images?.store,
    demo: demoPayerKey === undefined ? undefined : demoPayerOf(walletOf(demoPayerKey), { clock, rpcOf }),
  };
  const doors: [string, Door][] = [
    ['agent', agentDoor({ ...agent, basePaths: ['/aipay/api/v1', '/api/v1'] })],
    ['checkout', checkoutDoor(checkout)],
  ];
  if (submissions === undefined) return doors;
  const x402 = {
    ...{ ...submissions, admitCreation, db, rpcOf },
    readPayment: sharedReads(clock, (orderIds) => findPayments(db, orderIds)),
    // A key of its own: the master key itself has another use.
    offerKey: new Uint8Array(createHmac('sha256', options.masterKeys[0]).update('x402 offers').digest()),
    waitMs: gasless?.x402WaitMs ?? 0,
  };
  const enter = requestSlots(defaultWaitingLimits);
  const basePaths = ['/aipay/x402', '/x402'];
  return [...doors, ['x402', x402Door({ walletCalls, deps: x402, enter, basePaths })]];
}

/** Between two checks of the gas that is left for offers. */
const offersIntervalMs = 5_000;

/**
 * The settings with which a web process offers to pay gas: only while some is left for the day. Checks it every few
 * seconds until the signal aborts.
 */
export function offeredGasless(
  { gasless, clock, log }: Pick<ServiceOptions, 'gasless' | 'clock' | 'log'>,
  db: Database,
  signal: AbortSignal,
): { readonly gasless: GaslessSettings | undefined; readonly loop: Promise<void> } {
  if (gasless?.totals === undefined) return { gasless, loop: Promise.resolve() };
  const { isOffered, refresh } = gasOffers({ db, clock, totals: gasless.totals });
  const rounds = { clock, log, intervalMs: offersIntervalMs, failure: 'gas.look_failed' };
  return { gasless: { ...gasless, isOffered }, loop: runRounds(rounds, signal, refresh) };
}
