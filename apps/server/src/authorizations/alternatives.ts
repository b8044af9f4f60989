import type { PaymentAlternative, SubmitMethod, TxRequest } from '@florin/protocol/agent-view.ts';
import type { PermitKind, Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { permit2Address } from '#chains/shared-contract.ts';
import type { TokenSigning } from '#contracts/token-signing.ts';
import { approvalsOf } from '#orders/approval.ts';
import type { OrderWithTerms } from '#orders/deposit-terms.ts';
import { gatewayOf, spenderOf } from '#orders/order-gateway.ts';
import { receiverOf, rescueCall } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { consentOf } from './consent.ts';

/** The state that decides how one payer can pay one order. */
export interface PaymentWays {
  readonly order: StoredOrder;
  /** The order of the deposit address, where that has terms of its own. */
  readonly deposit: OrderWithTerms | undefined;
  readonly chain: Chain;
  readonly token: Token;
  /** Undefined where the service does not pay the gas, or the token's chain did not answer. */
  readonly signing: TokenSigning | undefined;
  /** What Permit2 may take from the payer now, in units of the token. */
  readonly permit2Allowance: bigint;
  /** Which of the payer's nonces in `permit2Word` are used. */
  readonly usedNonces: bigint;
  /** Approvals that the payment transaction needs before it, and the transaction itself. */
  readonly transactions: readonly TxRequest[];
}

/** The ways to pay an order besides sending its transaction, the one with the fewest steps for the payer first. */
export function alternativesOf(ways: PaymentWays): PaymentAlternative[] {
  return [
    ...signedAlternative(ways, 'eip3009'),
    ...signedAlternative(ways, 'permit2'),
    batchAlternative(ways),
    ...depositAlternative(ways),
  ];
}

/**
 * The methods that pay with a token, regardless of payer and amount: a transaction, alone or in a batch. Where the
 * service sends payments itself (`signing` is given), its methods as well.
 */
export function paymentMethodsOf(signing: TokenSigning | undefined): string[] {
  const methods = ['transaction', 'eip5792'];
  if (signing === undefined) return methods;
  const isTransferable = signing.permits.has('eip3009');
  if (isTransferable) methods.push('eip3009');
  if (signing.permits.has('permit2')) methods.push('permit2');
  methods.push('deposit');
  if (isTransferable) methods.push('x402');
  return methods;
}

const kinds: Readonly<Record<SubmitMethod, PermitKind>> = { eip3009: 'eip3009', permit2: 'permit2' };

function signedAlternative(ways: PaymentWays, method: SubmitMethod): PaymentAlternative[] {
  const { order, chain, signing, usedNonces } = ways;
  if (signing === undefined || !signing.permits.has(kinds[method])) return [];
  const gateway = spenderOf(order, chain);
  if (gateway === undefined) return [];
  const place = { gateway, domain: signing.domain, usedNonces };
  const consent = consentOf(method, order, place);
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
        body: { sessionId: order.sessionId, method, orderId: order.orderId },
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

/** Offered only where the service watches the deposit address and collects from it. */
function depositAlternative({
  order: walletOrder,
  deposit,
  chain,
  signing,
}: PaymentWays): PaymentAlternative[] {
  if (signing === undefined) return [];
  const order = deposit?.order ?? walletOrder;
  const { tolerance = 0n, latePayment = 'return' } = deposit?.terms ?? {};
  const { payBy, payer, token, total } = order.order;
  const gateway = gatewayOf(order, chain);
  const data = rescueCall(order, token);
  return [
    {
      method: 'deposit',
      gasless: false,
      costToPayer: 'the gas of a plain transfer',
      address: receiverOf(gateway, order.orderId),
      amountInToken: total.toString(),
      refundAddress: payer,
      ...(tolerance === 0n ? {} : { leastInToken: (total - tolerance).toString() }),
      ...(latePayment === 'return' ? {} : { lateUntil: payBy.toString() }),
      recovery: {
        txRequest: { chainId: chain.chainId.toString(), to: gateway, data, value: '0' },
        after: payBy.toString(),
      },
    },
  ];
}
