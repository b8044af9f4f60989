import type { PaymentTypedData, SubmitMethod } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { permitWitnessTypes, receiveAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import { hashTypedData, keccak256, stringToHex } from 'viem';
import { permit2Address, type TokenDomain } from '#chains/token-signing.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/** What a payer signs so that anybody may bring the payment to the gateway, and nobody can use it for anything else. */
export interface Consent {
  readonly digest: Hex;
  /** The same, for a wallet to show and sign; integers as decimal strings. */
  readonly typedData: PaymentTypedData;
  /** What makes it good for once: with the token, or with Permit2. */
  readonly nonce: bigint;
}

/** Where a consent counts. */
interface ConsentPlace {
  readonly gateway: Hex;
  readonly domain: TokenDomain | undefined;
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

/**
 * The payer's consents to an order by one method, as `IPaymentGateway` asks for them, the one that costs least first: an
 * EIP-3009 authorization whose nonce is the order's id, or Permit2 transfers with the order as witness, of each nonce that
 * an order may have. None where the token has no domain for the first. Whichever is used, the order is paid once.
 */
export function consentsOf(
  method: SubmitMethod,
  stored: StoredOrder,
  { gateway, domain }: ConsentPlace,
): readonly Consent[] {
  if (method === 'permit2')
    return permit2NoncesOf(stored).map((nonce) => permit2Consent(stored, gateway, nonce));
  return domain === undefined ? [] : [authorizationConsent(stored, gateway, domain)];
}

/**
 * The consent that a payer is asked for; undefined where there is none. `usedNonces`: what Permit2 says of the payer's
 * nonces in `permit2Word`.
 */
export function consentOf(
  method: SubmitMethod,
  stored: StoredOrder,
  { usedNonces, ...place }: ConsentPlace & { readonly usedNonces: bigint },
): Consent | undefined {
  const consents = consentsOf(method, stored, place);
  const isFree = ({ nonce }: Consent) => nonce >> 8n !== permit2Word || !isUsed(usedNonces, nonce);
  return consents.find(isFree);
}

function isUsed(usedNonces: bigint, nonce: bigint): boolean {
  return ((usedNonces >> (nonce & 255n)) & 1n) === 1n;
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
    nonce: BigInt(orderId),
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
 * The word of 256 Permit2 nonces that all payments stand in, so that every payment of a payer but the first finds the word
 * in use, which is 17,100 gas cheaper. Of our own, lest nonces that other programs count upwards stand in the way.
 */
export const permit2Word = BigInt(keccak256(stringToHex('florin.permit2'))) >> 8n;

/**
 * The Permit2 nonces that an order may have, made of its id alone, so that every retry and every process finds the same
 * ones: a place in the word above, and the id itself for payers who have used that place for another payment.
 */
function permit2NoncesOf({ orderId }: StoredOrder): readonly [cheap: bigint, own: bigint] {
  const own = BigInt(orderId);
  return [(permit2Word << 8n) | (own & 255n), own];
}

function permit2Consent(stored: StoredOrder, gateway: Hex, nonce: bigint): Consent {
  const { order } = stored;
  const primaryType = 'PermitWitnessTransferFrom';
  const domain = { name: 'Permit2', chainId: stored.chainId, verifyingContract: permit2Address };
  const permitted = { token: order.token, amount: order.total };
  const message = {
    permitted,
    spender: gateway,
    nonce,
    deadline: order.payBy,
    witness: order,
  };
  return {
    nonce,
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
