import { hash } from 'node:crypto';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { transferAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import type { X402Payment } from '@florin/protocol/x402.ts';
import { isCanonicalSignature } from '@florin/signing';
import {
  encodeFunctionData,
  getAddress,
  hashTypedData,
  hexToBytes,
  hexToNumber,
  maxUint256,
  parseAbi,
  slice,
} from 'viem';
import { isPaymentSignedBy, type SignatureContext } from '#authorizations/signature.ts';
import type { TokenDomain } from '#contracts/token-signing.ts';

type Payload = X402Payment['payload'];

/** Seconds that an authorization must still be valid for, so that it reaches a block. */
const leastValiditySeconds = 6;

/**
 * Why an authorization does not pay the required amount, in the words of the x402 specification; undefined when it
 * does. `isAuthorizationSigned` checks its signature.
 */
export function flawOf(
  { authorization }: Pick<Payload, 'authorization'>,
  { payTo, total, now }: { readonly payTo: Hex; readonly total: bigint; readonly now: number },
): string | undefined {
  const { to, value, validAfter, validBefore } = authorization;
  if (to.toLowerCase() !== payTo.toLowerCase()) return 'invalid_exact_evm_payload_recipient_mismatch';
  if (BigInt(value) !== total) return 'invalid_exact_evm_payload_authorization_value_mismatch';
  if (BigInt(validAfter) > BigInt(now)) return 'invalid_exact_evm_payload_authorization_valid_after';
  // Tokens cannot represent a later time.
  if (BigInt(validBefore) < BigInt(now + leastValiditySeconds) || BigInt(validBefore) > maxUint256)
    return 'invalid_exact_evm_payload_authorization_valid_before';
  return undefined;
}

/** Whether the payer that an authorization names has signed it for this token. */
export function isAuthorizationSigned(
  deps: SignatureContext,
  { chainId }: Pick<Token, 'chainId'>,
  domain: TokenDomain,
  { authorization, signature }: Pick<Payload, 'authorization' | 'signature'>,
): Promise<boolean> {
  const payer = getAddress(authorization.from);
  const digest = hashTypedData({
    domain,
    types: transferAuthorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: payer,
      to: getAddress(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  });
  const claim = { chainId, payer, digest, signature: signature.toLowerCase() as Hex };
  return isPaymentSignedBy(deps, claim);
}

/** A hash that is equal for all requests with the same signed authorization, regardless of how they write it. */
export function payloadHashOf({ accepted, payload }: X402Payment): string {
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const parts = [accepted.network, accepted.asset, from, to, value, validAfter, validBefore, nonce];
  return hash('sha256', [...parts, payload.signature].join('\n').toLowerCase());
}

const byPartsAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const byBytesAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** The token's call that an authorization allows. */
export function authorizedTransferCall({
  authorization,
  signature,
}: Pick<Payload, 'authorization' | 'signature'>): Hex {
  const terms = [
    getAddress(authorization.from),
    getAddress(authorization.to),
    BigInt(authorization.value),
    BigInt(authorization.validAfter),
    BigInt(authorization.validBefore),
    authorization.nonce as Hex,
  ] as const;
  const functionName = 'transferWithAuthorization';
  const bytes = signature as Hex;
  // Contract wallets may have signatures of any form. For keys, the token also takes the parts.
  if (!isCanonicalSignature(hexToBytes(bytes)))
    return encodeFunctionData({ abi: byBytesAbi, functionName, args: [...terms, bytes] });
  const [r, s, v] = [slice(bytes, 0, 32), slice(bytes, 32, 64), hexToNumber(slice(bytes, 64))];
  return encodeFunctionData({ abi: byPartsAbi, functionName, args: [...terms, v, r, s] });
}
