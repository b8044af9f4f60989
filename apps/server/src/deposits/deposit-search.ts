import type { Database } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { type ChainCursor, findCursor } from '#chains/watcher/cursor.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { readBalances, readTransfers } from './deposit-call.ts';
import { collect, type DepositMoveDeps, ownHolding } from './deposit-move.ts';
import {
  moveSearch,
  ordersWithoutReceiver,
  placeOfSearch,
  receiversToName,
  setReceivers,
  sightOrders,
} from './deposit-search.sql.ts';

export interface SearchDeps extends DepositMoveDeps {
  readonly settings: DepositMoveDeps['settings'] & {
    /** Addresses that a node is asked about by name; 1,000 by default. Beyond, all transfers of the tokens are read. */
    readonly mostNamed?: number;
  };
}

const defaultMostNamed = 1_000;
/** Blocks whose transfers are asked for in one question: by name, or all of them. */
const blocksByName = 200;
const blocksOfAll = 10;
/** Where a chain is searched for the first time. */
const firstBlocks = 200n;
/** A longer gap is left to the balances: some hours of a quick chain. */
const longestGap = 50_000n;
/** Addresses that one statement looks up. */
const lookupBatch = 500;
/** Orders that get their receivers in one round. */
const fillBatch = 500;
/** How long after its deadline an address is looked at. */
export const lookAfterSeconds = 7 * 86_400;

/** How many blocks one question is about: halved by each failure, for nodes that bear less. */
interface SearchPace {
  mostBlocks: number;
}

export function fullPace(): SearchPace {
  return { mostBlocks: blocksByName };
}

/**
 * Searches new blocks for transfers to addresses of orders, and collects what pays an open order. What it costs goes by the
 * transfers of a block and has a bound in orders that nodes are asked about by name: orders cost nothing to make, so that
 * a payment must not wait for those of others.
 */
export async function searchBlocks(deps: SearchDeps, chain: Chain, pace: SearchPace): Promise<void> {
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  let searched = await findPlace(deps.db, chain, cursor);
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
    const most = Math.min(pace.mostBlocks, names === undefined ? blocksOfAll : blocksByName);
    const count = Math.min(most, Number(cursor.headNumber - searched));
    const to = searched + BigInt(count);
    const open = await searchRange(deps, chain, { from: searched + 1n, to, names }, pace);
    await collectFunded(deps, chain, open);
    searched = to;
  }
}

/** The last block that needs no more search: after a reorganisation the final one, above which all may be new. */
async function findPlace(db: Database, chain: Chain, cursor: ChainCursor): Promise<bigint> {
  const [row] = await db.query(placeOfSearch, { chainId: chain.chainId });
  const { headNumber, finalNumber } = cursor;
  const least = headNumber - (row === undefined ? firstBlocks : longestGap);
  const isReorged =
    row !== undefined && (row.block_number > headNumber || row.stored_hash !== row.block_hash);
  const known = row?.block_number ?? least;
  const place = isReorged && finalNumber < known ? finalNumber : known;
  return [place, least, -1n].reduce((one, other) => (one > other ? one : other));
}

/** Addresses to ask a node about, those of the latest deadlines first; undefined when too many of them are open. */
async function findNames({ db, clock, settings }: SearchDeps, chain: Chain): Promise<Hex[] | undefined> {
  const most = settings.mostNamed ?? defaultMostNamed;
  const now = unixSeconds(clock.now());
  const rows = await db.query(receiversToName, {
    chainId: chain.chainId,
    payBy: now - lookAfterSeconds,
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

/** Notes the orders to which some blocks show a transfer, and gives those of them that can be paid. */
async function searchRange(
  deps: SearchDeps,
  chain: Chain,
  range: SearchedRange,
  pace: SearchPace,
): Promise<StoredOrder[]> {
  const tokens = chain.tokens.map(({ address }) => address);
  const { receivers, lastHash } = await readTransfers(deps.rpcOf(chain.chainId), range, tokens).catch(
    (error) => {
      pace.mostBlocks = Math.max(1, pace.mostBlocks >> 1);
      throw error;
    },
  );
  pace.mostBlocks = Math.min(blocksByName, pace.mostBlocks * 2);
  const now = unixSeconds(deps.clock.now());
  const openIds: string[] = [];
  for (let start = 0; start < receivers.length; start += lookupBatch) {
    const batch = receivers.slice(start, start + lookupBatch);
    const asked = {
      chainId: chain.chainId,
      receivers: batch,
      fromPayBy: now - lookAfterSeconds,
      openUntil: now,
      blockNumber: range.to,
    };
    for (const row of await deps.db.query(sightOrders, asked)) if (row.is_open) openIds.push(row.order_id);
  }
  // Before anything is collected: an order that cannot be does not hold up those of later blocks, and its balance is read
  // again anyway.
  const [orders] = await Promise.all([
    openIds.length === 0 ? [] : findOrders(deps.db, openIds),
    deps.db.query(moveSearch, { chainId: chain.chainId, blockNumber: range.to, blockHash: lastHash }),
  ]);
  return orders;
}

async function collectFunded(deps: SearchDeps, chain: Chain, orders: readonly StoredOrder[]): Promise<void> {
  const rpc = deps.rpcOf(chain.chainId);
  const amounts = await readBalances(
    rpc,
    orders.map((order) => ownHolding(chain, order)),
    'latest',
  );
  for (const [index, order] of orders.entries()) {
    if ((amounts[index] ?? 0n) >= order.order.total)
      await collect(deps, chain, order, { during: 'initialized' });
  }
}

/** Orders from before their receivers were stored get them, some in each round. */
async function fillReceivers({ db, clock }: SearchDeps, chain: Chain): Promise<void> {
  const since = unixSeconds(clock.now()) - lookAfterSeconds;
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
