import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import { type Rpc, RpcError, RpcUnavailable } from '#chains/rpc/rpc.ts';
import type { Sender, SentOutcome } from '#chains/sender/sender.ts';
import { type ChainCursor, findCursor } from '#chains/watcher/cursor.ts';
import type { Database, Transaction } from '#db/database.ts';
import { type ExceptionDeps, raise } from '#exceptions/exception.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import { findOrders } from '#sessions/order.ts';
import { gatewayOf } from '#sessions/order-gateway.ts';
import { receiverOf } from '#sessions/receiver.ts';
import { findSessions, lockSession } from '#sessions/session.ts';
import type { StoredOrder, StoredSession } from '#sessions/stored-session.ts';
import { verdictOf } from './deposit.machine.ts';
import { concludeMove, insertMove, moveOfOrder, openOrders, ordersToLookAt } from './deposit.sql.ts';
import { collectCall, type Holding, readBalances, readReceivers, rescueCall } from './deposit-call.ts';

export interface DepositSettings {
  /** Milliseconds between two looks at new blocks. */
  readonly windowMs: number;
  /** Milliseconds between two looks at balances, each of a hundred addresses. */
  readonly balanceWindowMs: number;
  /** What is worth a transaction of ours, in Micro-USD: less is neither collected nor sent back. */
  readonly minAmount: MicroUsd;
}

export interface DepositDeps extends ExceptionDeps {
  readonly db: Database;
  readonly chains: Chains;
  readonly rpcOf: (chainId: number) => Rpc;
  readonly sender: Pick<Sender, 'plan' | 'record' | 'broadcast'>;
  readonly settings: DepositSettings;
}

/** Addresses that new blocks are searched for. */
const maxOpenAddresses = 1_000;
/** Blocks searched at once; a longer gap is left to the balances. */
const maxBlocks = 200n;
/** Orders whose balances are read in one look. */
const balanceBatch = 100;
/** How long after its deadline an address is looked at. */
const lookAfterSeconds = 7 * 86_400;
/** What is told to the merchant at all, in Micro-USD: anybody can send dust to an address. */
const noticedAmount = microUsd(10_000n);

/** Looks after deposit addresses until the signal aborts: collects what pays an order, sends back what does not. */
export async function runDeposits(deps: DepositDeps, signal: AbortSignal): Promise<void> {
  const loops = deps.chains.all.flatMap((chain) => {
    const blocks: BlockMemory = { searched: undefined };
    const place: BalancePlace = { payBy: 0n, orderId: '' };
    return [
      repeat(deps, signal, deps.settings.windowMs, () => searchBlocks(deps, chain, blocks)),
      repeat(deps, signal, deps.settings.balanceWindowMs, () => lookAtBalances(deps, chain, place)),
    ];
  });
  await Promise.all(loops);
}

async function repeat(
  deps: DepositDeps,
  signal: AbortSignal,
  windowMs: number,
  round: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await round();
    } catch (error) {
      // Nothing is lost: what lies at an address lies there in the next round, too.
      if (error instanceof RpcUnavailable || error instanceof RpcError)
        deps.log.warn('deposits.rpc_failed', { reason: error.message });
      else deps.log.error('deposits.round_failed', error);
      await deps.clock.sleep(1_000, signal);
    }
    await deps.clock.sleep(windowMs, signal);
  }
}

interface BlockMemory {
  /** The last block that was searched. */
  searched: bigint | undefined;
}

/** Searches new blocks for transfers to open addresses, and collects those that hold their order's total. */
export async function searchBlocks(deps: DepositDeps, chain: Chain, memory: BlockMemory): Promise<void> {
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  const to = cursor.headNumber;
  const first = memory.searched === undefined ? to - maxBlocks : memory.searched + 1n;
  const from = first > to - maxBlocks ? first : to - maxBlocks;
  if (from > to) {
    // Reorged below what was searched: begin again from there.
    if (memory.searched !== undefined && memory.searched > to) memory.searched = to;
    return;
  }
  const now = unixSeconds(deps.clock.now());
  const rows = await deps.db.query(openOrders, [chain.chainId, now, maxOpenAddresses]);
  if (rows.length > 0) {
    const orders = await findOrders(
      deps.db,
      rows.map((row) => row.order_id),
    );
    const holders = new Map(
      orders.map((order) => [receiverOf(gatewayOf(order, chain), order.orderId).toLowerCase(), order]),
    );
    const range = { from: from < 0n ? 0n : from, to };
    const tokens = chain.tokens.map(({ address }) => address);
    const seen = await readReceivers(deps.rpcOf(chain.chainId), range, tokens, [...holders.keys()] as Hex[]);
    const funded = [...seen].flatMap((holder) => holders.get(holder) ?? []);
    await collectFunded(deps, chain, funded);
  }
  memory.searched = to;
}

async function collectFunded(deps: DepositDeps, chain: Chain, orders: readonly StoredOrder[]): Promise<void> {
  const rpc = deps.rpcOf(chain.chainId);
  const amounts = await readBalances(
    rpc,
    orders.map((order) => ownHolding(chain, order)),
    'latest',
  );
  for (const [index, order] of orders.entries()) {
    if ((amounts[index] ?? 0n) >= order.order.total) await collect(deps, chain, order);
  }
}

function ownHolding(chain: Chain, order: StoredOrder): Holding {
  return { token: order.order.token, holder: receiverOf(gatewayOf(order, chain), order.orderId) };
}

interface BalancePlace {
  payBy: bigint;
  orderId: string;
}

/**
 * Reads the final balances of some addresses, all configured tokens of each, and goes on from there the next time. It
 * finds whatever the search of blocks has missed, and everything that pays nothing.
 */
