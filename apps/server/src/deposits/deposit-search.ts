import { type ChainCursor, findCursor } from '@florin/evm';
import type { Database, Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { DepositContext } from './context.ts';
import { readDepositBalances, readTransfers, type ShownTransfer } from './deposit-call.ts';
import { collect, ownBalance } from './deposit-move.ts';
import {
  forgetTransfers,
  moveSearch,
  ordersWithoutReceiver,
  positionOfSearch,
  receiversToName,
  recordDepositedOrders,
  recordTransfers,
  returnSearch,
  setReceivers,
  showNewestAmounts,
} from './deposit-search.sql.ts';

/** Blocks in one request for transfers: to named addresses, or for all transfers. */
const blocksByName = 200;
const blocksOfAll = 10;
/** Blocks of the first search of a chain. */
const firstBlocks = 200n;
/** The longest gap that is searched, some hours of a fast chain; the balances show what came earlier. */
const longestGap = 50_000n;
/** Addresses in one lookup. */
const lookupBatch = 500;
/** Orders that get their receiver in one round. */
const fillBatch = 500;
/** How long after its deadline an address is checked. */
export const checkedAfterSeconds = 7 * 86_400;

/** How many blocks one request covers. Each failure halves it, for nodes with lower limits. */
interface SearchRate {
  mostBlocks: number;
}

export function fullRate(): SearchRate {
  return { mostBlocks: blocksByName };
}

/**
 * Searches new blocks for transfers to addresses of orders, and collects deposits that pay an open order. The cost depends
 * on the transfers in a block, and at most `mostNamed` orders are named to nodes. Orders are free to create, so a payment
 * must not wait longer because there are many.
 */
export async function searchBlocks(deps: DepositContext, chain: Chain, rate: SearchRate): Promise<void> {
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  let searched = await findPosition(deps.db, chain, cursor);
  if (searched >= cursor.headNumber) return;
  await fillReceivers(deps, chain);
  while (searched < cursor.headNumber) {
    const names = await findNames(deps, chain);
    if (names?.length === 0) {
      await deps.db.query(moveSearch, {
        chainId: chain.chainId,
        blockNumber: cursor.headNumber,
        blockHash: cursor.headHash,
      });
      return;
    }
    const most = Math.min(rate.mostBlocks, names === undefined ? blocksOfAll : blocksByName);
    const count = Math.min(most, Number(cursor.headNumber - searched));
    const to = searched + BigInt(count);
    const open = await searchRange(deps, chain, { from: searched + 1n, to, names }, rate);
    await collectFunded(deps, chain, open);
    searched = to;
  }
}

/** The last searched block. After a reorganisation it is the final one, above which all blocks may be new. */
async function findPosition(db: Database, chain: Chain, cursor: ChainCursor): Promise<bigint> {
  const [row] = await db.query(positionOfSearch, { chainId: chain.chainId });
  const { headNumber, finalNumber } = cursor;
  const least = headNumber - (row === undefined ? firstBlocks : longestGap);
  const isReorged =
    row !== undefined && (row.block_number > headNumber || row.stored_hash !== row.block_hash);
  const known = row?.block_number ?? least;
  const position = isReorged && finalNumber < known ? finalNumber : known;
  if (isReorged) await db.query(forgetTransfers, { chainId: chain.chainId, blockNumber: position });
  return [position, least, -1n].reduce((one, other) => (one > other ? one : other));
}

/**
 * Final blocks above this one were reverted: their transfers are shown no more, and the blocks that replace them are searched.
 * When the next search begins, they may be final themselves.
 */
export async function searchUndone(
  transaction: Transaction,
  chainId: number,
  { number, hash }: { readonly number: bigint; readonly hash: string },
): Promise<void> {
  await transaction.query(forgetTransfers, { chainId, blockNumber: number });
  await transaction.query(returnSearch, { chainId, blockNumber: number, blockHash: hash });
}

/** The addresses to name to a node, those with the latest deadlines first; undefined when too many are open. */
async function findNames({ db, clock, settings }: DepositContext, chain: Chain): Promise<Hex[] | undefined> {
  const most = settings.mostNamed;
  const now = unixSeconds(clock.now());
  const rows = await db.query(receiversToName, {
    chainId: chain.chainId,
    payBy: now - checkedAfterSeconds,
    limit: most + 1,
  });
  const beyond = rows[most];
  if (beyond !== undefined && beyond.pay_by >= now) return undefined;
  return rows.slice(0, most).flatMap(({ receiver }) => (receiver === null ? [] : [receiver as Hex]));
}

interface SearchedRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly names: readonly Hex[] | undefined;
}

