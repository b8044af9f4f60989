import { findCursor } from '@florin/evm';
import type { Chain } from '#chains/chain.ts';
import { type DoubtedDeposit, endDoubt, findDoubtedDeposits } from '#exceptions/lost-exception.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { receiverOf } from '#orders/receiver.ts';
import { lockSession } from '#sessions/session.ts';
import type { DepositContext } from './context.ts';
import { type DepositBalance, readAgreedBalance, readDepositBalances } from './deposit-call.ts';

/** How many doubted exceptions one round reads. */
const doubtedBatch = 50;

/**
 * Reads the addresses of exceptions whose money a reorg below finality may have taken back. One whose address is empty at the
 * final block, and at the newest one of all nodes, is gone: nothing goes back to the payer. Money that is there ends the doubt.
 */
export async function checkDoubted(
  deps: Pick<DepositContext, 'db' | 'clock' | 'rpcOf'>,
  chain: Chain,
): Promise<void> {
  const { db } = deps;
  const { chainId } = chain;
  const cursor = await findCursor(db, chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return;
  const doubted = await findDoubtedDeposits(db, { chainId, limit: doubtedBatch });
  const places = await placesOf(deps, chain, doubted);
  const rpc = deps.rpcOf(chainId);
  const amounts = await readDepositBalances(
    rpc,
    places.map(({ balance }) => balance),
    cursor.finalNumber,
  );
  for (const [index, { exceptionId, sessionId, balance }] of places.entries()) {
    const amount = amounts[index] ?? 0n;
    // A transfer that is back in a block waits for its finality.
    if (amount === 0n && (await readAgreedBalance(rpc, chain, balance)) !== 0n) continue;
    await db.transaction(async (transaction) => {
      await lockSession(transaction, sessionId);
      const now = await findCursor(transaction, chainId);
      if (now?.rewinds !== cursor.rewinds || now.haltedReason !== '') return;
      await endDoubt(transaction, deps, { exceptionId, amount });
    });
  }
}

async function placesOf(
  { db }: Pick<DepositContext, 'db'>,
  chain: Chain,
  doubted: readonly DoubtedDeposit[],
): Promise<(DoubtedDeposit & { readonly balance: DepositBalance })[]> {
  if (doubted.length === 0) return [];
  const orders = await findOrders(db, [...new Set(doubted.map(({ orderId }) => orderId))]);
  return doubted.flatMap((exception) => {
    const order = orders.find(({ orderId }) => orderId === exception.orderId);
    const token = chain.tokens.find(({ tokenId }) => tokenId === exception.tokenId);
    if (order === undefined || token === undefined) return [];
    const holder = receiverOf(gatewayOf(order, chain), order.orderId);
    return { ...exception, balance: { token: token.address, holder } };
  });
}
