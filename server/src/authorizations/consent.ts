import type { PaymentTypedData, SubmitMethod } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { permitWitnessTypes, receiveAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import { hashTypedData } from 'viem';
import { permit2Address, type TokenDomain } from '#chains/token-signing.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';

/** What a payer signs so that anybody may bring the payment to the gateway, and nobody can use it for anything else. */
export interface Consent {
  readonly digest: Hex;
  /** The same, for a wallet to show and sign; integers as decimal strings. */
  readonly typedData: PaymentTypedData;
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

/**
 * The payer's consent to an order by one method, as `IPaymentGateway` asks for it: an EIP-3009 authorization whose nonce is
 * the order's id, or a Permit2 transfer with the order as witness. Undefined where the token has no domain for the first.
 */
export function consentOf(
  method: SubmitMethod,
  stored: StoredOrder,
  place: { readonly gateway: Hex; readonly domain: TokenDomain | undefined },
): Consent | undefined {
  if (method === 'permit2') return permit2Consent(stored, place.gateway);
  return place.domain === undefined ? undefined : authorizationConsent(stored, place.gateway, place.domain);
}

function authorizationConsent({ order, orderId }: StoredOrder, gateway: Hex, domain: TokenDomain): Consent {
  const primaryType = 'ReceiveWithAuthorization';
  // The token's bound is exclusive, the order's is not.
  const message = {
    from: order.payer,
    to: gateway,
    value: order.total,
    validAfter: 0n,
    validBefore: order.payBy + 1n,
    nonce: orderId,
  };
  return {
    digest: hashTypedData({ domain, types: receiveAuthorizationTypes, primaryType, message }),
    typedData: {
      types: { EIP712Domain: domainFields, ...mutable(receiveAuthorizationTypes) },
      primaryType,
      domain: { ...domain },
      message: texts(message),
    },
  };
}

/**
 * The Permit2 nonce of an order: its id. A nonce that stands in a word that the payer has used before would be 17,100 gas
 * cheaper, but could only be chosen by asking the chain, and then a retry might choose another one.
 */
export function permit2NonceOf({ orderId }: StoredOrder): bigint {
  return BigInt(orderId);
}

function permit2Consent(stored: StoredOrder, gateway: Hex): Consent {
  const { order } = stored;
  const primaryType = 'PermitWitnessTransferFrom';
  const domain = { name: 'Permit2', chainId: stored.chainId, verifyingContract: permit2Address };
  const permitted = { token: order.token, amount: order.total };
  const message = {
    permitted,
    spender: gateway,
    nonce: permit2NonceOf(stored),
    deadline: order.payBy,
    witness: order,
  };
  return {
    digest: hashTypedData({ domain, types: permitWitnessTypes, primaryType, message }),
    typedData: {
      types: {
        EIP712Domain: domainFields.filter(({ name }) => name !== 'version'),
        ...mutable(permitWitnessTypes),
      },
      primaryType,
      domain,
      message: { ...texts(message), permitted: texts(permitted), witness: texts({ ...order }) },
    },
  };
}

function texts(message: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]));
}

function mutable(types: Readonly<Record<string, readonly { name: string; type: string }[]>>) {
  return Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]]));
}
