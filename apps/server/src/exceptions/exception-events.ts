import type { Transaction } from '@florin/pg';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import type { Chains } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#contracts/event.ts';
import { eachWithLockedOrder, eachWithOrder, type LockedOrder } from '#sessions/event-order.ts';
import { fullView, sessionJson } from '#sessions/session-json.ts';
import { type ReturnedMoney, tellReturned } from './deposit-exception.ts';
import { doubtDeposits, doubtSurplus, losePayment, reopenByLoss, resolveByEvent } from './exception.sql.ts';
import type { ExceptionContext } from './exception.ts';

/** The kinds of exception that each final event ends. */
const endings: Readonly<Partial<Record<ChainEvent['name'], readonly ExceptionKind[]>>> = {
  // The late or short money has become the payment.
  Paid: ['underpaid', 'late'],
  // A second payment that is settled does not go back by itself: `duplicate_settled` takes its place.
  Settled: ['duplicate', 'unsettled'],
  Refunded: ['duplicate', 'unsettled'],
  Reclaimed: ['duplicate', 'unsettled'],
  Rescued: ['underpaid', 'overpaid', 'late', 'wrong_token', 'duplicate'],
};

/** Events that send money back: from a deposit address, and from the gateway. */
const returnNames: readonly ChainEvent['name'][] = ['Rescued', 'Refunded', 'Reclaimed'];

/**
 * Ends exceptions by final events: the payer has the money back, or it has become the payment, or it is settled. A return that
 * a reorg below finality took back opens its exceptions again. The exceptions of a payment that it took back end until that
 * is final again; what is at deposit addresses is read again (`deposits/lost-deposit.ts`).
 */
export function exceptionHandler(deps: ExceptionContext & { readonly chains: Chains }): ChainHandler {
  return {
    async onBlock() {},
    async onReorg() {},
    async onRewind(transaction, { chainId }, { number }) {
      const updatedAt = deps.clock.now();
      await transaction.query(doubtDeposits, { chainId, above: number, updatedAt });
    },
    async onFinal(transaction, chain, _block, events) {
      const returns = events.filter(({ name }) => returnNames.includes(name));
      await eachWithLockedOrder(transaction, returns, async (event, found) => {
        const returned =
          found === undefined ? undefined : await findReturned(transaction, deps, event, found);
        if (found !== undefined && returned !== undefined)
          await tellPayerOfReturn(transaction, deps, event, { ...found, returned });
        return undefined;
      });
      const returnsBySeller = events.filter(({ name }) => name === 'SettlementRefunded');
      await eachWithOrder(transaction, returnsBySeller, async (event, { order }) => {
        if (BigInt(event.arguments['refundedTotal'] ?? '0') < order.total) return;
        await transaction.query(resolveByEvent, {
          orderId: event.orderId,
          // If only a second reading found the payment, both are open.
          kinds: ['duplicate', 'duplicate_settled'],
          tokenId: '',
          resolvedTx: event.txHash,
          blockNumber: event.blockNumber,
          updatedAt: deps.clock.now(),
        });
      });
      const paidIds = events.flatMap(({ name, orderId }) => (name === 'Paid' ? orderId : []));
      if (paidIds.length > 0)
        await transaction.query(doubtSurplus, { orderIds: paidIds, updatedAt: deps.clock.now() });
      for (const event of events) {
        const kinds = endings[event.name];
        if (kinds === undefined) continue;
        const { token } = event.arguments;
        const tokenId =
          event.name === 'Rescued' ? deps.chains.tokenAt(chain.chainId, token ?? '')?.tokenId : '';
        if (tokenId === undefined) continue;
        await transaction.query(resolveByEvent, {
          orderId: event.orderId,
          kinds,
          tokenId,
          resolvedTx: event.txHash,
          blockNumber: event.blockNumber,
          updatedAt: deps.clock.now(),
        });
      }
    },
    async onDropped(transaction, _chain, dropped) {
      for (const { name, orderId, txHash } of dropped) {
        if (name !== 'SettlementRefunded' && !returnNames.includes(name)) continue;
        await transaction.query(reopenByLoss, { orderId, lostTx: txHash, updatedAt: deps.clock.now() });
      }
      const orderIds = dropped.flatMap(({ name, orderId }) => (name === 'Paid' ? orderId : []));
      if (orderIds.length > 0)
        await transaction.query(losePayment, { orderIds, updatedAt: deps.clock.now() });
    },
  };
}

/** The money of a return of which no event of the session tells the payer. */
async function findReturned(
  transaction: Transaction,
  deps: ExceptionContext & { readonly chains: Chains },
  event: ChainEvent,
  found: LockedOrder,
): Promise<ReturnedMoney | undefined> {
  if (event.name === 'Rescued') return tellReturned(transaction, deps, event, found);
  const { order, session } = found;
  // The payment of a session is refunded as a whole, which its event tells.
  if (session.orderId === order.orderId) return undefined;
  const { tokenId, amounts } = order;
  return { kind: 'duplicate', tokenId, amount: order.order.total, value: amounts.totalValue };
}

/**
 * Money that went back is told to the merchant by its exception, and to the payer of its own order: another order of the session
 * may be another payer's. The e-mail has the whole address and transaction, which pages show only with the session's secret. So
 * an order that was asked for without the secret has no recipient.
 */
async function tellPayerOfReturn(
  transaction: Transaction,
  deps: Pick<ExceptionContext, 'clock' | 'notify' | 'origin'>,
  event: ChainEvent,
  { order, session, returned }: LockedOrder & { readonly returned: ReturnedMoney },
): Promise<void> {
  const { orderId, txHash } = event;
  const payerEmail = order.withSecret ? order.payerEmail : '';
  const money = {
    ...{ ...returned, amount: String(returned.amount), value: Number(returned.value) },
    ...{ orderId, txHash, payer: order.order.payer, payerEmail },
  };
  await deps.notify?.(transaction, [
    {
      ...{ type: 'session.returned', ownerId: session.merchantId, objectId: session.sessionId },
      dataJson: `{"session":${sessionJson(session, fullView(deps.origin))},"returned":${JSON.stringify(money)}}`,
      at: deps.clock.now(),
    },
  ]);
}
