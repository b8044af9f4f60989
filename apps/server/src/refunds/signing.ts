import { getTransactionReceipt, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Queryable, Transaction } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { RefundSigning } from '@florin/protocol/refund-signing-api.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { encodeEventTopics } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { findOrder } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { Clock } from '#outside/clock.ts';
import { lockRefundsToSign, refundById } from './refund.sql.ts';
import { requireStanding, statusOf } from './refund.ts';
import * as sql from './signing.sql.ts';

const [returnedTopic] = encodeEventTopics({ abi: paymentGatewayAbi, eventName: 'SettlementRefunded' });

/** A member's wish about the signing of a refund. */
interface Signer {
  readonly merchantId: string;
  readonly userId: string;
  readonly refundId: string;
  readonly signingId: string;
}

/** Who signs a refund of a payment, as stored. */
export interface OpenSigning extends Omit<RefundSigning, 'returnedNothing'> {
  readonly orderId: string;
}

/** Who signs a refund of this refund's payment; undefined when no member does. Refuses an unknown refund (100703). */
export async function findSigning(
  queryable: Queryable,
  request: { merchantId: string; refundId: string; userId: string },
): Promise<OpenSigning | undefined> {
  const { merchantId, refundId, userId } = request;
  await assertRefund(queryable, { merchantId, refundId });
  const [row] = await queryable.query(sql.signingByRefund, { merchantId, refundId });
  if (row === undefined) return undefined;
  return {
    signingId: row.signing_id,
    orderId: row.order_id,
    refundId: row.refund_id,
    isWithdrawn: row.is_withdrawn,
    memberName: row.name,
    isMine: row.user_id === userId,
    account: row.account,
    txHash: row.tx_hash,
    askedAt: formatTimestamp(row.asked_at),
  };
}

/**
 * Who signs, and the state of the refund. The state is read last: a refund whose return is final has no signing any more, and
 * would otherwise look for a moment as though no wallet had been asked.
 */
export async function readSigning(queryable: Queryable, request: Parameters<typeof findSigning>[1]) {
  const signing = await findSigning(queryable, request);
  return { signing, status: statusOf(await assertRefund(queryable, request)) };
}

/**
 * Whether the chain shows that the transaction of a signing returned nothing of its payment: it failed, or the page told
 * another one. False while it is not mined, and while no node answers.
 */
export async function hasReturnedNothing(
  queryable: Queryable,
  { chains, rpcOf }: { readonly chains: Chains; readonly rpcOf: (chainId: number) => Rpc },
  { orderId, txHash }: Pick<OpenSigning, 'orderId' | 'txHash'>,
): Promise<boolean> {
  const order = txHash === '' ? undefined : await findOrder(queryable, orderId);
  const chain = order === undefined ? undefined : chains.byId(order.chainId);
  if (order === undefined || chain === undefined) return false;
  try {
    const receipt = await getTransactionReceipt(rpcOf(chain.chainId), txHash as Hex);
    if (receipt === undefined) return false;
    const gateway = gatewayOf(order, chain).toLowerCase();
    return !receipt.logs.some(
      ({ address, topics }) =>
        address.toLowerCase() === gateway && topics[0] === returnedTopic && topics[1] === orderId,
    );
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError) return false;
    throw error;
  }
}

/** How long what a node said of a transaction is told again, in milliseconds. */
const answerLifeMs = 5_000;
const maxAnswers = 1_000;

/** {@link hasReturnedNothing}, asked of the chain at most once in five seconds for a transaction, however many look. */
export function returnReader(
  deps: Parameters<typeof hasReturnedNothing>[1] & { readonly clock: Pick<Clock, 'now'> },
): (queryable: Queryable, signing: Pick<OpenSigning, 'orderId' | 'txHash'>) => Promise<boolean> {
  const answers = new Map<string, { readonly atMs: number; readonly answer: Promise<boolean> }>();
  return (queryable, signing) => {
    if (signing.txHash === '') return Promise.resolve(false);
    const key = `${signing.orderId} ${signing.txHash}`;
    const nowMs = deps.clock.now().getTime();
    const known = answers.get(key);
    if (known !== undefined && nowMs - known.atMs < answerLifeMs) return known.answer;
    const answer = hasReturnedNothing(queryable, deps, signing);
    answer.catch(() => answers.delete(key));
    answers.delete(key);
    answers.set(key, { atMs: nowMs, answer });
    const [oldest] = answers.keys();
    if (answers.size > maxAnswers && oldest !== undefined) answers.delete(oldest);
    return answer;
  };
}

/**
 * Reserves a payment for one wallet, before that wallet is asked to return a part of it. Refuses (100710) while another
 * signing of the payment is open, unless the request names that one to replace it, and refunds that no wallet signs (100702):
 * also those whose payment the chain took back, and, while it is halted, all of its refunds (900401).
 */
export async function startSigning(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: Signer & { account: string; insteadOf: string },
): Promise<void> {
  const { merchantId, refundId, userId } = request;
  const { order_id: orderId, status } = await assertRefund(transaction, { merchantId, refundId });
  // The watcher takes the same lock when a return is final: the refund is completed before this, or waits for it.
  const open = await transaction.query(lockRefundsToSign, { orderId });
  if (!open.some((row) => row.refund_id === refundId))
    throw new Refusal('refund_not_possible', `its status is ${status}`);
  const order = await findOrder(transaction, orderId);
  if (order === undefined) throw new Error(`refund ${refundId} has no order`);
  await requireStanding(transaction, order);
  const [started] = await transaction.query(sql.insertSigning, {
    ...request,
    orderId,
    askedAt: deps.clock.now(),
  });
  if (started !== undefined) return;
  const other = await findSigning(transaction, { merchantId, refundId, userId });
  throw new Refusal(
    'refund_being_signed',
    `${other?.memberName || 'a former member or another tool'} with ${other?.account}`,
  );
}

/** Notes the transaction that a wallet sent. Refuses (100710) a signing that has ended, or that another member holds. */
export async function reportSigning(
  transaction: Transaction,
  request: Signer & { txHash: string },
): Promise<void> {
  await assertRefund(transaction, request);
  const noted = await transaction.query(sql.setSigningHash, request);
  if (noted.length === 0) throw new Refusal('refund_being_signed', 'the signing has ended, or is not yours');
}

/** Ends a signing that moved no money; false for one that has ended. Refuses (100710) one that another member holds. */
export async function endSigning(transaction: Transaction, request: Signer): Promise<boolean> {
  await assertRefund(transaction, request);
  if ((await transaction.query(sql.deleteSigning, request)).length > 0) return true;
  const open = await findSigning(transaction, request);
  if (open?.signingId === request.signingId)
    throw new Refusal(
      'refund_being_signed',
      `${open.memberName || 'a former member or another tool'} holds the signing`,
    );
  return false;
}

async function assertRefund(
  queryable: Queryable,
  { merchantId, refundId }: Pick<Signer, 'merchantId' | 'refundId'>,
) {
  const [row] = await queryable.query(refundById, { merchantId, refundId });
  if (row === undefined) throw new Refusal('refund_not_found', refundId);
  return row;
}
