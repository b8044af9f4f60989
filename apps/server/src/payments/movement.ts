import type { Queryable, Transaction } from '@florin/pg';
import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, isVault } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import { findTwins } from '#chains/watcher/cursor.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import type { Log } from '#telemetry/log.ts';
import {
  bookedOfTransaction,
  concludeUnmatched,
  directPayments,
  insertUnmatched,
  knownOrders,
  type UnmatchedRow,
  unmatchedPayments,
} from './movement.sql.ts';
import {
  feeWithdrawalPostings,
  floatPostings,
  passedOn,
  unmatchedPostings,
  unmatchedSettlementPostings,
} from './postings.ts';

/**
 * Books what the payments, settlements and refunds of known orders leave out, so that every movement on a chain has its
 * entry: fees that are withdrawn, float that comes and goes, tokens that somebody sent to a contract, what passes between
 * others, and everything about orders that this database does not know.
 */
export function movementHandler({ log }: { readonly log: Log }): ChainHandler {
  return {
    async onBlock() {},
    async onReorg() {},
    async onFinal(transaction, chain, _block, events) {
      if (events.length === 0) return;
      const rows = await transaction.query(knownOrders, { orderIds: events.map((event) => event.orderId) });
      const known = new Set(rows.map((row) => row.order_id));
      const direct = await findPassedOn(transaction, events, known);
      for (const event of events) {
        const isOthers = known.has(event.orderId) || direct.has(event);
        const moved = movementOf(chain, event) ?? (isOthers ? undefined : unknownOf(chain, event));
        if (moved !== undefined) await bookMovement(transaction, chain, event, moved);
        if (!known.has(event.orderId)) await noteUnmatched(transaction, log, event);
      }
    },
    async onMisread(transaction, chain, transfers) {
      for (const event of transfers) {
        const moved = movementOf(chain, event);
        if (moved === undefined) continue;
        const { entries } = await findBooked(transaction, event, moved);
        const postings = moved.postings.map((posting) => ({ ...posting, amount: -posting.amount }));
        await bookRepeatable(transaction, event, { ...moved, postings }, entries);
        const { chainId, txHash } = event;
        log.warn('payment.transfer_misread', { chainId, txHash, block: event.blockNumber.toString() });
      }
    },
  };
}

