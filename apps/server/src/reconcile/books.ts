import type { Chain } from '#chains/chain.ts';
import type { Posting } from '#ledger/entry.ts';
import type { Balance, Holder } from './balance.ts';

/** One balance in the books and on the chain, in the token's own units. */
export interface Comparison {
  readonly holder: Holder;
  readonly asset: string;
  readonly ledger: bigint;
  readonly chain: bigint;
}

export function isDifferent({ ledger, chain }: Comparison): boolean {
  return ledger !== chain;
}

/** Compares the chain's balances with the books. A balance that the books do not have counts as 0. */
export function compareBalances(
  books: readonly Balance[],
  onChain: readonly Balance[],
): readonly Comparison[] {
  return onChain.map(({ holder, asset, amount }) => {
    const own = books.find((balance) => balance.holder === holder && balance.asset === asset);
    return { holder, asset, ledger: own?.amount ?? 0n, chain: amount };
  });
}

/**
 * Opens the books of balances that were never compared. Contracts may have held tokens before the token was configured, or
 * before the first comparison, so those differences become entries. `open` holds the balances that were compared before,
 * as `<holder> <asset>`.
 */
export function openBooks(
  comparisons: readonly Comparison[],
  open: ReadonlySet<string>,
): { readonly opened: readonly Comparison[]; readonly openings: readonly Balance[] } {
  const isNew = (comparison: Comparison) =>
    isDifferent(comparison) && !open.has(`${comparison.holder} ${comparison.asset}`);
  return {
    opened: comparisons.map((each) => (isNew(each) ? { ...each, ledger: each.chain } : each)),
    openings: comparisons
      .filter(isNew)
      .map(({ holder, asset, ledger, chain }) => ({ holder, asset, amount: chain - ledger })),
  };
}

/** The ledger's account of a holder. */
export function ledgerAccountOf({ name }: Pick<Chain, 'name'>, holder: Holder): string {
  return holder === 'fees' ? 'fees' : `${holder}:${name}`;
}

/** Books an opening. The gateway's balance includes the fees, so they are taken out of the unmatched part. */
export function openingPostings(chain: Pick<Chain, 'name'>, { holder, asset, amount }: Balance): Posting[] {
  const counter = holder === 'vault' ? 'float' : 'unmatched';
  const signed = holder === 'fees' ? -amount : amount;
  return [
    { account: ledgerAccountOf(chain, holder), asset, amount: signed },
    { account: counter, asset, amount: -signed },
  ];
}

/** Consecutive checks with a difference that stop a chain: a single one may be the error of one node. */
export const driftsToStop = 2;

/** Whether a check with a difference reads blocks again: the first, the second, the fourth, and so on. */
export function isRereadDue(driftRuns: number): boolean {
  return Number.isInteger(Math.log2(driftRuns));
}
