import type { PaymentAlternative, SubmitMethod, TxRequest } from '@florin/protocol/agent-view.ts';
import type { PermitKind, Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { permit2Address, type TokenSigning } from '#chains/token-signing.ts';
import { approvalsOf } from '#sessions/approval.ts';
import { gatewayOf } from '#sessions/order-gateway.ts';
import { receiverOf } from '#sessions/receiver.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import { consentOf } from './consent.ts';

/** What is known of the ways in which one payer can pay one order. */
export interface PaymentWays {
  readonly order: StoredOrder;
  readonly chain: Chain;
  readonly token: Token;
  /** Undefined where nothing is sent at the service's cost, or the token's chain could not be asked. */
  readonly signing: TokenSigning | undefined;
  /** What Permit2 may take from the payer now, in units of the token. */
  readonly permit2Allowance: bigint;
  /** Approvals that the payment transaction needs before it, and the transaction itself. */
  readonly transactions: readonly TxRequest[];
}

/** The ways to pay an order besides sending its transaction, the one that asks least of the payer first. */
export function alternativesOf(ways: PaymentWays): PaymentAlternative[] {
  return [
    ...signedAlternative(ways, 'eip3009'),
    ...signedAlternative(ways, 'permit2'),
    batchAlternative(ways),
    ...depositAlternative(ways),
  ];
}

const kinds: Readonly<Record<SubmitMethod, PermitKind>> = { eip3009: 'eip3009', permit2: 'permit2' };

function signedAlternative(ways: PaymentWays, method: SubmitMethod): PaymentAlternative[] {
  const { order, chain, signing } = ways;
  if (signing === undefined || !signing.permits.has(kinds[method])) return [];
  const consent = consentOf(method, order, { gateway: gatewayOf(order, chain), domain: signing.domain });
  if (consent === undefined) return [];
  const approvals = method === 'permit2' ? permit2Approvals(ways) : [];
  const gasless = approvals.length === 0;
  return [
    {
      method,
      gasless,
      costToPayer: gasless ? 'nothing' : 'the gas of an approval',
      typedData: consent.typedData,
      submit: {
        method: 'POST',
        path: '/payment/submit',
        body: { sessionId: order.sessionId, method },
      },
      ...(gasless ? {} : { calls: approvals }),
    },
  ];
}

/** Approvals of exactly the amount that Permit2 still needs. */
function permit2Approvals({ order, chain, token, permit2Allowance }: PaymentWays): TxRequest[] {
  return approvalsOf({
    chain,
    spender: permit2Address,
    token,
    amount: order.order.total,
    allowance: permit2Allowance,
  }).map(({ txRequest }) => txRequest);
}

function batchAlternative({ transactions }: PaymentWays): PaymentAlternative {
  return {
    method: 'eip5792',
    gasless: false,
    costToPayer: 'the gas of one batch',
    calls: [...transactions],
  };
}

/** Only where somebody looks after the address and sends what is there. */
function depositAlternative({ order, chain, signing }: PaymentWays): PaymentAlternative[] {
  if (signing === undefined) return [];
  return [
    {
      method: 'deposit',
      gasless: false,
      costToPayer: 'the gas of a plain transfer',
      address: receiverOf(gatewayOf(order, chain), order.orderId),
      amountInToken: order.order.total.toString(),
      refundAddress: order.order.payer,
    },
  ];
}
