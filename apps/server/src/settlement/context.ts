import type { Database } from '@florin/pg';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chains } from '#chains/chain.ts';
import type { Sender } from '#chains/sender/sender.ts';
import type { OrderSigner } from '#orders/signer.ts';
import type { AttestationSource } from '#outside/attestation.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import type { Log } from '#telemetry/log.ts';

/** Most that vaults of one chain pay out of the operator's float without a person's release, in Micro-USD. */
export interface OutflowCaps {
  readonly perOrder: MicroUsd;
  readonly hourly: MicroUsd;
  readonly daily: MicroUsd;
}

export interface SettlementSettings {
  /** Orders in one settle or payout transaction, 1 to 50. */
  readonly batchSize: number;
  /** Milliseconds between rounds. */
  readonly windowMs: number;
  /** How long the first order of a batch waits for others, in seconds; absent: not at all. */
  readonly windowSeconds?: number;
  /** A settlement not in a block after this many seconds shows as settlement_pending. */
  readonly notMinedAfterSeconds: number;
  /** Gwei per gas above which the next block's base fee has settlements wait; absent: they go at any price. */
  readonly maxBaseFeeGwei?: number;
  /** A payout that waits for so long for a vault's caps is served before younger ones; absent: 1,800. */
  readonly keepAfterSeconds?: number;
  /** Absent: the vaults' own caps are all. */
  readonly outflow?: OutflowCaps;
}

export interface SettlementContext extends SessionMoveContext {
  readonly db: Database;
  readonly chains: Chains;
  readonly sender: Sender;
  readonly signer: OrderSigner;
  readonly log: Log;
  readonly settings: SettlementSettings;
  /** The sender's wallet. */
  readonly wallet: Hex;
  /** Its other wallets, when it has several. */
  readonly otherWallets?: readonly Hex[];
  /** Reads a contract at the latest block. */
  readonly read: (chainId: number, call: { to: Hex; data: Hex }) => Promise<Hex>;
  /** Where burns are attested; absent where no chain has CCTP. */
  readonly attestations?: AttestationSource;
}
