import type { SubmitMethod } from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { type ErrorName, Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeErrorResult, encodeFunctionData } from 'viem';
import type { StoredOrder } from '#orders/stored-order.ts';

/** What a payer signed to pay an order. */
export interface SignedConsent {
  readonly method: SubmitMethod;
  readonly signature: Hex;
  /** The nonce of the signature. */
  readonly nonce: bigint;
}

/**
 * The gateway's call that pays an order by its payer's consent. An empty service signature means that the sender
 * consents.
 */
export function submissionCall(
  { order, signature: orderSignature }: Pick<StoredOrder, 'order' | 'signature'>,
  { method, signature, nonce }: SignedConsent,
): Hex {
  const abi = paymentGatewayAbi;
  if (method === 'eip3009') {
    const args = [order, orderSignature, signature] as const;
    return encodeFunctionData({ abi, functionName: 'payWithAuthorization', args });
  }
  const args = [order, orderSignature, nonce, signature] as const;
  return encodeFunctionData({ abi, functionName: 'payWithPermit2', args });
}

const reasons: Readonly<Record<string, readonly [ErrorName, string]>> = {
  MetaDataUsed: ['order_already_paid', 'paid in another way'],
  PaymentDeadlinePassed: ['session_expired', 'the chain has passed the deadline of the order'],
  ContractPaused: ['chain_unavailable', 'the gateway takes no payments at the moment'],
  TransferFailed: [
    'payer_not_served',
    'the token refuses the transfer: look at the balance, the block list, and whether the authorization was used or cancelled',
  ],
  Permit2Failed: [
    'payer_not_served',
    'Permit2 refuses the transfer: look at the balance and at what Permit2 may take',
  ],
  InexactTransfer: ['payer_not_served', 'the token moves another amount than it is asked to'],
};

/** The refusal for a payer whose payment would revert with this data. */
export function refusalOfRevert(data: Hex): Refusal {
  const name = errorNameOf(data);
  const [slug, detail] = reasons[name] ?? ['payer_not_served', `the payment would revert: ${name}`];
  return new Refusal(slug, detail);
}

function errorNameOf(data: Hex): string {
  try {
    return decodeErrorResult({ abi: paymentGatewayAbi, data }).errorName;
  } catch {
    // Not one of the gateway's errors, or no data from the node.
    return 'for a reason that the node does not tell';
  }
}