/** The settlements of direct orders that are not known here: their payments have said it all. */
async function findPassedOn(
  transaction: Transaction,
  events: readonly ChainEvent[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<ChainEvent>> {
  const settlements = events.filter((event) => event.name === 'Settled' && !known.has(event.orderId));
  if (settlements.length === 0) return new Set();
  const orderIds = settlements.map((event) => event.orderId);
  const rows = await transaction.query(directPayments, { orderIds, orderType: String(orderKinds.direct) });
  const direct = new Set(rows.map((row) => row.order_id));
  return new Set(settlements.filter((event) => direct.has(event.orderId)));
}

function isDirect(paid: ChainEvent): boolean {
  return paid.arguments['orderType'] === String(orderKinds.direct);
}

interface Moved {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
  /**
   * Whether it can happen to an order more than once, or is about no order: then as many are booked as the chain has of the
   * transaction, whichever reading has told of them.
   */
  readonly isRepeatable?: true;
}

async function bookMovement(
  transaction: Transaction,
  chain: Chain,
  event: ChainEvent,
  moved: Moved,
): Promise<void> {
  if (moved.isRepeatable !== true) {
    const { chainId, txHash, orderId, blockTime: at } = event;
    await book(transaction, { ...moved, orderId, chainId, txHash, at });
    return;
  }
  const twins = (await findTwins(transaction, event)).filter((twin) => {
    const other = movementOf(chain, twin);
    return other !== undefined && textOf(twin, other) === textOf(event, moved);
  });
  const { entries, alike } = await findBooked(transaction, event, moved);
  // Booked before, in another block that a reorganisation has taken away, or it moved nothing.
  if (alike === undefined || alike >= BigInt(twins.length)) return;
  await bookRepeatable(transaction, event, moved, entries);
}

/** What tells movements of one transaction apart: what they book. Two that are alike are only counted. */
function textOf(event: ChainEvent, { kind, postings }: Moved): string {
  const lines = postings.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`);
  return [kind, event.orderId, ...lines].join();
}

/** How many entries of its kind a transaction has, and how many of these say what the movement says; undefined: nothing. */
async function findBooked(
  transaction: Transaction,
  event: ChainEvent,
  { kind, postings: [first] }: Moved,
): Promise<{ readonly entries: bigint; readonly alike: bigint | undefined }> {
  const { account = '', asset = '', amount = 0n } = first ?? {};
  const [row] = await transaction.query(bookedOfTransaction, {
    chainId: event.chainId,
    txHash: event.txHash,
    kind,
    orderId: aboutOrder(event),
    ledgerAccount: account,
    asset,
    amount,
  });
  if (row === undefined) throw new Error('a count gave no row');
  return { entries: row.entries, alike: amount === 0n ? undefined : row.booked / amount };
}

/** Not by the place in its block: a reorganisation may move the transaction. */
async function bookRepeatable(
  transaction: Transaction,
  event: ChainEvent,
  { kind, postings }: Moved,
  entries: bigint,
): Promise<void> {
  const { chainId, txHash, blockTime: at } = event;
  const fact = `${txHash}:${event.name}:entry:${entries}`;
  await book(transaction, { kind, orderId: aboutOrder(event), fact, chainId, txHash, at, postings });
}

function aboutOrder({ orderId }: ChainEvent): string {
  return BigInt(orderId) === 0n ? '' : orderId;
}

function assetOf(chain: Chain, event: ChainEvent): string {
  const address = event.arguments['token']?.toLowerCase() ?? '';
  const token = chain.tokens.find((candidate) => candidate.address.toLowerCase() === address);
  return token?.tokenId ?? `${chain.name}::${address}`;
}

/** What is booked whether or not the order is known; undefined for events about orders that others book. */
function movementOf(chain: Chain, event: ChainEvent): Moved | undefined {
  const asset = assetOf(chain, event);
  const value = BigInt(event.arguments['value'] ?? event.arguments['amount'] ?? '0');
  const { name: chainName } = chain;
  switch (event.name) {
    case 'FeesWithdrawn':
      return {
        kind: 'fee_withdrawal',
        postings: feeWithdrawalPostings(chainName, asset, value),
        isRepeatable: true,
      };
    case 'Withdrawn':
      return {
        kind: 'float_withdrawal',
        postings: floatPostings(chainName, asset, -value),
        isRepeatable: true,
      };
    case 'Transferred':
      // Nothing in the contracts moves tokens out without saying so. What left all the same is booked by nobody, so that the
      // reconciliation finds it missing.
      if (value < 0n) return undefined;
      return event.contract === 'vault'
        ? { kind: 'float_deposit', postings: floatPostings(chainName, asset, value), isRepeatable: true }
        : { kind: 'unmatched', postings: unmatchedPostings(chainName, asset, value), isRepeatable: true };
    case 'SettlementRefunded': {
      const postings = passedOn({ chainName, asset, from: 'refunders', to: 'payers', amount: value });
      return { kind: 'settlement_refund', postings, isRepeatable: true };
    }
    case 'Rescued': {
      const postings = passedOn({ chainName, asset, from: 'receivers', to: 'payers', amount: value });
      return { kind: 'rescue', postings, isRepeatable: true };
    }
    default:
      return undefined;
  }
}

/** What is booked for an order that this database does not know. */
function unknownOf(chain: Chain, event: ChainEvent): Moved | undefined {
  const asset = assetOf(chain, event);
  const said = (name: string) => BigInt(event.arguments[name] ?? '0');
  const { name: chainName } = chain;
  switch (event.name) {
    case 'Paid': {
      const amount = said('totalValue');
      const postings = isDirect(event)
        ? passedOn({ chainName, asset, from: 'payers', to: 'recipients', amount })
        : unmatchedPostings(chainName, asset, amount);
      return { kind: 'payment', postings };
    }
    case 'Settled': {
      const isIntoVault = isVault(chain, event.arguments['to']);
      const settled = { net: said('netValue'), fee: said('feeValue'), isIntoVault };
      return { kind: 'settlement', postings: unmatchedSettlementPostings(chainName, asset, settled) };
    }
    case 'Refunded':
    case 'Reclaimed':
      return {
        kind: event.name === 'Refunded' ? 'refund' : 'reclaim',
        postings: unmatchedPostings(chainName, asset, -said('value')),
      };
    case 'PaidOut':
      return { kind: 'payout', postings: floatPostings(chainName, asset, -said('amount')) };
    default:
      return undefined;
  }
}

const outcomes = { Settled: 'settled', Refunded: 'refunded', Reclaimed: 'reclaimed' } as const;

/** Keeps what the chain tells of an unknown order's payment, and what became of it. */
async function noteUnmatched(transaction: Transaction, log: Log, event: ChainEvent): Promise<void> {
  const { chainId, orderId, txHash } = event;
  if (event.name === 'Settled' || event.name === 'Refunded' || event.name === 'Reclaimed') {
    await transaction.query(concludeUnmatched, {
      chainId,
      orderId,
      status: outcomes[event.name],
      outcomeTx: txHash,
    });
  }
  if (event.name !== 'Paid') return;
  const said = event.arguments;
  await transaction.query(insertUnmatched, {
    chainId,
    orderId,
    txHash,
    blockNumber: event.blockNumber,
    blockTime: event.blockTime,
    channelId: said['channelId'] ?? '',
    metaData: said['metaData'] ?? '',
    payer: said['from'] ?? '',
    recipient: said['to'] ?? '',
    token: said['token'] ?? '',
    total: BigInt(said['totalValue'] ?? '0'),
    payment: BigInt(said['paymentValue'] ?? '0'),
    fee: BigInt(said['feeValue'] ?? '0'),
    orderType: Number(said['orderType'] ?? '0'),
    status: 'paid',
  });
  log.error('payment.unmatched_final', new Error('a payment of an order that this database does not know'), {
    chainId,
    orderId,
    txHash,
  });
}

/** A payment of an order that this database does not know: all that its chain tells. Amounts in units of the token. */
export interface UnmatchedPayment {
  readonly chainId: number;
  readonly orderId: string;
  readonly txHash: string;
  readonly blockTime: Date;
  readonly channelId: string;
  readonly metaData: string;
  readonly payer: string;
  readonly recipient: string;
  readonly token: string;
  readonly total: bigint;
  readonly payment: bigint;
  readonly fee: bigint;
  readonly status: string;
  readonly outcomeTx: string;
}

function parseUnmatched(row: UnmatchedRow): UnmatchedPayment {
  return {
    chainId: Number(row.chain_id),
    orderId: row.order_id,
    txHash: row.tx_hash,
    blockTime: row.block_time,
    channelId: row.channel_id,
    metaData: row.meta_data,
    payer: row.payer,
    recipient: row.recipient,
    token: row.token,
    total: row.total,
    payment: row.payment,
    fee: row.fee,
    status: row.status,
    outcomeTx: row.outcome_tx,
  };
}

/** Those of all chains, the oldest first; `limit` at most. */
export async function findUnmatchedPayments(
  queryable: Queryable,
  limit: number,
): Promise<readonly UnmatchedPayment[]> {
  return (await queryable.query(unmatchedPayments, { limit })).map(parseUnmatched);
}
