import type { Queryable } from '@florin/pg';
import type { ChainCondition, Chains } from '#chains/chain.ts';
import type { Holder } from './balance.ts';
import { type BalanceRow, balancesOfChains, lastChecks } from './reconcile.sql.ts';

/** One balance as the last check found it. Integers are decimal strings, in the token's own units. */
export interface BalanceStatus {
  readonly holder: Holder;
  readonly token: string;
  readonly ledger: string;
  readonly chain: string;
  /** Ledger minus chain; anything but `0` is an error. */
  readonly difference: string;
  readonly blockNumber: string;
}

/** The public part of one chain's books. */
export interface ChainStatus {
  readonly chain: string;
  readonly chainId: string;
  /** The last block at which every balance agreed; null before the first. */
  readonly reconciledBlock: string | null;
  /** The time of that check, RFC 3339; null before. */
  readonly reconciledAt: string | null;
  /** The time of the last check, regardless of its result. */
  readonly lookedAt: string | null;
  /** stopped: nothing is settled, paid out or refunded. */
  readonly settlement: 'running' | 'stopped';
  /** Empty while running; drift, restored or halted. */
  readonly reason: string;
  /** Whether new payments are taken; unavailable: refused with 900401. */
  readonly payments: ChainCondition['status'];
  /** Empty while available. */
  readonly paymentsReason: ChainCondition['reason'];
  readonly balances: readonly BalanceStatus[];
}

/** The books of all configured chains. */
export interface BooksStatus {
  /** Whether every chain was compared, none differed and none is stopped. */
  readonly isBalanced: boolean;
  readonly chains: readonly ChainStatus[];
}

/** Reads the results of the last checks of the chains. Asks no chain. */
export async function readStatus(
  queryable: Queryable,
  { all, conditions }: Pick<Chains, 'all' | 'conditions'>,
): Promise<BooksStatus> {
  const ids = all.map((chain) => chain.chainId);
  const checks = await queryable.query(lastChecks, { chainIds: ids });
  const balances = await queryable.query(balancesOfChains, { chainIds: ids });
  const statuses = all.map((chain): ChainStatus => {
    const check = checks.find((row) => Number(row.chain_id) === chain.chainId);
    const isHalted = check !== undefined && check.halted_reason !== '';
    const reason = isHalted ? 'halted' : (check?.stopped_reason ?? '');
    const condition = conditions?.of(chain.chainId);
    return {
      chain: chain.name,
      chainId: String(chain.chainId),
      // Accepting differences before the first comparison is not an agreement.
      reconciledBlock: check?.agreed_at == null ? null : (check.agreed_number?.toString() ?? null),
      reconciledAt: check?.agreed_at?.toISOString() ?? null,
      lookedAt: check?.looked_at?.toISOString() ?? null,
      settlement: reason === '' ? 'running' : 'stopped',
      reason,
      payments: condition?.status ?? 'available',
      paymentsReason: condition?.reason ?? '',
      balances: balances.filter((row) => Number(row.chain_id) === chain.chainId).map(balanceStatus),
    };
  });
  const isWell = ({ reconciledBlock, settlement, balances: each }: ChainStatus) =>
    reconciledBlock !== null &&
    settlement === 'running' &&
    each.every(({ difference }) => difference === '0');
  return { isBalanced: statuses.every(isWell), chains: statuses };
}

function balanceStatus(row: BalanceRow): BalanceStatus {
  return {
    holder: row.holder as Holder,
    token: row.asset,
    ledger: row.ledger_amount.toString(),
    chain: row.chain_amount.toString(),
    difference: (row.ledger_amount - row.chain_amount).toString(),
    blockNumber: row.block_number.toString(),
  };
}
