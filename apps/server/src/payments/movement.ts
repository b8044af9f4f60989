import { eventsOfTransaction } from '@florin/evm';
import type { Queryable, Transaction } from '@florin/pg';
import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, type ContractAddresses, isVault } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#contracts/event.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import type { Log } from '#telemetry/log.ts';
import {
  bookedOfTransaction,
  comparedTokens,
  concludeUnmatched,
  directPayments,
  insertUnknownPayout,
  insertUnmatched,
  knownOrders,
  unmatchedPayments,
} from './movement.sql.ts';
import {
  feeWithdrawalPostings,
  floatPostings,
  transferPostings,
  unmatchedPostings,
  unmatchedSettlementPostings,
} from './postings.ts';

/**
 * Books every movement on a chain that payments, settlements and refunds of known orders do not book: fees that are
 * withdrawn, float that comes and goes, tokens that were sent to a contract by mistake, transfers between third parties,
 * and everything about orders that this database does not know.
 */
export function movementHandler({ log }: { readonly log: Log }): ChainHandler {
  return {
    perTransaction: ['FeesWithdrawn', 'Withdrawn', 'Transferred', 'SettlementRefunded', 'Rescued'],
    async onBlock() {},
    async onReorg() {},
    async onFinal(transaction, configured, _block, events) {
      if (events.length === 0) return;
      const chain = await withComparedTokens(transaction, configured, events);
      const rows = await transaction.query(knownOrders, { orderIds: events.map((event) => event.orderId) });
      const known = new Set(rows.map((row) => row.order_id));
      const direct = await findDirectOrders(transaction, events, known);
      for (const event of events) {
        const movement = movementOf(chain, event);
        if (movement !== undefined) await bookMissing(transaction, chain, event, movement);
        if (event.name === 'FeeAccrued') await bookAccruedFee(transaction, chain, event);
        if (known.has(event.orderId)) continue;
        const ofUnknownOrder = unknownOrderMovementOf(chain, event);
        // The final payment of a direct order has booked everything.
        const isBooked = event.name === 'Settled' && direct.has(event.orderId);
        if (ofUnknownOrder !== undefined && !isBooked) {
          const { orderId, chainId, txHash, blockTime: at } = event;
          await book(transaction, { ...ofUnknownOrder, orderId, chainId, txHash, at });
        }
        await recordUnmatched(transaction, log, event);
      }
    },
    async onDropped(transaction, configured, dropped) {
      const outside = dropped.filter(({ name }) => outsideNames.includes(name));
      if (outside.length === 0) return;
      const chain = await withComparedTokens(transaction, configured, outside);
      for (const event of outside) await reverse(transaction, chain, event);
    },
    async onMisread(transaction, configured, transfers) {
      const chain = await withComparedTokens(transaction, configured, transfers);
      for (const event of transfers) {
        if (!(await reverse(transaction, chain, event))) continue;
        const { chainId, txHash } = event;
        log.warn('payment.transfer_misread', { chainId, txHash, block: event.blockNumber.toString() });
      }
    },
  };
}

/**
 * Movements between third parties. One that a reorg below finality took back returns with its own transaction or never, and no
 * balance of a contract says which. So its entry is reversed at once, and made again when the event is final again. Entries
 * about contracts stay: the reconciliation compares them with the chain.
 */
const outsideNames: readonly ChainEvent['name'][] = ['SettlementRefunded', 'Rescued'];

/** Books the opposite of a movement that is no longer on its chain; false when none is booked. */
async function reverse(transaction: Transaction, chain: BookedChain, event: ChainEvent): Promise<boolean> {
  const movement = movementOf(chain, event);
  if (movement === undefined) return false;
  const { entries, equal = 0n } = await countBooked(transaction, event, movement);
  if (equal <= 0n) return false;
  const postings = movement.postings.map((posting) => ({ ...posting, amount: -posting.amount }));
  await bookNumbered(transaction, event, { ...movement, postings }, entries);
  return true;
}

/** What this room reads of a chain's configuration. */
interface BookedChain extends ContractAddresses {
  readonly name: string;
  readonly tokens: readonly { readonly tokenId: string; readonly address: string }[];
}

/**
 * Adds the events' tokens that are not configured, but were when their books were last compared. They keep their names:
 * once such a token is configured again, its books must have what became final in the meantime.
 */
async function withComparedTokens(
  transaction: Transaction,
  chain: Chain,
  events: readonly ChainEvent[],
): Promise<BookedChain> {
  const { chainId, tokens } = chain;
  const configured = new Set(tokens.map(({ address }) => address.toLowerCase()));
  const others = events.map(tokenOf).filter((address) => address !== '' && !configured.has(address));
  if (others.length === 0) return chain;
  const rows = await transaction.query(comparedTokens, { chainId, addresses: others });
  return {
    ...chain,
    tokens: [...tokens, ...rows.map(({ asset, token }) => ({ tokenId: asset, address: token }))],
  };
}

