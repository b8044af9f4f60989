import { findCursor } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { findOrder } from '#orders/order.ts';
import { paidValueOf } from '#orders/stored-order.ts';
import { lostPayments, paymentsSeen, returnsInDoubt } from './progress.sql.ts';
import type { SessionState } from './stored-session.ts';

/** A session's payment in a block of its chain, final or not. */
export interface SeenPayment {
  readonly orderId: string;
  readonly chainId: number;
  readonly tokenId: string;
  /** Who paid, or the refund address of a deposit: anyone may have sent that. */
  readonly payer: string;
  readonly isDeposit: boolean;
  /** What the payer paid, in smallest units of the token: without what the operator added to a short deposit. */
  readonly amountInToken: bigint;
  /** The order's total, and the fee in it, in Micro-USD. */
  readonly total: bigint;
  readonly fee: bigint;
  /** Blocks from the payment's own to the head, both counted. */
  readonly confirmations: number;
  /** About how many make the payment final now. More than `confirmations` until it is final. */
  readonly confirmationsWanted: number;
  /**
   * Its chain is halted, and until it has begun again the service does not know whether it still has the block with the payment,
   * or with its return.
   */
  readonly isInDoubt: boolean;
}

/** The payment of each session that is in a block; of several the one that the session names. Omits sessions without one. */
export async function findSeenPayments(
  queryable: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, SeenPayment>> {
  const rows = await queryable.query(paymentsSeen, { sessionIds });
  return new Map(
    rows.map((row) => {
      const confirmations = Number(row.head_number - row.block_number) + 1;
      const distance = Number(row.head_number - row.final_number) + 1;
      const isFinal = row.final_number >= row.block_number;
      return [
        row.session_id,
        {
          orderId: row.order_id,
          chainId: Number(row.chain_id),
          tokenId: row.token_id,
          payer: row.payer,
          isDeposit: row.is_deposit,
          amountInToken: row.paid_amount,
          total: row.total_value,
          fee: row.total_value - row.payment_value,
          confirmations,
          confirmationsWanted: isFinal
            ? Math.min(distance, confirmations)
            : Math.max(distance, confirmations + 1),
          isInDoubt: row.is_in_doubt,
        },
      ];
    }),
  );
}

/**
 * Which of the orders had a final payment that a reorg below finality took back, and that is not final again. Each with the
 * last second, in Unix time, in which it can return.
 */
export async function findLostPayments(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = orderIds.length === 0 ? [] : await queryable.query(lostPayments, { orderIds });
  return new Map(rows.map((row) => [row.order_id, row.pay_by]));
}

/** Why a payment that was final may no longer count: a reorg has taken it back, or its chain is halted. Else empty. */
export async function doubtOf(
  queryable: Queryable,
  { sessionId, orderId }: Pick<SessionState, 'sessionId' | 'orderId'>,
): Promise<'' | 'lost' | 'halted'> {
  const seen = await findSeenPayments(queryable, [sessionId]);
  const lost = await findLostPayments(queryable, [orderId]);
  if (lost.has(orderId)) return 'lost';
  return seen.get(sessionId)?.isInDoubt === true ? 'halted' : '';
}

export async function isPaymentInDoubt(
  queryable: Queryable,
  session: Pick<SessionState, 'sessionId' | 'orderId'>,
): Promise<boolean> {
  return (await doubtOf(queryable, session)) !== '';
}

/** The transactions that returned money of the orders, as far as a halted chain may not have them any more. */
export async function findReturnsInDoubt(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = orderIds.length === 0 ? [] : await queryable.query(returnsInDoubt, { orderIds });
  return new Set(rows.map((row) => row.tx_hash));
}

/** Whether the chain is halted: until it is resumed, the service does not know which of its final payments are still there. */
export async function isHalted(queryable: Queryable, chainId: number): Promise<boolean> {
  const cursor = await findCursor(queryable, chainId);
  return cursor !== undefined && cursor.haltedReason !== '';
}

/** Whether the payer has the whole payment back. */
export async function isReturnedInFull(
  queryable: Queryable,
  { refundedAmount, orderId }: Pick<SessionState, 'refundedAmount' | 'orderId'>,
): Promise<boolean> {
  const order = refundedAmount === 0n ? undefined : await findOrder(queryable, orderId);
  return order !== undefined && refundedAmount >= paidValueOf(order);
}

/** A session whose payment was taken back or is in doubt, for who asks whether it is paid: as while its payment was not final. */
export function withoutFinality<Session extends SessionState>(session: Session): Session {
  const times = { paymentSucceededAt: undefined, settlementSucceededAt: undefined };
  return {
    ...{ ...session, ...times, refundedAmount: microUsd(0n) },
    ...{ status: 'initialized', pendingReason: '', receiptId: '', completeTx: '' },
  };
}
