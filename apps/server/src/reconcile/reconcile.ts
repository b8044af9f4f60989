import type { Database, Queryable, Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { getBlock } from '#chains/rpc/actions.ts';
import { boundTo, type Rpc, RpcUnavailable } from '#chains/rpc/rpc.ts';
import { backfillChain, lockChain } from '#chains/watcher/cursor.ts';
import { book, type Posting } from '#ledger/entry.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { type Balance, type Holder, readBalances } from './balance.ts';
import {
  booksAtFinal,
  claimLook,
  forgetBalances,
  lockLook,
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

export interface ReconcileDeps {
  readonly chains: readonly Chain[];
  readonly rpcOf: (chainId: number) => Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two looks at a chain; a minute by default. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 60_000;
/** After a look without an answer: the contracts may only just have come up, or the node. */
const unreadableMs = 5_000;
/** How often a process asks whether a look is due. */
const askMs = 1_000;
/** Looks in a row with a difference that stop a chain: one may be a node's word alone. */
const driftsToStop = 2;

/** What a look came to: nobody's turn, books and chain agree, they differ, or the chain or the database did not answer. */
export type LookResult = 'not_due' | 'agreed' | 'drifted' | 'unreadable';

/**
 * Compares the books with the chains until the signal aborts. However many processes run it, one has each look at a
 * chain. Differences in two looks in a row stop settlement, payouts and refunds of that chain, never its watching.
 */
export async function runReconciliation(deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  await Promise.all(
    deps.chains.map(async (chain) => {
      const rpc = boundTo(deps.rpcOf(chain.chainId), signal);
      const intervalMs = Math.min(askMs, deps.intervalMs ?? defaultIntervalMs);
      const failureFields = { chainId: chain.chainId };
      await runRounds(
        { ...deps, intervalMs, failure: 'reconcile.failed', failureFields },
        signal,
        async () => {
          await reconcileChain(deps, chain, rpc);
          return false;
        },
      );
    }),
  );
}

/** What the ledger says at the final block. */
interface Books {
  readonly number: bigint;
  readonly hash: Hex;
  readonly stoppedReason: string;
  /** As the chain counts: what is held, and the fees, positive. */
  readonly balances: readonly Balance[];
}

/** One balance in the books and on the chain. */
interface Comparison {
  readonly holder: Holder;
  readonly asset: string;
  readonly ledger: bigint;
  readonly chain: bigint;
}

/** One look at a chain, if one is due. */
export async function reconcileChain(deps: ReconcileDeps, chain: Chain, rpc: Rpc): Promise<LookResult> {
  const { db, clock, log, intervalMs = defaultIntervalMs } = deps;
  const now = clock.now();
  const nextAt = new Date(now.getTime() + intervalMs);
  const [claim] = await db.query(claimLook, [chain.chainId, now, nextAt]);
  const books = claim === undefined ? undefined : await readBooks(db, chain);
  if (claim === undefined || books === undefined) return 'not_due';
  try {
    const told = await readBalances(rpc, chain, books.hash);
    const result = await compare(deps, chain, { books, told, nextAt });
    if (result !== 'not_due' && books.stoppedReason === 'restored') {
      await catchUp(deps, chain, rpc, { books, result, target: claim.catch_up_number ?? undefined });
    }
    return result;
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    log.warn('reconcile.unreadable', { chainId: chain.chainId, message: error.message });
    const soonAt = new Date(now.getTime() + unreadableMs);
    await db.query(noteFailure, [chain.chainId, error.message, now, soonAt, nextAt]);
    return 'unreadable';
  }
}

function accountOf(chain: Chain, holder: Holder): string {
  return holder === 'fees' ? 'fees' : `${holder}:${chain.name}`;
}

const holders: readonly Holder[] = ['gateway', 'vault', 'fees'];

async function readBooks(queryable: Queryable, chain: Chain): Promise<Books | undefined> {
  const assets = chain.tokens.map((token) => token.tokenId);
  const accounts = holders.map((holder) => accountOf(chain, holder));
  const rows = await queryable.query(booksAtFinal, [chain.chainId, accounts, assets]);
  const [cursor] = rows;
  if (cursor === undefined) return undefined;
  const balances = rows.flatMap((row): Balance[] => {
    const holder = holders.find((candidate) => accountOf(chain, candidate) === row.ledger_account);
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
  deps: ReconcileDeps,
  chain: Chain,
  look: { readonly books: Books; readonly told: readonly Balance[]; readonly nextAt: Date },
): Promise<LookResult> {
  const { books, told, nextAt } = look;
  const now = deps.clock.now();
  const comparisons = told.map(({ holder, asset, amount }): Comparison => {
    const own = books.balances.find((balance) => balance.holder === holder && balance.asset === asset);
    return { holder, asset, ledger: own?.amount ?? 0n, chain: amount };
  });
  return deps.db.transaction(async (transaction) => {
    // The chain before the look, as a release locks them.
    await lockChain(transaction, chain.chainId);
    const [own] = await transaction.query(lockLook, [chain.chainId, nextAt]);
    if (own === undefined) return 'not_due';
    if (await isOpeningHeld(transaction, chain, comparisons)) {
      await sayDrift(transaction, deps, chain, { books, drifted: comparisons.filter(isDifferent), now });
      return 'drifted';
    }
    const opened = await openBooks(transaction, deps, chain, { books, comparisons, now });
    await transaction.query(storeBalances, [
      chain.chainId,
      opened.map(({ holder }) => holder),
      opened.map(({ asset }) => asset),
      opened.map(({ ledger }) => ledger),
      opened.map((comparison) => comparison.chain),
      books.number,
      now,
    ]);
    const drifted = opened.filter(isDifferent);
    if (drifted.length === 0) {
      await transaction.query(noteAgreement, [chain.chainId, books.number, books.hash, now]);
      return 'agreed';
    }
    await sayDrift(transaction, deps, chain, { books, drifted, now });
    return 'drifted';
  });
}

function isDifferent({ ledger, chain }: Comparison): boolean {
  return ledger !== chain;
}

/**
 * Whether books that nobody has compared yet have to wait: the chain lacks what had been final, and what is booked of it would
 * be taken for money that was never there.
 */
async function isOpeningHeld(
  transaction: Transaction,
  { chainId }: Chain,
  comparisons: readonly Comparison[],
): Promise<boolean> {
  return comparisons.some(isDifferent) && (await transaction.query(openingHeld, [chainId])).length > 0;
}

/**
 * A token's books begin with what the chain shows when they are first compared: contracts may have held tokens before the
 * token was configured, or before anybody compared.
 */
async function openBooks(
  transaction: Transaction,
  { log }: ReconcileDeps,
  chain: Chain,
  looked: { readonly books: Books; readonly comparisons: readonly Comparison[]; readonly now: Date },
): Promise<readonly Comparison[]> {
  const rows = await transaction.query(openBalances, [chain.chainId]);
  const open = new Set(rows.map((row) => `${row.holder} ${row.asset}`));
  const opened: Comparison[] = [];
  for (const comparison of looked.comparisons) {
    const { holder, asset, ledger } = comparison;
    const missing = comparison.chain - ledger;
    if (missing === 0n || open.has(`${holder} ${asset}`)) {
      opened.push(comparison);
      continue;
    }
    await book(transaction, {
      kind: 'opening',
      orderId: '',
      fact: `${holder}:${asset}:${looked.books.number}`,
      chainId: chain.chainId,
      txHash: '',
      at: looked.now,
      postings: openingPostings(chain, { holder, asset, amount: missing }),
    });
    log.warn('reconcile.opened', { chainId: chain.chainId, holder, asset, amount: missing.toString() });
    opened.push({ ...comparison, ledger: comparison.chain });
  }
  return opened;
}

/** Fees are part of what the gateway holds, so they come out of what nobody could place. */
function openingPostings(chain: Chain, { holder, asset, amount }: Balance): Posting[] {
  const counter = holder === 'vault' ? 'float' : 'unmatched';
  const sign = holder === 'fees' ? -1n : 1n;
  return [
    { account: accountOf(chain, holder), asset, amount: sign * amount },
    { account: counter, asset, amount: -sign * amount },
  ];
}

/**
 * The blocks since books and chain last agreed are read once more: where a node has left a log out, it comes now. With each
 * look they are more, so that is done in ever fewer of them, for as long as the difference stays.
 */
async function sayDrift(
  transaction: Transaction,
  { clock, log }: ReconcileDeps,
  chain: Chain,
  looked: { readonly books: Books; readonly drifted: readonly Comparison[]; readonly now: Date },
): Promise<void> {
  const { books, drifted, now } = looked;
  const [counted] = await transaction.query(noteDrift, [chain.chainId, now]);
  const runs = counted?.drift_runs ?? 1;
  const isStopped = runs >= driftsToStop;
  if (isStopped) await transaction.query(stopChain, [chain.chainId, 'drift']);
  const agreedNumber = counted?.agreed_number ?? undefined;
  if (agreedNumber !== undefined && isPowerOfTwo(runs))
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

/** A difference's first look, its second, fourth and so on. */
function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}

/**
 * After a restored backup nothing is settled until the books have caught up with the block that was the chain's head when
 * somebody first looked, and agree: until then a payment may have been settled that still looks open here.
 */
async function catchUp(
  { db, log }: ReconcileDeps,
  chain: Chain,
  rpc: Rpc,
  look: { readonly books: Books; readonly result: LookResult; readonly target: bigint | undefined },
): Promise<void> {
  const { chainId } = chain;
  if (look.target === undefined) {
    const head = await getBlock(rpc, 'latest');
    if (head !== undefined) await db.query(noteCatchUp, [chainId, head.number]);
    return;
  }
  if (look.result !== 'agreed' || look.books.number < look.target) return;
  await releaseStopped(db, chainId);
  log.info('reconcile.caught_up', { chainId, blockNumber: look.books.number.toString() });
}

/** Lets a stopped chain settle again; gives why it was stopped, undefined when it was not. */
export async function releaseStopped(queryable: Queryable, chainId: number): Promise<string | undefined> {
  const [row] = await queryable.query(releaseChain, [chainId]);
  return row?.reason;
}

/**
 * Has the next look open the chain's books anew: every difference of now becomes an entry of kind `opening`. For a person who
 * knows where the money went, or that it is lost.
 */
export async function acceptDifferences(queryable: Queryable, chainId: number): Promise<void> {
  await queryable.query(forgetBalances, [chainId]);
}