export async function lookAtBalances(deps: DepositDeps, chain: Chain, place: BalancePlace): Promise<void> {
  const cursor = await findCursor(deps.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  const since = unixSeconds(deps.clock.now()) - lookAfterSeconds;
  const asked = [chain.chainId, since, place.payBy, place.orderId, balanceBatch];
  const rows = await deps.db.query(ordersToLookAt, asked);
  const last = rows.at(-1);
  const isEnd = last === undefined || rows.length < balanceBatch;
  Object.assign(place, isEnd ? { payBy: 0n, orderId: '' } : { payBy: last.pay_by, orderId: last.order_id });
  if (rows.length === 0) return;
  const orders = await findOrders(
    deps.db,
    rows.map((row) => row.order_id),
  );
  const holdings = orders.flatMap((order) => {
    const holder = receiverOf(gatewayOf(order, chain), order.orderId);
    return chain.tokens.map((token) => ({ order, token, holding: { token: token.address, holder } }));
  });
  const rpc = deps.rpcOf(chain.chainId);
  const amounts = await readBalances(
    rpc,
    holdings.map(({ holding }) => holding),
    cursor.finalNumber,
  );
  const found = holdings.flatMap(({ order, token }, index) => {
    const amount = amounts[index] ?? 0n;
    return microUsdOf(token, amount) < noticedAmount ? [] : [{ order, token, amount }];
  });
  const sessions = await findSessions(deps.db, [...new Set(found.map(({ order }) => order.sessionId))]);
  for (const finding of found) {
    const session = sessions.get(finding.order.sessionId);
    if (session !== undefined) await actOn(deps, { chain, cursor, session, ...finding });
  }
}

/** Units of a token in Micro-USD, rounded down. */
function microUsdOf({ decimals }: Token, amount: bigint): MicroUsd {
  const value = amount / 10n ** BigInt(decimals - 6);
  return microUsd(value < BigInt(Number.MAX_SAFE_INTEGER) ? value : BigInt(Number.MAX_SAFE_INTEGER));
}

interface Finding {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly session: StoredSession;
  readonly order: StoredOrder;
  readonly token: Token;
  /** At a final block, in units of the token. */
  readonly amount: bigint;
}

async function actOn(deps: DepositDeps, finding: Finding): Promise<void> {
  const { chain, cursor, session, order, token, amount } = finding;
  const isOwn = token.tokenId === order.tokenId;
  const verdict = isOwn
    ? verdictOf({
        orderId: order.orderId,
        amount,
        total: order.order.total,
        payBy: order.order.payBy,
        finalTime: BigInt(unixSeconds(cursor.finalTime)),
        paidOrderId: session.orderId,
        isPaymentSeen: session.initiateTx !== '',
      })
    : 'wrong_token';
  if (verdict === 'nothing' || verdict === 'wait') return;
  if (verdict === 'collect') return collect(deps, chain, order);
  await deps.db.transaction(async (transaction) => {
    const locked = await lockSession(transaction, session.sessionId);
    if (locked === undefined) throw new Error(`the session ${session.sessionId} has vanished`);
    const money = { tokenId: token.tokenId, amount };
    await raise(transaction, deps, { session: locked, order, kind: verdict, money, txHash: '' });
  });
  if (microUsdOf(token, amount) < deps.settings.minAmount) return;
  await send(deps, chain, order, {
    move: 'rescue',
    token: token.address,
    data: rescueCall(order, token.address),
  });
}

async function collect(deps: DepositDeps, chain: Chain, order: StoredOrder): Promise<void> {
  if (order.amounts.totalValue < deps.settings.minAmount) return;
  await send(deps, chain, order, { move: 'collect', token: order.order.token, data: collectCall(order) });
}

/** Sends a move of a deposit address unless one like it is on its way, or the gateway would refuse it at the moment. */
async function send(
  deps: DepositDeps,
  chain: Chain,
  order: StoredOrder,
  call: { readonly move: 'collect' | 'rescue'; readonly token: Hex; readonly data: Hex },
): Promise<void> {
  const key = [order.orderId, call.move, call.token.toLowerCase()];
  const isSent = (rows: readonly { readonly status: string }[]) => rows[0]?.status === 'sent';
  if (isSent(await deps.db.query(moveOfOrder, key))) return;
  const { chainId } = chain;
  const plan = await deps.sender.plan(chainId, {
    purpose: call.move,
    to: gatewayOf(order, chain),
    data: call.data,
  });
  if ('reverted' in plan) {
    // Paid meanwhile, not collectable any more, or not rescuable yet: the next look decides anew.
    deps.log.info('deposits.would_revert', {
      chainId,
      orderId: order.orderId,
      move: call.move,
      data: plan.data,
    });
    return;
  }
  const transactionId = await deps.db.transaction(async (transaction) => {
    await lockSession(transaction, order.sessionId);
    if (isSent(await transaction.query(moveOfOrder, key))) return undefined;
    const recorded = await deps.sender.record(transaction, plan);
    await transaction.query(insertMove, [...key, chainId, recorded.transactionId, deps.clock.now()]);
    return recorded.transactionId;
  });
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
}

/** What became of a move's transaction, told by the sender in its transaction. After a failed one the next look decides. */
export async function depositOutcome(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  outcome: SentOutcome,
): Promise<void> {
  if (outcome.purpose !== 'collect' && outcome.purpose !== 'rescue') return;
  const status = outcome.status === 'succeeded' ? 'succeeded' : 'failed';
  await transaction.query(concludeMove, [outcome.transactionId, status, deps.clock.now()]);
}
