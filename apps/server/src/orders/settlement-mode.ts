import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { orderKinds, type SettlementMode } from '@florin/protocol/order.ts';
import type { OrderContext, OrderRequest } from './context.ts';
import { directChain, modeTerms } from './settlement-mode.sql.ts';
import type { SessionTerms } from './stored-order.ts';

/**
 * How the money of an order that is about to be signed reaches the merchant, by the account or else the configuration.
 * What was passed straight on cannot come back by itself, so nothing may be paid beside it: the order is held while another
 * chain has one that can be paid, and once a direct one is signed every other chain is refused (100612). On its own chain
 * the contract takes one payment, whatever is signed. The session's row lock makes it one or the other.
 */
export async function settlementModeFor(
  transaction: Transaction,
  deps: Pick<OrderContext, 'settlementMode'>,
  { session, token, payer, settlementMode: given }: OrderRequest,
): Promise<SettlementMode> {
  const isSameToken = token.tokenId === session.settlementToken;
  // The first order of a session stands beside no other.
  if (!isSameToken && !session.signedOnce) return 'escrow';
  const [terms] = await transaction.query(modeTerms, {
    merchantId: session.merchantId,
    accountId: session.accountId,
    sessionId: session.sessionId,
    chainId: token.chainId,
    orderType: orderKinds.direct,
    restoredAt: session.createdAt,
  });
  if (terms === undefined) throw new Error(`the account ${session.accountId} of a session has vanished`);
  if (terms.is_direct_elsewhere) {
    const detail = 'a payment straight to the merchant can still be made on another chain';
    throw new Refusal('method_not_available', detail);
  }
  // A token's transfer to its own sender shows nothing that the contract could check.
  const isOwnPayer = payer.toLowerCase() === session.recipient.toLowerCase();
  if (terms.is_payable_elsewhere || isOwnPayer) return 'escrow';
  // The schema's check constraint is what makes the narrowing true.
  const ofAccount = terms.settlement_mode as SettlementMode | '';
  return given ?? (ofAccount === '' ? (deps.settlementMode ?? 'escrow') : ofAccount);
}

/** The one chain on which a session can still be paid, because a direct order is signed there; undefined when none is. */
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