/** Records the orders that got a transfer in a range of blocks, and returns those that can still be paid. */
async function searchRange(
  deps: DepositContext,
  chain: Chain,
  range: SearchedRange,
  rate: SearchRate,
): Promise<StoredOrder[]> {
  const tokens = chain.tokens.map(({ address }) => address);
  const { transfers, lastHash } = await readTransfers(deps.rpcOf(chain.chainId), range, tokens).catch(
    (error) => {
      rate.mostBlocks = Math.max(1, rate.mostBlocks >> 1);
      throw error;
    },
  );
  rate.mostBlocks = Math.min(blocksByName, rate.mostBlocks * 2);
  const now = unixSeconds(deps.clock.now());
  const receivers = [...new Set(transfers.map(({ receiver }) => receiver))];
  const openIds: string[] = [];
  for (let start = 0; start < receivers.length; start += lookupBatch) {
    const batch = receivers.slice(start, start + lookupBatch);
    const asked = {
      chainId: chain.chainId,
      receivers: batch,
      fromPayBy: now - checkedAfterSeconds,
      openUntil: now,
      blockNumber: range.to,
    };
    const found = await deps.db.query(recordDepositedOrders, asked);
    if (found.length === 0) continue;
    for (const row of found) if (row.is_open) openIds.push(row.order_id);
    const named = new Set(batch);
    await keepTransfers(
      deps,
      chain,
      transfers.filter(({ receiver }) => named.has(receiver)),
    );
  }
  // Before anything is collected: an order that cannot be collected must not hold up later blocks. Its balance is read
  // again anyway.
  const [orders] = await Promise.all([
    openIds.length === 0 ? [] : findOrders(deps.db, openIds),
    deps.db.query(moveSearch, { chainId: chain.chainId, blockNumber: range.to, blockHash: lastHash }),
  ]);
  return orders;
}

/** Keeps what was sent to addresses of orders, for the histories of their sessions. Nothing is decided by it. */
async function keepTransfers(
  { db, clock }: DepositContext,
  chain: Chain,
  transfers: readonly ShownTransfer[],
): Promise<void> {
  await db.query(recordTransfers, {
    chainId: chain.chainId,
    fromPayBy: unixSeconds(clock.now()) - checkedAfterSeconds,
    seenAt: clock.now(),
    receivers: transfers.map(({ receiver }) => receiver),
    tokens: transfers.map(({ token }) => token),
    amounts: transfers.map(({ amount }) => amount),
    txHashes: transfers.map(({ txHash }) => txHash),
    logIndexes: transfers.map(({ logIndex }) => BigInt(logIndex)),
    blockNumbers: transfers.map(({ blockNumber }) => blockNumber),
  });
}

async function collectFunded(
  deps: DepositContext,
  chain: Chain,
  orders: readonly StoredOrder[],
): Promise<void> {
  const rpc = deps.rpcOf(chain.chainId);
  const amounts = await readDepositBalances(
    rpc,
    orders.map((order) => ownBalance(chain, order)),
    'latest',
  );
  const funded = orders.map((order, index) => ({ order, amount: amounts[index] ?? 0n }));
  const short = funded.filter(({ order, amount }) => amount < order.order.total);
  if (short.length > 0)
    await deps.db.query(showNewestAmounts, {
      orderIds: short.map(({ order }) => order.orderId),
      amounts: short.map(({ amount }) => amount),
    });
  for (const { order, amount } of funded) {
    if (amount >= order.order.total) await collect(deps, chain, order, { during: 'initialized' });
  }
}

/** Stores the receivers of orders that are older than that column, some in each round. */
async function fillReceivers({ db, clock }: DepositContext, chain: Chain): Promise<void> {
  const since = unixSeconds(clock.now()) - checkedAfterSeconds;
  const rows = await db.query(ordersWithoutReceiver, {
    chainId: chain.chainId,
    payBy: since,
    limit: fillBatch,
  });
  if (rows.length === 0) return;
  const receivers = rows.map((row) =>
    receiverOf(gatewayOf({ gateway: row.gateway as Hex | '' }, chain), row.order_id as Hex).toLowerCase(),
  );
  await db.query(setReceivers, { orderIds: rows.map((row) => row.order_id), receivers });
}
