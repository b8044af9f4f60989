import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import type { Log } from '#telemetry/log.ts';
import {
  concludeUnmatched,
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
      const rows = await transaction.query(knownOrders, [events.map((event) => event.orderId)]);
      const known = new Set(rows.map((row) => row.order_id));
      for (const [index, event] of events.entries()) {
        const before = events.slice(0, index).filter((other) => isTwin(event, other)).length;
        const isOthers = known.has(event.orderId) || isPassedOn(event, events);
        const moved = movementOf(chain, event) ?? (isOthers ? undefined : unknownOf(chain, event));
        if (moved !== undefined) await bookMovement(transaction, event, moved, before);
        if (!known.has(event.orderId)) await noteUnmatched(transaction, log, event);
      }
    },
    async onMisread(transaction, chain, transfers) {
      for (const event of transfers) {
        const moved = movementOf(chain, event);
        if (moved === undefined) continue;
        const { chainId, txHash, name, logIndex } = event;
        await book(transaction, {
          kind: moved.kind,
          orderId: '',
          fact: `${txHash}:${name}:misread:${logIndex}`,
          ...{ chainId, txHash, at: event.blockTime },
          postings: moved.postings.map((posting) => ({ ...posting, amount: -posting.amount })),
        });
        log.warn('payment.transfer_misread', { chainId, txHash, block: event.blockNumber.toString() });
      }
    },
  };
}

/** The settlement of a direct order: its payment, in the same transaction, has said it all. */
function isPassedOn(event: ChainEvent, events: readonly ChainEvent[]): boolean {
  return (
    event.name === 'Settled' &&
    events.some((other) => other.name === 'Paid' && other.orderId === event.orderId && isDirect(other))
  );
}

function isDirect(paid: ChainEvent): boolean {
  return paid.arguments['orderType'] === String(orderKinds.direct);
}

interface Moved {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
  /** Whether it can happen to an order more than once, or is about no order: then the transaction tells it apart. */
  readonly isRepeatable?: true;
}

/** Of one transaction, and told apart by nothing but the order in which they came. */
function isTwin(event: ChainEvent, other: ChainEvent): boolean {
  return other.name === event.name && other.txHash === event.txHash;
}

async function bookMovement(
  transaction: Transaction,
  event: ChainEvent,
  moved: Moved,
  before: number,
): Promise<void> {
  const isAboutOrder = BigInt(event.orderId) !== 0n;
  await book(transaction, {
    kind: moved.kind,
    orderId: isAboutOrder ? event.orderId : '',
    // Not the place in its block: a reorganisation may move the transaction.
    ...(moved.isRepeatable === true ? { fact: `${event.txHash}:${event.name}:${before}` } : {}),
    chainId: event.chainId,
    txHash: event.txHash,
    at: event.blockTime,
    postings: moved.postings,
  });
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
      const isIntoVault = contractsOf(chain).vaults.some(
        (vault) => vault.toLowerCase() === event.arguments['to']?.toLowerCase(),
      );
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
    await transaction.query(concludeUnmatched, [chainId, orderId, outcomes[event.name], txHash]);
  }
  if (event.name !== 'Paid') return;
  const said = event.arguments;
  await transaction.query(insertUnmatched, [
    ...[chainId, orderId, txHash, event.blockNumber, event.blockTime],
    ...[
      said['channelId'] ?? '',
      said['metaData'] ?? '',
      said['from'] ?? '',
      said['to'] ?? '',
      said['token'] ?? '',
    ],
    ...[
      BigInt(said['totalValue'] ?? '0'),
      BigInt(said['paymentValue'] ?? '0'),
      BigInt(said['feeValue'] ?? '0'),
    ],
    ...[Number(said['orderType'] ?? '0'), 'paid'],
  ]);
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
  return (await queryable.query(unmatchedPayments, [limit])).map(parseUnmatched);
}
