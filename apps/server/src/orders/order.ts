import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { toTokenAmount } from '@florin/protocol/money.ts';
import { type Hex, type Order, type OrderType, orderKinds } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { zeroAddress } from 'viem';
import { type Chain, type Chains, ownerlessAt } from '#chains/chain.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { OrderContext, OrderRequest } from './context.ts';
import { depositOrdersOfSession, insertOrder, orderById, ordersByIds } from './order.sql.ts';
import { parseOrder } from './order-row.ts';
import {
  assertRouteOpen,
  directQuote,
  type FeeRates,
  outOfBounds,
  priceBounds,
  type Quote,
  quoteOf,
  quoteOfTotal,
  routeFrom,
  totalBounds,
} from './quote.ts';
import { receiverOf } from './receiver.ts';
import type { SessionTerms, StoredOrder } from './stored-order.ts';

/** The signature of a deposit's order, which the service signs only to collect it. */
export const unsigned: Hex = '0x';

/** Whether only the service can pay the order, by collecting a deposit. */
export function isCollectedOnly(order: Pick<StoredOrder, 'signature'>): boolean {
  return order.signature === unsigned;
}

/**
 * The price of a session in one token. Refuses a token without a route, a chain that is unavailable, and an amount that
 * the route does not take.
 */
export function quoteSession(chains: Chains, rates: FeeRates, session: SessionTerms, token: Token): Quote {
  const ends = { paymentTokenId: token.tokenId, settlementTokenId: session.settlementToken };
  const route = routeFrom(chains, rates, ends);
  if (route === undefined) throw new Refusal('payment_token_unsupported', token.tokenId);
  assertRouteOpen(route);
  const { feeModel, chosenTotal } = session;
  const [quote, bounds] =
    chosenTotal === undefined
      ? [quoteOf(route, { paymentValue: session.amount, feeModel }), priceBounds(route, feeModel)]
      : [quoteOfTotal(route, { totalValue: chosenTotal, feeModel }), totalBounds(route, feeModel)];
  if (quote === undefined) throw outOfBounds(route, bounds);
  return quote;
}

/** Refuses (100611) a payer who cannot get a refund: the zero address, or a contract of the installation. */
export function assertServed(chains: Chains, payer: Hex): void {
  const ownerless = ownerlessAt(chains, payer);
  if (ownerless === undefined) return;
  const detail = `${payer} is ${ownerless}`;
  throw new Refusal('payer_not_served', { param: 'payer', detail });
}

/**
 * The unsigned order of a request. The same terms always give the same id. Refuses a token without a route, an amount
 * that the route does not take, and a payer who cannot get a refund (100611).
 */
export function draftOrder(deps: OrderContext, request: OrderRequest): Omit<StoredOrder, 'signature'> {
  const { session, token } = request;
  const chain = deps.chains.byId(token.chainId);
  const settlementToken = deps.chains.token(session.settlementToken);
  if (chain === undefined || settlementToken === undefined)
    throw new Refusal('payment_token_unsupported', token.tokenId);
  assertServed(deps.chains, request.payer);
  const held = quoteSession(deps.chains, deps.rates, session, token);
  const quote = request.settlementMode === 'direct' ? directQuote(held) : held;
  const order = orderOf(request, quote, { chain, settlementToken }, deps.reclaimAfterSeconds);
  const payingChain = deps.chains.byId(settlementToken.chainId);
  return {
    orderId: deps.signer.orderId(chain.chainId, chain.gateway, order),
    sessionId: session.sessionId,
    chainId: chain.chainId,
    tokenId: token.tokenId,
    payerEmail: request.payerEmail,
    withSecret: request.proof === 'secret',
    order,
    gateway: chain.gateway,
    payoutVault: order.orderType === orderKinds.vaultPayout ? (payingChain?.vault ?? '') : '',
    amounts: quote.amounts,
    added: 0n,
  };
}

