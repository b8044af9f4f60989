import { formatUsd } from '@florin/protocol/money.ts';
import type { SigningKey } from '@florin/signing';
import { signerOf } from '@florin/signing';
import type { Chain } from '#chains/chain.ts';
import type { SendingWallet } from '#reconcile/health.ts';
import type { GaslessSettings, ServiceOptions } from './options.ts';

const addressOf = (key: SigningKey) => signerOf(key).address;

/** The wallets that send transactions. */
export function sendingWallets({
  settlerKey,
  otherSettlerKeys = [],
  orderKey,
  gasless,
}: ServiceOptions): SendingWallet[] {
  const settlers = [settlerKey, ...otherSettlerKeys].map((key) => ({
    role: 'settler',
    address: addressOf(key),
  }));
  const isRelaying = gasless?.relayer === 'orderSigner';
  return isRelaying ? [...settlers, { role: 'order signer', address: addressOf(orderKey) }] : settlers;
}

const off = 'off';
const none = 'none';

/**
 * The configuration as it is in force, for the operator's screens, by the names of the settings. It names what is shown, so a
 * new secret is not shown by accident: keys appear as addresses, URLs that may hold a key as hosts, databases and buckets not
 * at all. Amounts are decimal strings.
 */
export function configurationOf(options: ServiceOptions): Readonly<Record<string, unknown>> {
  const { http, monitoring, tracing, databaseReplica, fees, webhooks, retention, images } = options;
  return written({
    environment: options.environment ?? 'production',
    origin: options.origin,
    displayName: options.displayName ?? new URL(options.origin).host,
    serviceDomain: options.serviceDomain,
    roles: [...options.roles],
    databaseWaitSeconds: options.databaseWaitSeconds ?? 0,
    databaseReplicaMaxLagSeconds: databaseReplica?.maxLagSeconds ?? 'no replica',
    walletDelaySeconds: options.walletDelaySeconds ?? 86_400,
    attestationUrl: hostOf(options.attestationUrl),
    fundingUrl: hostOf(options.fundingUrl),
    masterKeys: options.masterKeys.length,
    requestLogShare: options.requestLogShare ?? 1,
    http: { host: http.host, port: http.port, trustedProxies: http.trustedProxies ?? [] },
    monitoring:
      monitoring === undefined
        ? off
        : { host: monitoring.host, port: monitoring.port, backups: monitoring.backups ?? none },
    tracing:
      tracing === undefined
        ? off
        : { url: hostOf(tracing.url), sharePpm: Math.round(tracing.share * 1_000_000) },
    walletConnect: options.walletConnect === undefined ? off : { projectId: options.walletConnect.projectId },
    fees: { sameTokenPpm: fees.sameToken, sameChainPpm: fees.sameChain, crossChainPpm: fees.crossChain },
    chains: options.chains.all.map(shownChain),
    signer: {
      order: addressOf(options.orderKey),
      settler: addressOf(options.settlerKey),
      otherSettlers: (options.otherSettlerKeys ?? []).map(addressOf),
    },
    webhooks: {
      allowLoopback: webhooks.allowLoopback,
      pauseAfterFailures: webhooks.pauseAfterFailures,
      pauseAfterHours: webhooks.pauseAfterHours,
      hasOwnAuthorities: webhooks.certificateAuthority !== undefined,
    },
    settlement: shownSettlement(options.settlement),
    gasless: shownGasless(options.gasless),
    retention:
      retention === undefined
        ? off
        : {
            unpaidSessionsDays: retention.unpaidAfterDays,
            paidSessionsDays: retention.paidAfterDays,
            payerEmailDays: retention.emailsAfterDays,
            payerNetworkDays: retention.networksAfterDays,
          },
    images: images === undefined ? off : { store: images.store.kind, allowLoopback: images.allowLoopback },
    smtp: shownSmtp(options.smtp),
    rateLimits: shownRateLimits(options),
  });
}

