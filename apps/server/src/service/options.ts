import type { FeePpm } from '@florin/protocol/fee.ts';
import type { Hex, SettlementMode } from '@florin/protocol/order.ts';
import type { SigningKey } from '@florin/signing';
import type { ImageSettings } from '#catalog/images/open-images.ts';
import type { Chains } from '#chains/chain.ts';
import type { ChainVerification } from '#chains/verification.ts';
import type { DepositSettings } from '#deposits/context.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import type { SendReceipt } from '#mail/receipt-again.ts';
import type { SmtpSettings } from '#mail/smtp.ts';
import type { TellInvited, TellOwners, TellPerson } from '#members/context.ts';
import type { GasOffers } from '#merchants/relayed-gas.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { ArchivePolicy } from '#sessions/archive.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import type { ErasurePolicy } from '#sessions/erasure.ts';
import type { SettlementSettings } from '#settlement/context.ts';
import type { GasBudgets } from '#submissions/context.ts';
import type { Log } from '#telemetry/log.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { Traces, TracingSettings } from '#telemetry/traces.ts';
import type { Notify } from '#webhooks/outbox.ts';

/** What a process of the service does: answer HTTP, follow the chains, or settle and deliver. */
export type ProcessRole = 'web' | 'watcher' | 'worker';

/**
 * The wallets that can send payments for payers: the order signer's, as long as it has gas, whose transactions need no
 * signature of the order; or the settlers'.
 */
export const relayers = ['orderSigner', 'settler'] as const;

/** The payments that the service sends and pays the gas of. */
export interface GaslessSettings extends DepositSettings {
  readonly budgets: GasBudgets;
  /** Whether a merchant's payers are offered it; always when absent. See `gasOffers`. */
  readonly isOffered?: GasOffers['isOffered'];
  readonly relayer: (typeof relayers)[number];
  /** Milliseconds that an x402 request waits until a block has its payment. */
  readonly x402WaitMs: number;
}

/** How long what grows stays where it is. */
export interface RetentionPolicy extends ArchivePolicy, ErasurePolicy {}

/** What the configuration says, and the outside world. */
export interface ServiceSettings {
  /** `local` is for the local world: only there a password alone opens the dashboard. Production when absent. */
  readonly environment?: 'local' | 'production';
  /**
   * Connections of the pool; ten when absent, as in production. Tests open fewer: each connection plans every statement that
   * it runs, which would cost a test half a second of PostgreSQL.
   */
  readonly databaseConnections?: number | undefined;
  /** Seconds that requests wait at the beginning of an outage of the database; 0 when absent: they fail at once. */
  readonly databaseWaitSeconds?: number;
  /** A standby that answers lists, search and sums while its data is no older than this. */
  readonly databaseReplica?: { readonly url: string; readonly maxLagSeconds: number } | undefined;
  /** Seconds that a wallet waits that is not its merchant's first; a day when absent. */
  readonly walletDelaySeconds?: number;
  /** The public origin, without a trailing slash, of the merchant API, the AI protocol and the hosted pages. */
  readonly origin: string;
  /** The EIP-712 domain that payers sign for is `aipay.` and this name. */
  readonly serviceDomain: string;
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Proxies whose X-Forwarded-For is trusted; none when absent. */
    readonly trustedProxies?: readonly string[];
  };
  /** Where this process tells its health and its metrics; nowhere when absent. */
  readonly monitoring?:
    | { readonly host: string; readonly port: number; readonly backups?: string | undefined }
    | undefined;
  /** Where traces go; absent: nowhere, and their packages are not loaded. */
  readonly tracing?: TracingSettings | undefined;
  readonly databaseUrl: string;
  readonly roles: ReadonlySet<ProcessRole>;
  readonly chains: Chains;
  readonly fees: { readonly sameToken: FeePpm; readonly sameChain: FeePpm; readonly crossChain: FeePpm };
  readonly orderKey: SigningKey;
  readonly settlerKey: SigningKey;
  /** More wallets that settle; none when absent. */
  readonly otherSettlerKeys?: readonly SigningKey[];
  /** 32 bytes each. The first seals; all can open. */
  readonly masterKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly webhooks: {
    readonly allowLoopback: boolean;
    /** Certificate authorities in PEM for receivers, instead of the system's. */
    readonly certificateAuthority?: string;
    readonly pauseAfterFailures: number;
    readonly pauseAfterHours: number;
  };
  /** The store for images of products; without one, products have no images. */
  readonly images?: ImageSettings | undefined;
  /** The operator's mail server; absent: the service sends no e-mails. */
  readonly smtp?: SmtpSettings | undefined;
  /** Absent: the service pays no gas for payers. */
  readonly gasless?: GaslessSettings | undefined;
  readonly settlement: SettlementSettings & {
    readonly reclaimAfterSeconds: number | undefined;
    readonly maxFeePerGasGwei: number;
    /** For accounts without a mode of their own. */
    readonly mode: SettlementMode;
  };
  /** Absent: everything stays. */
  readonly retention?: RetentionPolicy;
  /** Where CCTP burns are attested; absent if no chain has CCTP. */
  readonly attestationUrl?: string | undefined;
  /** Local worlds only: the key of a wallet that pays for visitors of the hosted page without one. */
  readonly demoPayerKey?: Hex | undefined;
  /** Of the installation, for the page at `/`; the host of the origin when absent. */
  readonly displayName?: string | undefined;
  /** Local worlds only: the console to which a browser at `/` is sent. */
  readonly consoleUrl?: string | undefined;
  /** Where payers whose wallet has too little get tokens; the page names no place without it. */
  readonly fundingUrl?: string | undefined;
  /** The project's id, and the text of the module that the operator built; absent: the pages offer no WalletConnect. */
  readonly walletConnect?: { readonly projectId: string; readonly module: string } | undefined;
  /** Milliseconds between two comparisons of the books with a chain; a minute when absent. */
  readonly reconcileIntervalMs?: number;
  /** How many payable sessions one payer may have open; undefined: no limit. */
  readonly maxOpenSessions: number | undefined;
  /** The request limits of the installation; undefined: none. */
  readonly rateLimits: RateLimits | undefined;
  /** The share of answered requests that get a line in the log; all when absent. */
  readonly requestLogShare?: number;
  /** The configuration in force without its secrets, for the operator's screens; they show none when absent. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface ServiceOptions extends ServiceSettings {
  readonly verification: ChainVerification;
  /** `startService` sets both where `smtp` is set. */
  readonly notify?: Notify | undefined;
  readonly tellPerson?: TellPerson | undefined;
  readonly tellInvited?: TellInvited | undefined;
  readonly sendReceipt?: SendReceipt | undefined;
  /** `startService` sets it where `monitoring` is set, and the next where `tracing` is. */
  readonly metrics?: Metrics | undefined;
  readonly traces?: Traces | undefined;
  /** `startService` sets it for both. */
  readonly onMove?: SessionMoveContext['onMove'];
  readonly tellOwners?: TellOwners | undefined;
}
