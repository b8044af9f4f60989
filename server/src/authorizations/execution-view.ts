import { workflowOf } from '@florin/protocol/agent.ts';
import type { PreparedView, Prerequisite, TxRequest } from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi, formatUnits } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { StoredOrder, StoredSession } from '#sessions/stored-session.ts';
import type { AuthorizationDeps } from './authorization.ts';
import { merchantText, merchantTextLimits } from './merchant-text.ts';
import { pricingModelOf, sessionTerms } from './offer.ts';
import { handoffUrlOf, situationOf } from './session-view.ts';

/** An order that the service has signed, and where it is to be executed. */
export interface PreparedPayment {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  readonly chain: Chain;
  readonly token: Token;
  /** What the gateway may take from the payer now, in units of the token. */
  readonly allowance: bigint;
  readonly isReplay: boolean;
}

type ViewDeps = Pick<AuthorizationDeps, 'chains' | 'rates' | 'clock' | 'origin'>;

/** The call of `pay(Order, bytes)` that pays an order. */
function payCalldata(order: StoredOrder): Hex {
  return encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'pay',
    args: [order.order, order.signature],
  });
}

/** The answer to POST /payment/prepare: the transaction, what must come before it, and what it does in words. */
export function preparedView(deps: ViewDeps, payment: PreparedPayment): PreparedView {
  const { session, order, chain } = payment;
  const calldata = payCalldata(order);
  const chainId = chain.chainId.toString();
  const situation = situationOf(deps, session);
  const isPayable = situation === 'session_ready' || situation === 'payment_parameters_required';
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
          txRequest: { chainId, to: chain.gateway, data: calldata, value: '0' },
          userReview: { description: reviewText(payment), irreversible: true },
        },
        prerequisites: isPayable ? prerequisitesOf(payment) : [],
        alternatives: [],
        order: { orderId: order.orderId, deadline: order.order.payBy.toString() },
        handoff: { paymentUrl: handoffUrlOf(deps.origin, session) },
      },
      // A replay may find the order paid or closed: then executing it is not what comes next.
      workflow: isPayable ? workflowOf('payment_prepared', order.order.payBy) : workflowOf(situation),
    },
  };
}

/** How many items the review names; the session's view has them all. */
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
  return (
    `Pay ${amount} on ${chain.name} (chain ${chain.chainId}) for ${goods}. ` +
    `The gateway ${chain.gateway} takes it and the merchant's wallet ${order.order.to} receives it. This cannot be undone.`
  );
}

/** Tether's contract refuses to change an allowance from one value other than zero to another. */
function needsAllowanceReset(token: Token): boolean {
  return /^USD(T|₮)/iu.test(token.symbol);
}

/** Approvals to send before paying, of exactly the order's total, never unlimited; none when the allowance suffices. */
function prerequisitesOf(
  payment: Pick<PreparedPayment, 'order' | 'chain' | 'token' | 'allowance'>,
): Prerequisite[] {
  const { order, chain, token, allowance } = payment;
  const { total } = order.order;
  if (allowance >= total) return [];
  const approve: Prerequisite = {
    purpose: 'approve_exact_amount',
    description: `Allow the gateway ${chain.gateway} to take exactly ${formatUnits(total, token.decimals)} ${token.symbol}.`,
    txRequest: approval(chain, token, total),
  };
  if (allowance === 0n || !needsAllowanceReset(token)) return [approve];
  const reset: Prerequisite = {
    purpose: 'reset_allowance',
    description: `Set the gateway's allowance of ${token.symbol} to 0 first: the token refuses to change it otherwise.`,
    txRequest: approval(chain, token, 0n),
  };
  return [reset, approve];
}

function approval(chain: Chain, token: Token, amount: bigint): TxRequest {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [chain.gateway, amount] });
  return { chainId: chain.chainId.toString(), to: token.address, data, value: '0' };
}
