import type { SigningKey } from '@florin/signing';
import { signerOf } from '@florin/signing';
import { finalityText } from '#chains/chain.ts';
import type { SendingWallet } from '#reconcile/health.ts';
import type { ServiceOptions } from './options.ts';

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

/**
 * The configuration as it is in force, for the operator's screens. It names what is shown, so a new secret is not shown by
 * accident: keys appear as addresses, nodes as hosts, the database and buckets not at all.
 */
export function configurationOf(options: ServiceOptions): Readonly<Record<string, unknown>> {
  const { chains, http, settlement, gasless, webhooks, rateLimits, smtp } = options;
  return {
    environment: options.environment ?? 'production',
    origin: options.origin,
    serviceDomain: options.serviceDomain,
    roles: [...options.roles],
    http: { host: http.host, port: http.port, trustedProxies: http.trustedProxies ?? [] },
    monitoring: options.monitoring ?? 'off',
    databaseWaitSeconds: options.databaseWaitSeconds ?? 0,
    walletDelaySeconds: options.walletDelaySeconds ?? 86_400,
    fees: options.fees,
    chains: chains.all.map((chain) => ({
      name: chain.name,
      chainId: chain.chainId,
      nodes: chain.rpcUrls.map((url) => new URL(url).host),
      webSocketNodes: (chain.wsUrls ?? []).map((url) => new URL(url).host),
      gateway: chain.gateway,
      vault: chain.vault,
      startBlock: chain.startBlock.toString(),
      finality: finalityText(chain.finality),
      tokens: chain.tokens.map(({ tokenId, address, decimals }) => ({ tokenId, address, decimals })),
    })),
    signers: {
      orderSigner: addressOf(options.orderKey),
      settlers: [options.settlerKey, ...(options.otherSettlerKeys ?? [])].map(addressOf),
    },
    masterKeys: options.masterKeys.length,
    webhooks: {
      allowLoopback: webhooks.allowLoopback,
      pauseAfterFailures: webhooks.pauseAfterFailures,
      pauseAfterHours: webhooks.pauseAfterHours,
      hasOwnAuthorities: webhooks.certificateAuthority !== undefined,
    },
    settlement: written(settlement),
    gasless: gasless === undefined ? 'off' : written({ budgets: gasless.budgets, relayer: gasless.relayer }),
    images: options.images?.store.kind ?? 'off',
    smtp:
      smtp === undefined
        ? 'off'
        : { host: smtp.host, port: smtp.port, security: smtp.security, from: smtp.from },
    maxOpenSessions: options.maxOpenSessions ?? 'no limit',
    rateLimits: rateLimits ?? 'off',
  };
}

/** Settings without secrets; amounts as decimal strings. */
function written(settings: object): unknown {
  return JSON.parse(
    JSON.stringify(settings, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
}
