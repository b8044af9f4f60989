/**
 * The EIP-712 definitions that payers, the service and the contracts sign and check (specification, Authentication).
 */

interface TypedField {
  readonly name: string;
  readonly type: string;
}

/** Signed by the payer's wallet for POST /payment/session/create. */
export const paymentSessionCreationTypes = {
  PaymentSessionCreationAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'linkId', type: 'string' },
    { name: 'linkVersion', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'payer', type: 'address' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by the payer's wallet for POST /payment/prepare. */
export const preparePaymentTypes = {
  PreparePaymentAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'sessionId', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'payerEmail', type: 'string' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by the order signer; its digest is the orderId (see contracts/src/interfaces/IPaymentGateway.sol). */
export const orderTypes = {
  Order: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'metaData', type: 'bytes32' },
    { name: 'payer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'total', type: 'uint256' },
    { name: 'payment', type: 'uint256' },
    { name: 'fee', type: 'uint256' },
    { name: 'payBy', type: 'uint64' },
    { name: 'reclaimAt', type: 'uint64' },
    { name: 'orderType', type: 'uint8' },
    { name: 'targetChain', type: 'uint64' },
    { name: 'via', type: 'address' },
  ],
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by the order signer for a payout on another chain (see contracts/src/interfaces/IPayoutVault.sol). */
export const payoutTypes = {
  Payout: [
    { name: 'orderId', type: 'bytes32' },
    { name: 'channelId', type: 'bytes32' },
    { name: 'metaData', type: 'bytes32' },
    { name: 'sourceChain', type: 'uint64' },
    { name: 'token', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'deadline', type: 'uint64' },
  ],
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by the payer over an EIP-3009 token, in the token's own domain: only the gateway may submit it. */
export const receiveAuthorizationTypes = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by x402 clients over an EIP-3009 token: anyone may submit it, and it pays only the named address. */
export const transferAuthorizationTypes = {
  TransferWithAuthorization: receiveAuthorizationTypes.ReceiveWithAuthorization,
} as const satisfies Record<string, readonly TypedField[]>;

/** Signed by the payer for Uniswap's Permit2, with the order as witness. */
export const permitWitnessTypes = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Order' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  ...orderTypes,
} as const satisfies Record<string, readonly TypedField[]>;

export const gatewayDomainName = 'Florin PaymentGateway';
export const vaultDomainName = 'Florin PayoutVault';
export const domainVersion = '1';

/** The EIP-712 domain name of the AI protocol: `aipay.` and the service's own domain. */
export function agentDomainName(serviceDomain: string): string {
  return `aipay.${serviceDomain}`;
}
