import {
  backfillChain,
  boundTo,
  type ChainCursor,
  getBlock,
  lockChain,
  type Rpc,
  RpcUnavailable,
} from '@florin/evm';
import type { Database, Queryable, Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { book } from '#ledger/entry.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { type Balance, type Holder, readContractBalances } from './balance.ts';
import {
  type Comparison,
  compareBalances,
  driftsToStop,
  isDifferent,
  isRereadDue,
  ledgerAccountOf,
  openBooks,
  openingPostings,
} from './books.ts';
import {
  booksAtFinal,
  claimCheck,
  forgetBalances,
  holdOpening,
  lockCheck,
  lowerAgreement,
  noteAgreement,
  noteCatchUp,
  noteDrift,
  noteFailure,
  openBalances,
  openingHeld,
  releaseChain,
  stopChain,
  storeBalances,
} from './reconcile.sql.ts';

/** What this room needs of the process that it runs in. */
export interface ReconcileContext {
  readonly chains: readonly Chain[];
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between two checks of a chain. */
  readonly intervalMs: number;
}

/** After a check without an answer, or while blocks are read again before the books open. */
const soonMs = 5_000;
/** How often a process asks whether a check is due. */
const askMs = 1_000;

/** The result of a check: not due, books and chain agree, they differ, or the chain or the database did not answer. */
export type CheckResult = 'not_due' | 'agreed' | 'drifted' | 'unreadable';

/**
 * Compares the books with the chains until the signal aborts. Only one of several processes runs each check.
 * Differences in two consecutive checks stop settlement, payouts and refunds of that chain, never its watching.
 */
export async function runReconciliation(deps: ReconcileContext, signal: AbortSignal): Promise<void> {
  await Promise.all(
    deps.chains.map(async (chain) => {
      const rpc = boundTo(deps.rpcOf(chain.chainId), signal);
      const intervalMs = Math.min(askMs, deps.intervalMs);
      const failureFields = { chainId: chain.chainId };
      await runRounds({ ...deps, intervalMs, failure: 'reconcile.failed', failureFields }, signal, () =>
        reconcileChain(deps, chain, rpc),
      );
    }),
  );
}

/** The ledger at the final block. */
interface Books {
  readonly number: bigint;
  readonly hash: Hex;
  readonly stoppedReason: string;
  /** With the chain's signs: holdings and fees are positive. */
  readonly balances: readonly Balance[];
}

/** Runs one check of a chain if one is due. */
export async function reconcileChain(deps: ReconcileContext, chain: Chain, rpc: Rpc): Promise<CheckResult> {
  const { db, clock, log, intervalMs } = deps;
  const now = clock.now();
  const nextAt = new Date(now.getTime() + intervalMs);
  const [claim] = await db.query(claimCheck, { chainId: chain.chainId, now, nextAt });
  const books = claim === undefined ? undefined : await readBooks(db, chain);
  if (claim === undefined || books === undefined) return 'not_due';
  try {
    const onChain = await readContractBalances(rpc, chain, books.hash);
    const result = await compare(deps, chain, { books, onChain, nextAt });
    if (result !== 'not_due' && books.stoppedReason === 'restored') {
      await catchUp(deps, chain, rpc, { books, result, target: claim.catch_up_number ?? undefined });
    }
    return result;
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    log.warn('reconcile.unreadable', { chainId: chain.chainId, message: error.message });
    const soonAt = new Date(now.getTime() + soonMs);
    await db.query(noteFailure, {
      chainId: chain.chainId,
      failure: error.message,
      lookedAt: now,
      retryAt: soonAt,
      claimedAt: nextAt,
    });
    return 'unreadable';
  }
}

const holders: readonly Holder[] = ['gateway', 'vault', 'fees'];

async function readBooks(queryable: Queryable, chain: Chain): Promise<Books | undefined> {
  const assets = chain.tokens.map((token) => token.tokenId);
  const accounts = holders.map((holder) => ledgerAccountOf(chain, holder));
  const rows = await queryable.query(booksAtFinal, {
    chainId: chain.chainId,
    ledgerAccounts: accounts,
    assets,
  });
  const [cursor] = rows;
  if (cursor === undefined) return undefined;
  const balances = rows.flatMap((row): Balance[] => {
    const holder = holders.find((candidate) => ledgerAccountOf(chain, candidate) === row.ledger_account);
    if (holder === undefined) return [];
    // Fees are owed to the operator: a credit, and so negative in the books.
    return [{ holder, asset: row.asset, amount: holder === 'fees' ? -row.balance : row.balance }];
  });
  return {
    number: cursor.final_number,
    hash: cursor.final_hash as Hex,
    stoppedReason: cursor.stopped_reason,
    balances,
  };
}

async function compare(
  deps: ReconcileContext,
  chain: Chain,
  check: { readonly books: Books; readonly onChain: readonly Balance[]; readonly nextAt: Date },
): Promise<CheckResult> {
  const { books, onChain, nextAt } = check;
  const now = deps.clock.now();
  const comparisons = compareBalances(books.balances, onChain);
  return deps.db.transaction(async (transaction) => {
    // Lock the chain before the check, in the same order as a release.
    const cursor = await lockChain(transaction, chain.chainId);
    const [own] = await transaction.query(lockCheck, { chainId: chain.chainId, nextAt });
    if (cursor === undefined || own === undefined) return 'not_due';
    if (await isOpeningHeld(transaction, chain, comparisons)) {
      await reportDrift(transaction, deps, chain, { books, drifted: comparisons.filter(isDifferent), now });
      return 'drifted';
    }
    const isNew = own.agreed_number === null;
    if (
      isNew &&
      (await isReadAgain(transaction, deps, chain, { cursor, comparisons, found: own.differences }))
    ) {
      return 'drifted';
    }
    const rows = await transaction.query(openBalances, { chainId: chain.chainId });
    const open = new Set(rows.map((row) => `${row.holder} ${row.asset}`));
    const { opened, openings } = openBooks(comparisons, open);
    for (const opening of openings) await bookOpening(transaction, deps, chain, { books, opening, now });
    const addresses = new Map(chain.tokens.map(({ tokenId, address }) => [tokenId, address.toLowerCase()]));
    await transaction.query(storeBalances, {
      chainId: chain.chainId,
      holders: opened.map(({ holder }) => holder),
      assets: opened.map(({ asset }) => asset),
      tokens: opened.map(({ asset }) => addresses.get(asset) ?? ''),
      ledgerAmounts: opened.map(({ ledger }) => ledger),
      chainAmounts: opened.map((comparison) => comparison.chain),
      blockNumber: books.number,
      updatedAt: now,
    });
    const drifted = opened.filter(isDifferent);
    if (drifted.length === 0) {
      await transaction.query(noteAgreement, {
        chainId: chain.chainId,
        agreedNumber: books.number,
        agreedHash: books.hash,
        agreedAt: now,
      });
      return 'agreed';
    }
    await reportDrift(transaction, deps, chain, { books, drifted, now });
    return 'drifted';
  });
}

/**
 * Whether books that were never compared must wait. The chain lacks events that were final, and their entries would
 * count as money that never existed.
 */
async function isOpeningHeld(
  transaction: Transaction,
  { chainId }: Chain,
  comparisons: readonly Comparison[],
): Promise<boolean> {
  return comparisons.some(isDifferent) && (await transaction.query(openingHeld, { chainId })).length > 0;
}

/**
 * Whether books that were never compared open only after their blocks have been read again. A log that a node left out
 * would become part of the opening, and no later check would miss its payment. So the chain is read again until two
 * checks find the same differences.
 */
async function isReadAgain(
  transaction: Transaction,
  { clock, log }: ReconcileContext,
  { chainId, startBlock }: Chain,
  check: {
    readonly cursor: Pick<ChainCursor, 'backfillNext'>;
    readonly comparisons: readonly Comparison[];
    /** The differences that the last check found. */
    readonly found: string;
  },
): Promise<boolean> {
  const differences = check.comparisons
    .filter(isDifferent)
    .map(({ holder, asset, ledger, chain }) => `${holder} ${asset} ${chain - ledger}`)
    .join();
  const isReading = check.cursor.backfillNext !== undefined;
  if (differences === '' || (!isReading && differences === check.found)) return false;
  // Without a final block nothing has been read, so no log can be missing.
  if (!isReading && (await backfillChain(transaction, clock, { chainId, from: startBlock })) === undefined)
    return false;
  const now = clock.now();
  await transaction.query(holdOpening, {
    chainId,
    differences: isReading ? check.found : differences,
    lookedAt: now,
    retryAt: new Date(now.getTime() + soonMs),
  });
  log.info('reconcile.opening_held', { chainId, differences, isReading });
  return true;
}

async function bookOpening(
  transaction: Transaction,
  { log }: ReconcileContext,
  chain: Chain,
  of: { readonly books: Books; readonly opening: Balance; readonly now: Date },
): Promise<void> {
  const { holder, asset, amount } = of.opening;
  await book(transaction, {
    kind: 'opening',
    orderId: '',
    fact: `${holder}:${asset}:${of.books.number}`,
    chainId: chain.chainId,
    txHash: '',
    at: of.now,
    postings: openingPostings(chain, of.opening),
  });
  log.warn('reconcile.opened', { chainId: chain.chainId, holder, asset, amount: amount.toString() });
}

/**
 * Reads the blocks since books and chain last agreed again, which finds a log that a node left out. The range grows
 * with each check, so it is read again at growing intervals while the difference stays.
 */
async function reportDrift(
  transaction: Transaction,
  { clock, log }: ReconcileContext,
  chain: Chain,
  looked: { readonly books: Books; readonly drifted: readonly Comparison[]; readonly now: Date },
): Promise<void> {
  const { books, drifted, now } = looked;
  const [counted] = await transaction.query(noteDrift, { chainId: chain.chainId, lookedAt: now });
  const runs = counted?.drift_runs ?? 1;
  const isStopped = runs >= driftsToStop;
  if (isStopped) await transaction.query(stopChain, { chainId: chain.chainId, stoppedReason: 'drift' });
  const agreedNumber = counted?.agreed_number ?? undefined;
  if (agreedNumber !== undefined && isRereadDue(runs))
    await backfillChain(transaction, clock, { chainId: chain.chainId, from: agreedNumber + 1n });
  for (const { holder, asset, ledger, chain: onChain } of drifted) {
    log.error('reconcile.drift', new Error('books and chain differ'), {
      chainId: chain.chainId,
      blockNumber: books.number.toString(),
      holder,
      asset,
      ledger: ledger.toString(),
      chain: onChain.toString(),
      difference: (ledger - onChain).toString(),
      runs,
      isStopped,
    });
  }
}

/**
 * After a restored backup, nothing is settled until the books reach the chain's head of the first check, and agree.
 * Before that, a payment that looks open here may already be settled.
 */
async function catchUp(
  { db, clock, log }: ReconcileContext,
  chain: Chain,
  rpc: Rpc,
  check: { readonly books: Books; readonly result: CheckResult; readonly target: bigint | undefined },
): Promise<void> {
  const { chainId } = chain;
  // Soon again: settlement waits for it.
  const retryAt = new Date(clock.now().getTime() + soonMs);
  if (check.target === undefined) {
    const head = await getBlock(rpc, 'latest');
    if (head !== undefined) await db.query(noteCatchUp, { chainId, catchUpNumber: head.number, retryAt });
    return;
  }
  if (check.result === 'agreed' && check.books.number < check.target)
    await db.query(noteCatchUp, { chainId, catchUpNumber: check.target, retryAt });
  if (check.result !== 'agreed' || check.books.number < check.target) return;
  await releaseStopped(db, chainId);
  log.info('reconcile.caught_up', { chainId, blockNumber: check.books.number.toString() });
}

/**
 * After the watcher has gone back below final blocks, a difference must reread all blocks above the anchor. A node may
 * leave out logs of these new blocks, too.
 */
export async function agreementUndone(queryable: Queryable, chainId: number, anchor: bigint): Promise<void> {
  await queryable.query(lowerAgreement, { chainId, anchor });
}

/** Lets a stopped chain settle again. Returns why it was stopped; undefined when it was not. */
export async function releaseStopped(queryable: Queryable, chainId: number): Promise<string | undefined> {
  const [row] = await queryable.query(releaseChain, { chainId });
  return row?.reason;
}

/**
 * Makes the next check open the chain's books anew: every present difference becomes an entry of kind `opening`. For an
 * operator who knows where the money went, or that it is lost.
 */
export async function acceptDifferences(queryable: Queryable, chainId: number): Promise<void> {
  await queryable.query(forgetBalances, { chainId });
}