function shownChain(chain: Chain) {
  const { finality, cctp, previousContracts = [] } = chain;
  return {
    name: chain.name,
    chainId: chain.chainId,
    rpcUrls: chain.rpcUrls.map(hostOf),
    wsUrls: (chain.wsUrls ?? []).map(hostOf),
    proofs: chain.proofs ?? 'quorum',
    pollIntervalMs: chain.pollIntervalMs,
    gateway: chain.gateway,
    vault: chain.vault,
    startBlock: chain.startBlock,
    previousGateways: previousContracts.map((previous) => ({
      ...previous,
      cctpRoute: previous.cctpRoute ?? none,
    })),
    cctp:
      cctp === undefined
        ? off
        : {
            ...{ domain: cctp.domain, transmitter: cctp.transmitter, messenger: cctp.messenger },
            ...{ route: cctp.route, tokenId: cctp.tokenId, maxPerOrderUsd: formatUsd(cctp.maxPerOrder) },
          },
    finality: {
      tag: finality.tag,
      depth: finality.depth,
      quorum: finality.quorum,
      expectedSeconds: finality.expectedSeconds ?? 'as measured',
    },
    tokens: chain.tokens.map(({ tokenId, address, name, symbol, decimals, permits }) => ({
      ...{ tokenId, address, name, symbol, decimals },
      permits: permits ?? 'what the chain says',
    })),
  };
}

function shownSettlement(settlement: ServiceOptions['settlement']) {
  const { outflow } = settlement;
  return {
    mode: settlement.mode,
    batchSize: settlement.batchSize,
    windowMs: settlement.windowMs,
    windowSeconds: settlement.windowSeconds,
    notMinedAfterSeconds: settlement.notMinedAfterSeconds,
    reclaimAfterSeconds: settlement.reclaimAfterSeconds ?? '30 days, or 7 for another token or chain',
    maxFeePerGasGwei: settlement.maxFeePerGasGwei,
    maxBaseFeeGwei: settlement.maxBaseFeeGwei ?? none,
    outflow:
      outflow === undefined
        ? off
        : {
            perOrderUsd: formatUsd(outflow.perOrder),
            hourlyUsd: formatUsd(outflow.hourly),
            dailyUsd: formatUsd(outflow.daily),
          },
  };
}

function shownGasless(gasless: GaslessSettings | undefined) {
  if (gasless === undefined) return { enabled: false };
  const { budgets, depositBudgets, totals, deposits } = gasless;
  return {
    enabled: true,
    minAmount: gasless.minAmount,
    relayer: gasless.relayer,
    x402WaitMs: gasless.x402WaitMs,
    gasPerPayerPerDay: budgets.perPayer,
    gasPerLinkPerDay: budgets.perLink,
    gasPerNetworkPerDay: budgets.perNetwork,
    gasPerSmartAccountPayment: budgets.smartAccounts.perPayment,
    smartAccountFailuresPerMerchantPerDay: budgets.smartAccounts.failuresPerMerchant,
    gasPerMerchantPerDay: totals?.payments.perMerchant ?? none,
    gasPerDay: totals?.payments.all ?? none,
    gasForReturnsPerMerchantPerDay: totals?.returns.perMerchant ?? none,
    gasForReturnsPerDay: totals?.returns.all ?? none,
    gasForCollectionsPerLinkPerDay: depositBudgets?.collections ?? none,
    gasForReturnsPerLinkPerDay: depositBudgets?.returns ?? none,
    depositWindowMs: gasless.depositWindowMs,
    balanceWindowMs: gasless.balanceWindowMs,
    deposits:
      deposits === undefined ? off : { ...deposits, underpaidAmount: deposits.underpaidAmount ?? none },
  };
}

function shownSmtp(smtp: ServiceOptions['smtp']) {
  if (smtp === undefined) return off;
  const { host, port, security, from, fromName, payerMailsPerDay = 'the usual' } = smtp;
  return { host, port, security, from, fromName, payerMailsPerDay };
}

function shownRateLimits({ rateLimits, maxOpenSessions }: ServiceOptions) {
  if (rateLimits === undefined) return off;
  return {
    keyReadsPerSecond: rateLimits.keyReads.count,
    keyWritesPerSecond: rateLimits.keyWrites.count,
    keyListsPerSecond: rateLimits.keyLists.count,
    publicReadsPerSecond: rateLimits.publicReads.count,
    failedAuthenticationsPerMinute: rateLimits.failedAuthentications.count,
    signedRequestsPerMinute: rateLimits.signedRequests.count,
    createsPerLinkPerMinute: rateLimits.linkCreations.count,
    smartAccountChecksPerMinute: rateLimits.walletCalls.count,
    openSessionsPerPayer: maxOpenSessions ?? 'no limit',
  };
}

/** The rest of a URL may be a key. */
function hostOf(url: string | undefined): string {
  return url === undefined ? none : new URL(url).host;
}

function written(settings: object): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(settings, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
}
