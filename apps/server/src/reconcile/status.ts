import type { Queryable } from '@florin/pg';
import type { Chain } from '#chains/chain.ts';
import type { Holder } from './balance.ts';
import { type BalanceRow, balancesOfChains, looksOfChains } from './reconcile.sql.ts';

/** One balance as the last look found it. Integers as decimal strings, in the token's own units. */
export interface BalanceStatus {
  readonly holder: Holder;
  readonly token: string;
  readonly ledger: string;
  readonly chain: string;
  /** Ledger minus chain: `0`, or something is wrong. */
  readonly difference: string;
  readonly blockNumber: string;
}

/** What may be told to everybody about one chain's books. */
export interface ChainStatus {
  readonly chain: string;
  readonly chainId: string;
  /** The last block at which every balance agreed; null before the first. */
  readonly reconciledBlock: string | null;
  /** When that was found, RFC 3339; null before. */
  readonly reconciledAt: string | null;
  /** When somebody last looked, whatever was found. */
  readonly lookedAt: string | null;
  /** stopped: nothing is settled, paid out or refunded. */
  readonly settlement: 'running' | 'stopped';
  /** Empty while running; drift, restored or halted. */
  readonly reason: string;
  readonly balances: readonly BalanceStatus[];
}

/** The books of all configured chains. */
export interface BooksStatus {
  /** Whether every chain has been compared, and nothing differed or is stopped. */
  readonly isBalanced: boolean;
  readonly chains: readonly ChainStatus[];
}

/** Reads what the last looks at the chains found. Asks no chain. */
export async function readStatus(queryable: Queryable, chains: readonly Chain[]): Promise<BooksStatus> {
  const ids = chains.map((chain) => chain.chainId);
  const looks = await queryable.query(looksOfChains, [ids]);
  const balances = await queryable.query(balancesOfChains, [ids]);
  const statuses = chains.map((chain): ChainStatus => {
    const look = looks.find((row) => Number(row.chain_id) === chain.chainId);
    const isHalted = look !== undefined && look.halted_reason !== '';
    const reason = isHalted ? 'halted' : (look?.stopped_reason ?? '');
    return {
      chain: chain.name,
      chainId: String(chain.chainId),
      // Differences that were accepted before anybody had compared are not an agreement.
      reconciledBlock: look?.agreed_at == null ? null : (look.agreed_number?.toString() ?? null),
      reconciledAt: look?.agreed_at?.toISOString() ?? null,
      lookedAt: look?.looked_at?.toISOString() ?? null,
      settlement: reason === '' ? 'running' : 'stopped',
      reason,
      balances: balances.filter((row) => Number(row.chain_id) === chain.chainId).map(balanceStatus),
    };
  });
  const isWell = ({ reconciledBlock, settlement, balances: all }: ChainStatus) =>
    reconciledBlock !== null && settlement === 'running' && all.every(({ difference }) => difference === '0');
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
