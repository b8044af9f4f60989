import { workflowOf } from '@florin/protocol/agent.ts';
import type { PreparedView, Prerequisite } from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, formatUnits } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { approvalsOf } from '#orders/approval.ts';
import type { OrderWithTerms } from '#orders/deposit-terms.ts';
import { spenderOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { alternativesOf } from './alternatives.ts';
import type { AuthorizationContext } from './context.ts';
import { merchantText, merchantTextLimits } from './merchant-text.ts';
import { pricingModelOf, sessionTerms } from './offer.ts';
import type { PayerState } from './preparation.ts';
import { handoffUrlOf, situationOf } from './session-view.ts';

/** An order that the service signed, and the chain that executes it. */
export interface PreparedPayment {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  /** The order of the deposit address, where that has terms of its own. */
  readonly deposit: OrderWithTerms | undefined;
  readonly chain: Chain;
  readonly token: Token;
  readonly payerState: PayerState;
  readonly isReplay: boolean;
}

type ViewContext = Pick<AuthorizationContext, 'chains' | 'rates' | 'clock' | 'origin' | 'gasless'>;

/** The call of `pay(Order, bytes)` that pays an order. */
function payCalldata(order: StoredOrder): Hex {
  return encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'pay',
    args: [order.order, order.signature],
  });
}

/**
 * The answer to POST /payment/prepare: the transaction, the approvals before it, and a description in words. Refuses with
 * chain_unavailable an order that is still to be paid and whose gateway the configuration no longer names: its call would
 * revert.
 */
export function preparedView(deps: ViewContext, given: PreparedPayment): PreparedView {
  const { session, order } = given;
  // Paid or lost: a replay has nothing to execute. The session's own view says which.
  const situation = situationOf(deps, session);
  const isPayable = situation === 'session_ready' || situation === 'payment_parameters_required';
  // A replayed order may name a previous gateway: it is still paid there.
  const gateway = spenderOf(order, given.chain);
  if (gateway === undefined && isPayable) throw new Refusal('chain_unavailable', given.chain.name);
  // The present gateway takes nothing for an order that it does not know.
  const chain = { ...given.chain, gateway: gateway ?? given.chain.gateway };
  const payment = { ...given, chain };
  const calldata = payCalldata(order);
  const chainId = chain.chainId.toString();
  const txRequest = { chainId, to: chain.gateway, data: calldata, value: '0' };
  const prerequisites = isPayable ? prerequisitesOf(payment) : [];
  const approvals = prerequisites.map((prerequisite) => prerequisite.txRequest);
  return {
    sessionId: session.sessionId,
    calldata,
    executionChainId: chainId,
    executorContract: chain.gateway,
    ...(payment.isReplay ? { replayed: true } : {}),
    aiView: {
      pricingModel: pricingModelOf(deps, sessionTerms(session)),
      paymentExecutionGuide: {
        authorizationRequired: false,
        executionRequest: {
          purpose: 'execute_payment_guide',
          sessionId: session.sessionId,
          txRequest,
          userReview: { description: reviewText(payment), irreversible: true },
        },
        prerequisites,
        alternatives: isPayable
          ? alternativesOf({ ...waysOf(deps, payment), transactions: [...approvals, txRequest] })
          : [],
        order: { orderId: order.orderId, deadline: order.order.payBy.toString() },
        handoff: { paymentUrl: handoffUrlOf(deps.origin, session) },
      },
      // A replay may find the order paid or closed: then the next step is not to execute it.
      workflow: isPayable ? workflowOf('payment_prepared', order.order.payBy) : workflowOf(situation),
    },
  };
}

function prerequisitesOf({ order, chain, token, payerState }: PreparedPayment): Prerequisite[] {
  return approvalsOf({
    chain,
    token,
    amount: order.order.total,
    allowance: payerState.allowance,
  });
}

function waysOf(deps: ViewContext, { session, order, deposit, chain, token, payerState }: PreparedPayment) {
  const { minAmount = 0n, isOffered } = deps.gasless ?? {};
  const isSent =
    order.amounts.totalValue >= minAmount && isOffered?.(chain.chainId, session.merchantId) !== false;
  return { order, deposit, chain, token, ...payerState, ...(isSent ? {} : { signing: undefined }) };
}

/** The most items that the review names; the session's view lists all. */
const reviewedItems = 3;

function reviewText({ session, order, chain, token }: PreparedPayment): string {
  const names = session.items.slice(0, reviewedItems).map(({ quantity, productData }) => {
    const name = merchantText(productData?.productName ?? '', merchantTextLimits.productName);
    return `${quantity} x ${JSON.stringify(name)}`;
  });
  const more = session.items.length - names.length;
  const goods = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
  const fee = microUsd(order.amounts.totalValue - order.amounts.paymentValue);
  const feeText = fee === 0n ? 'no fee on top' : `a fee of ${formatUsd(fee)} USD included`;
  const amount = `${formatUnits(order.order.total, token.decimals)} ${token.symbol} (${feeText})`;
  const { to, orderType } = order.order;
  const receives =
    orderType === orderKinds.direct
      ? `the merchant's wallet ${to} receives it in the same transaction`
      : `the merchant's wallet ${to} receives it`;
  return (
    `Pay ${amount} on ${chain.name} (chain ${chain.chainId}) for ${goods}. ` +
    `The gateway ${chain.gateway} takes it and ${receives}. This cannot be undone.`
  );
}
