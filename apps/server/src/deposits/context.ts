import type { Rpc, Sender } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Chains } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import type { ExceptionContext } from '#exceptions/exception.ts';
import type { GasTotals } from '#merchants/relayed-gas.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { OrderSigner } from '#orders/signer.ts';
import type { DepositBudgets } from './deposit-gas.ts';
import type { DepositReports } from './report.ts';

export interface DepositSettings {
  /** The smallest amount worth a transaction, in Micro-USD: less is neither collected nor sent back. */
  readonly minAmount: MicroUsd;
  /** Milliseconds between two searches of new blocks. */
  readonly depositWindowMs: number;
  /** Milliseconds between two readings of balances, each of at most two hundred addresses. */
  readonly balanceWindowMs: number;
  /** How many addresses a node is asked about by name. With more, all transfers of the tokens are read. */
  readonly mostNamed: number;
  /** Undefined: no limit. */
  readonly depositBudgets: DepositBudgets | undefined;
  /** Limits on all gas that is spent for payers; undefined: none. */
  readonly totals: GasTotals | undefined;
  /** Undefined: nothing is added, and late deposits go back. */
  readonly deposits: DepositPolicy | undefined;
}

/** What this room needs of the process that it runs in. */
export interface DepositContext extends ExceptionContext {
  readonly db: Database;
  readonly chains: Chains;
  readonly rpcOf: (chainId: number) => Rpc;
  readonly sender: Pick<Sender<SendPurpose>, 'plan' | 'record' | 'broadcast'>;
  readonly signer: Pick<OrderSigner, 'signOrder' | 'hasSigned'>;
  readonly settings: DepositSettings;
  readonly reports: DepositReports;
}