const daySeconds = 86_400;

/**
 * How long an order can be settled after its last second of payment, in seconds. In escrow the merchant can settle it
 * alone in the end. What only the operator can settle goes back sooner.
 */
const usualReclaimAfterSeconds: Readonly<Record<OrderType, number>> = {
  [orderKinds.escrow]: 30 * daySeconds,
  [orderKinds.direct]: 30 * daySeconds,
  [orderKinds.vaultPayout]: 7 * daySeconds,
  [orderKinds.cctp]: 7 * daySeconds,
};

function orderOf(
  request: OrderRequest,
  quote: Quote,
  { chain, settlementToken }: { readonly chain: Chain; readonly settlementToken: Token },
  chosenAfterSeconds: number | undefined,
): Order {
  const { session, payer, token } = request;
  const { amounts, orderType } = quote;
  const endsAt = request.endsAt ?? unixSeconds(session.expirationTime);
  const payBy = endsAt + (request.lateSeconds ?? 0);
  return {
    channelId: session.channelId,
    metaData: session.metaData,
    payer,
    token: token.address,
    to: session.recipient,
    total: quote.amountInToken,
    payment: toTokenAmount(amounts.paymentValue, token.decimals),
    fee: toTokenAmount(amounts.feeValue, token.decimals),
    payBy: BigInt(payBy),
    reclaimAt: BigInt(payBy + (chosenAfterSeconds ?? usualReclaimAfterSeconds[orderType])),
    orderType,
    // The chain where the merchant gets the money: another one only for payouts and mints.
    targetChain: BigInt(settlementToken.chainId),
    via: viaOf(chain, orderType),
  };
}

/** The contract through which an order of this type leaves the gateway of a chain. */
function viaOf({ name, vault, cctp }: Chain, orderType: OrderType): Hex {
  if (orderType === orderKinds.vaultPayout) return vault;
  if (orderType !== orderKinds.cctp) return zeroAddress;
  if (cctp === undefined) throw new Error(`an order by CCTP on ${name}, which has no route`);
  return cctp.route;
}

/** Stores an order. The same order again changes nothing, except that a proven request replaces the payer's e-mail. */
export async function storeOrder(
  transaction: Transaction,
  stored: StoredOrder,
  now: Date,
  { network = '', language = '', proof }: Pick<OrderRequest, 'network' | 'language' | 'proof'>,
): Promise<void> {
  const { order, amounts } = stored;
  await transaction.query(insertOrder, {
    ...{ ...stored, ...order, ...amounts },
    recipient: order.to,
    isProven: proof !== undefined,
    createdAt: now,
    receiver: stored.gateway === '' ? null : receiverOf(stored.gateway, stored.orderId).toLowerCase(),
    network,
    payerLanguage: language,
  });
}

/** One order by its on-chain id; undefined when this service never signed it. */
export async function findOrder(queryable: Queryable, orderId: string): Promise<StoredOrder | undefined> {
  const rows = await queryable.query(orderById, { orderId });
  return rows[0] === undefined ? undefined : parseOrder(rows[0]);
}

/** Orders by id, in no order. Omits unknown ids. */
export async function findOrders(queryable: Queryable, orderIds: readonly string[]): Promise<StoredOrder[]> {
  const [only, ...others] = orderIds;
  if (only === undefined) return [];
  // PostgreSQL plans a look-up by a list afresh each time.
  const rows =
    others.length === 0
      ? await queryable.query(orderById, { orderId: only })
      : await queryable.query(ordersByIds, { orderIds });
  return rows.map(parseOrder);
}

/** Orders of a session whose deposit addresses payers may have used, the newest first. */
export async function findDepositOrders(
  queryable: Queryable,
  sessionId: string,
  limit: number,
): Promise<StoredOrder[]> {
  return (await queryable.query(depositOrdersOfSession, { sessionId, limit })).map(parseOrder);
}
