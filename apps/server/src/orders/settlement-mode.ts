import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { orderKinds, type SettlementMode } from '@florin/protocol/order.ts';
import type { OrderContext, OrderRequest } from './context.ts';
import { directChain, modeTerms } from './settlement-mode.sql.ts';
import type { SessionTerms } from './stored-order.ts';

/**
 * The settlement mode of an order that is about to be signed: the account's, or else the configuration's. A direct payment
 * cannot be refunded automatically, so a session must not be paid twice beside it. An order is held in escrow while
 * another chain has a payable order, and once a direct order is signed every other chain is refused (100612). On one
 * chain the contract takes only one payment. The session's row lock serializes the choice.
 */
export async function settlementModeFor(
  transaction: Transaction,
  deps: Pick<OrderContext, 'settlementMode'>,
  { session, token, payer, settlementMode: given }: OrderRequest,
): Promise<SettlementMode> {
  const isSameToken = token.tokenId === session.settlementToken;
  // A session's first order has no others.
  if (!isSameToken && !session.signedOnce) return 'escrow';
  const [terms] = await transaction.query(modeTerms, {
    merchantId: session.merchantId,
    accountId: session.accountId,
    sessionId: session.sessionId,
    chainId: token.chainId,
    orderType: orderKinds.direct,
    restoredAt: session.createdAt,
  });
  if (terms === undefined) throw new Error(`the account ${session.accountId} of a session is missing`);
  if (terms.is_direct_elsewhere) {
    const detail = 'a payment straight to the merchant can still be made on another chain';
    throw new Refusal('method_not_available', detail);
  }
  // The contract cannot check a transfer from a wallet to itself.
  const isOwnPayer = payer.toLowerCase() === session.recipient.toLowerCase();
  if (terms.is_payable_elsewhere || isOwnPayer) return 'escrow';
  // The schema's check constraint is what makes the narrowing true.
  const ofAccount = terms.settlement_mode as SettlementMode | '';
  return given ?? (ofAccount === '' ? (deps.settlementMode ?? 'escrow') : ofAccount);
}

/** The only chain on which a session with a direct order can still be paid; undefined without a direct order. */
export async function findDirectChain(
  queryable: Queryable,
  session: SessionTerms,
): Promise<number | undefined> {
  if (!session.signedOnce) return undefined;
  const [row] = await queryable.query(directChain, {
    sessionId: session.sessionId,
    orderType: orderKinds.direct,
  });
  return row === undefined ? undefined : Number(row.chain_id);
}
