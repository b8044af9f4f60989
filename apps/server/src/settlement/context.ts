import type { Rpc, Sender } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Chains } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import type { OrderSigner } from '#orders/signer.ts';
import type { AttestationSource } from '#outside/attestation.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import type { Log } from '#telemetry/log.ts';
import type { Traces } from '#telemetry/traces.ts';

/** The most that vaults of one chain pay out without a person's release, in Micro-USD. */
export interface OutflowCaps {
  readonly perOrder: MicroUsd;
  readonly hourly: MicroUsd;
  readonly daily: MicroUsd;
}

export interface SettlementSettings {
  /** Most orders in one settle or payout transaction, 1 to 50. */
  readonly batchSize: number;
  /** Milliseconds between rounds. */
  readonly windowMs: number;
  /** How long the first order of a batch waits for others, in seconds; 0 sends it at once. */
  readonly windowSeconds: number;
  /** A settlement that is in no block after this many seconds shows as settlement_pending. */
  readonly notMinedAfterSeconds: number;
  /** A payout that has waited this many seconds for a vault's caps is served before younger ones. */
  readonly keepAfterSeconds: number;
  /** Settlements wait while the next block's base fee is above this many gwei; undefined: at any price. */
  readonly maxBaseFeeGwei: number | undefined;
  /** Undefined: only the vaults' own caps apply. */
  readonly outflow: OutflowCaps | undefined;
}

/** What this room needs of the process that it runs in. */
export interface SettlementContext extends SessionMoveContext {
  readonly db: Database;
  readonly chains: Chains;
  readonly sender: Sender<SendPurpose>;
  readonly signer: OrderSigner;
  readonly log: Log;
  readonly settings: SettlementSettings;
  /** Each batch is a trace. */
  readonly traces?: Pick<Traces, 'work'> | undefined;
  readonly rpcOf: (chainId: number) => Rpc;
  /** Where burns are attested; undefined where no chain has CCTP. */
  readonly attestations: AttestationSource | undefined;
}
