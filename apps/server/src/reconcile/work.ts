import type { Queryable, Row } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import {
  type ListedLegState,
  type ListedTransactionState,
  listedTransactionStates,
  type ServiceTransaction,
  type SettlementLeg,
} from '@florin/protocol/staff-work.ts';
import type { Chains } from '#chains/chain.ts';
import { networkFactsOf } from '#chains/networks.ts';
import {
  legsPage,
  legsPageOfPayment,
  listedChains,
  transactionsById,
  transactionsOfHash,
  transactionsPage,
} from './work.sql.ts';

const maxAttemptsListed = 10;

interface WorkRequest<State> {
  readonly page: number;
  readonly size: number;
  readonly state?: State | undefined;
  /** The name of a configured chain. */
  readonly chain?: string | undefined;
  /** An exact id or hash. */
  readonly of?: string | undefined;
}

/** The statuses of a state in the list; `held` legs are waiting ones. */
const legStatuses: Readonly<Record<ListedLegState, readonly string[]>> = {
  open: ['waiting', 'sent'],
  waiting: ['waiting'],
  held: ['waiting'],
  sent: ['sent'],
  done: ['done'],
};
const allLegStatuses = ['waiting', 'sent', 'done'];

/** A page of settlement legs of all merchants, newest first. Refuses (400202) a chain that is not configured. */
export async function listSettlementLegs(
  db: Queryable,
  { chains }: { readonly chains: Chains },
  { page, size, state, chain, of = '' }: WorkRequest<ListedLegState>,
): Promise<{ hasMore: boolean; legs: SettlementLeg[] }> {
  const filter = {
    chainIds: await chainIdsOf(db, chains, chain),
    statuses: state === undefined ? allLegStatuses : legStatuses[state],
    isHeld: state === 'held' || state === 'waiting' ? state === 'held' : null,
    limit: size + 1,
    skip: (page - 1) * size,
  };
  const rows =
    of === '' ? await db.query(legsPage, filter) : await db.query(legsPageOfPayment, { ...filter, of });
  const shown = rows.slice(0, size);
  const transactionIds = shown.flatMap((row) => (row.transaction_id === null ? [] : [row.transaction_id]));
  const carriers = new Map(
    (await db.query(transactionsById, { transactionIds, attemptLimit: maxAttemptsListed })).map((row) => [
      row.transaction_id,
      transactionOf(row, chains),
    ]),
  );
  const legs = shown.map(
    (row): SettlementLeg => ({
      orderId: row.order_id,
      leg: row.leg,
      sessionId: row.session_id,
      merchantId: row.merchant_id,
      chain: chainOf(row.chain_id, chains).chain,
      status: row.is_held ? 'held' : (row.status as SettlementLeg['status']),
      reason: row.reason,
      attempts: row.attempts,
      value: row.value.toString(),
      createAt: row.created_at.toISOString(),
      updateAt: row.updated_at.toISOString(),
      nextAt: row.status === 'waiting' && !row.is_held ? row.retry_at.toISOString() : '',
      transaction: (row.transaction_id === null ? undefined : carriers.get(row.transaction_id)) ?? null,
    }),
  );
  return { hasMore: rows.length > size, legs };
}

/** A page of the transactions of our wallets, newest first. Refuses (400202) a chain that is not configured. */
export async function listSentTransactions(
  db: Queryable,
  { chains }: { readonly chains: Chains },
  { page, size, state, chain, of = '' }: WorkRequest<ListedTransactionState>,
): Promise<{ hasMore: boolean; transactions: ServiceTransaction[] }> {
  const filter = {
    chainIds: await chainIdsOf(db, chains, chain),
    statuses: state === undefined ? listedTransactionStates : [state],
    attemptLimit: maxAttemptsListed,
  };
  const rows =
    of === ''
      ? await db.query(transactionsPage, { ...filter, limit: size + 1, skip: (page - 1) * size })
      : await db.query(transactionsOfHash, { ...filter, txHash: of.toLowerCase() });
  const transactions = rows.slice(0, size).map((row) => transactionOf(row, chains));
  return { hasMore: rows.length > size, transactions };
}

async function chainIdsOf(db: Queryable, chains: Chains, name: string | undefined): Promise<bigint[]> {
  if (name !== undefined) {
    const chain = chains.byName(name);
    if (chain === undefined) throw new Refusal('channel_unsupported', name);
    return [BigInt(chain.chainId)];
  }
  const configured = chains.all.map(({ chainId }) => BigInt(chainId));
  return (await db.query(listedChains, { chainIds: configured })).map((row) => row.chain_id);
}

/** Its name and explorer; the number for a chain that is configured no more. */
function chainOf(chainId: bigint, chains: Chains): { readonly chain: string; readonly explorer: string } {
  const chain = chains.all.find((each) => BigInt(each.chainId) === chainId);
  if (chain === undefined) return { chain: chainId.toString(), explorer: '' };
  return { chain: chain.name, explorer: networkFactsOf(chain)?.explorer ?? '' };
}

function transactionOf(row: Row<typeof transactionsById>, chains: Chains): ServiceTransaction {
  return {
    transactionId: row.transaction_id.toString(),
    ...chainOf(row.chain_id, chains),
    status: row.status as ServiceTransaction['status'],
    ...sendingOf(row),
    updateAt: row.updated_at.toISOString(),
  };
}

/** How a transaction of ours is being sent, as the operator's screens show it. */
export function sendingOf(
  row: Omit<Row<typeof transactionsById>, 'transaction_id' | 'status' | 'updated_at'>,
) {
  return {
    wallet: row.wallet,
    nonce: row.nonce.toString(),
    purpose: row.purpose,
    minedHash: row.mined_hash,
    attemptCount: Number(row.attempt_count),
    isCapped: row.is_capped && row.mined_hash === '',
    attempts: row.hashes.map((txHash, index) => ({
      txHash,
      maxFee: row.fees[index] ?? '',
      refusal: row.refusals[index] ?? '',
      createAt: new Date(Number(row.times_ms[index])).toISOString(),
    })),
    createAt: row.created_at.toISOString(),
  };
}