/** The unknown orders among these events that were paid directly. */
async function findDirectOrders(
  transaction: Transaction,
  events: readonly ChainEvent[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const orderIds = events
    .filter((event) => event.name === 'Settled' && !known.has(event.orderId))
    .map((event) => event.orderId);
  if (orderIds.length === 0) return new Set();
  const rows = await transaction.query(directPayments, { orderIds, orderType: String(orderKinds.direct) });
  return new Set(rows.map((row) => row.order_id));
}

/** The fee of a direct order, known or not, which its recipient could not receive. Once per order, like the payment. */
async function bookAccruedFee(
  transaction: Transaction,
  chain: BookedChain,
  event: ChainEvent,
): Promise<void> {
  const { orderId, chainId, txHash, blockTime: at } = event;
  const postings = feeWithdrawalPostings(chain.name, assetOf(chain, event), -amountOf(event, 'value'));
  await book(transaction, { kind: 'fee_accrual', orderId, chainId, txHash, at, postings });
}

/** The kind and the postings of a ledger entry. */
export interface Movement {
  readonly kind: EntryKind;
  readonly postings: readonly Posting[];
}

/**
 * Books a movement that one transaction can contain several times. Equal movements are only counted: the ledger gets as
 * many entries as the chain has events. It does not matter which reading of the block reported each one.
 */
async function bookMissing(
  transaction: Transaction,
  chain: BookedChain,
  event: ChainEvent,
  movement: Movement,
): Promise<void> {
  const equal = (await eventsOfTransaction(transaction, event)).filter((other) => {
    const found = movementOf(chain, other);
    return found !== undefined && textOf(other, found) === textOf(event, movement);
  });
  const { entries, equal: booked } = await countBooked(transaction, event, movement);
  // Undefined: it moved nothing. Enough: a block that was reorged out had the same transaction.
  if (booked === undefined || booked >= BigInt(equal.length)) return;
  await bookNumbered(transaction, event, movement, entries);
}

/** Equal for movements of one transaction that book the same. */
function textOf(event: ChainEvent, { kind, postings }: Movement): string {
  const lines = postings.map(({ account, asset, amount }) => `${account} ${asset} ${amount}`);
  return [kind, event.orderId, ...lines].join();
}

/** Counts a transaction's entries of one kind, and those that book the same; `equal` is undefined for a zero amount. */
async function countBooked(
  transaction: Transaction,
  event: ChainEvent,
  { kind, postings: [first] }: Movement,
): Promise<{ readonly entries: bigint; readonly equal: bigint | undefined }> {
  const { account = '', asset = '', amount = 0n } = first ?? {};
  const [row] = await transaction.query(bookedOfTransaction, {
    chainId: event.chainId,
    txHash: event.txHash,
    kind,
    orderId: orderIdOf(event),
    ledgerAccount: account,
    asset,
    amount,
  });
  if (row === undefined) throw new Error('a count gave no row');
  return { entries: row.entries, equal: amount === 0n ? undefined : row.booked / amount };
}

/** The entry's key has the number of the entry, not the log index: a reorg may move the transaction. */
async function bookNumbered(
  transaction: Transaction,
  event: ChainEvent,
  { kind, postings }: Movement,
  number: bigint,
): Promise<void> {
  const { chainId, txHash, blockTime: at } = event;
  const fact = `${txHash}:${event.name}:entry:${number}`;
  await book(transaction, { kind, orderId: orderIdOf(event), fact, chainId, txHash, at, postings });
}

function orderIdOf({ orderId }: ChainEvent): string {
  return BigInt(orderId) === 0n ? '' : orderId;
}

/** The address of the event's token in lower case; empty for events of no token. */
function tokenOf(event: ChainEvent): string {
  return event.arguments['token']?.toLowerCase() ?? '';
}

function assetOf(chain: BookedChain, event: ChainEvent): string {
  const address = tokenOf(event);
  const token = chain.tokens.find((candidate) => candidate.address.toLowerCase() === address);
  return token?.tokenId ?? `${chain.name}::${address}`;
}

function amountOf(event: ChainEvent, argument: string): bigint {
  return BigInt(event.arguments[argument] ?? '0');
}

/** What this room books of an event, whether or not it knows the order; undefined for all other events. */
export function movementOf(chain: BookedChain, event: ChainEvent): Movement | undefined {
  const asset = assetOf(chain, event);
  const amount = BigInt(event.arguments['value'] ?? event.arguments['amount'] ?? '0');
  const { name: chainName } = chain;
  switch (event.name) {
    case 'FeesWithdrawn':
      return { kind: 'fee_withdrawal', postings: feeWithdrawalPostings(chainName, asset, amount) };
    case 'Withdrawn':
      return { kind: 'float_withdrawal', postings: floatPostings(chainName, asset, -amount) };
    case 'Transferred':
      // The contracts emit an event whenever they move tokens out. Unexplained losses are not booked, so that the
      // reconciliation finds them.
      if (amount < 0n) return undefined;
      return event.contract === 'vault'
        ? { kind: 'float_deposit', postings: floatPostings(chainName, asset, amount) }
        : { kind: 'unmatched', postings: unmatchedPostings(chainName, asset, amount) };
    case 'SettlementRefunded': {
      const postings = transferPostings({ chainName, asset, from: 'refunders', to: 'payers', amount });
      return { kind: 'settlement_refund', postings };
    }
    case 'Rescued': {
      const postings = transferPostings({ chainName, asset, from: 'receivers', to: 'payers', amount });
      return { kind: 'rescue', postings };
    }
    default:
      return undefined;
  }
}

/** What is booked once per order that this database does not know; undefined for events that move no order's money. */
export function unknownOrderMovementOf(chain: BookedChain, event: ChainEvent): Movement | undefined {
  const asset = assetOf(chain, event);
  const { name: chainName } = chain;
  switch (event.name) {
    case 'Paid': {
      const amount = amountOf(event, 'totalValue');
      const isDirect = event.arguments['orderType'] === String(orderKinds.direct);
      const postings = isDirect
        ? transferPostings({ chainName, asset, from: 'payers', to: 'recipients', amount })
        : unmatchedPostings(chainName, asset, amount);
      return { kind: 'payment', postings };
    }
    case 'Settled': {
      const isIntoVault = isVault(chain, event.arguments['to']);
      const settled = { net: amountOf(event, 'netValue'), fee: amountOf(event, 'feeValue'), isIntoVault };
      return { kind: 'settlement', postings: unmatchedSettlementPostings(chainName, asset, settled) };
    }
    case 'Refunded':
      return { kind: 'refund', postings: unmatchedPostings(chainName, asset, -amountOf(event, 'value')) };
    case 'Reclaimed':
      return { kind: 'reclaim', postings: unmatchedPostings(chainName, asset, -amountOf(event, 'value')) };
    case 'PaidOut':
      return { kind: 'payout', postings: floatPostings(chainName, asset, -amountOf(event, 'amount')) };
    default:
      return undefined;
  }
}

const outcomes = { Settled: 'settled', Refunded: 'refunded', Reclaimed: 'reclaimed' } as const;

/** Stores what the chain reports of an unknown order's payment, and later its outcome. */
async function recordUnmatched(transaction: Transaction, log: Log, event: ChainEvent): Promise<void> {
  const { chainId, orderId, txHash, name } = event;
  if (name === 'Settled' || name === 'Refunded' || name === 'Reclaimed') {
    const status = outcomes[name];
    await transaction.query(concludeUnmatched, { chainId, orderId, status, outcomeTx: txHash });
  }
  if (name === 'PaidOut') {
    await transaction.query(insertUnknownPayout, { chainId, orderId, txHash, blockTime: event.blockTime });
    const unknown = new Error('a payout of an order that this database does not know');
    log.error('payment.unknown_payout', unknown, { chainId, orderId, txHash });
  }
  if (name !== 'Paid') return;
  const text = (argument: string) => event.arguments[argument] ?? '';
  await transaction.query(insertUnmatched, {
    chainId,
    orderId,
    txHash,
    blockNumber: event.blockNumber,
    blockTime: event.blockTime,
    channelId: text('channelId'),
    metaData: text('metaData'),
    payer: text('from'),
    recipient: text('to'),
    token: text('token'),
    total: amountOf(event, 'totalValue'),
    payment: amountOf(event, 'paymentValue'),
    fee: amountOf(event, 'feeValue'),
    orderType: Number(amountOf(event, 'orderType')),
    status: 'paid',
  });
  const error = new Error('a payment of an order that this database does not know');
  log.error('payment.unmatched_final', error, { chainId, orderId, txHash });
}

/** A payment of an order that this database does not know, from its chain. Amounts are in units of the token. */
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

/** Unmatched payments of all chains, the oldest first. */
export async function findUnmatchedPayments(
  queryable: Queryable,
  limit: number,
): Promise<readonly UnmatchedPayment[]> {
  const rows = await queryable.query(unmatchedPayments, { limit });
  return rows.map((row) => ({
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
  }));
}
