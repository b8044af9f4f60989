import type { PaymentTypedData, SubmitMethod } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { permitWitnessTypes, receiveAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import { hashTypedData, keccak256, stringToHex } from 'viem';
import { permit2Address } from '#chains/shared-contract.ts';
import type { TokenDomain } from '#contracts/token-signing.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

/** The payer's signed consent to one payment. Anyone may submit it, and it can pay only that order. */
export interface Consent {
  readonly digest: Hex;
  /** The same, for a wallet to show and sign. Integers are decimal strings. */
  readonly typedData: PaymentTypedData;
  /** The nonce that makes it valid once: the token's or Permit2's. */
  readonly nonce: bigint;
}

/** The contracts that a consent is for. */
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
 * The payer's consents to an order by one method, as `IPaymentGateway` asks for them, the cheapest first. Either an
 * EIP-3009 authorization whose nonce is the order's id, or Permit2 transfers with the order as witness, one for each
 * nonce of the order. Empty where the token has no domain for EIP-3009. The order is paid once by any of them.
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
 * The consent that the payer is asked for; undefined where there is none. `usedNonces`: the payer's used nonces in
 * `permit2Word`, from Permit2.
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
 * The word of 256 Permit2 nonces that all payments share. Every payment of a payer after the first finds the word in
 * use, which saves 17,100 gas. The word is Florin's own, because other programs count nonces up from zero.
 */
export const permit2Word = BigInt(keccak256(stringToHex('florin.permit2'))) >> 8n;

/**
 * The Permit2 nonces of an order. Both follow from its id, so every retry and every process computes the same ones: a
 * place in the shared word, and the id itself for payers whose place is used.
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
