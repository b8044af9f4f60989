import type { TypedData } from './account.ts';
import { type Hex, member, refuseAnswer } from './json.ts';

/**
 * The EIP-712 definitions that this package signs. They are fixed here and never taken from answers, so that a service
 * cannot make an account sign anything else.
 */

const field = (type: string) => (name: string) => ({ name, type });
const [string, address, uint256, bytes32, uint64] = [
  field('string'),
  field('address'),
  field('uint256'),
  field('bytes32'),
  field('uint64'),
];

export const creationTypes: TypedData['types'] = {
  PaymentSessionCreationAuthorization: [
    ...['purpose', 'linkId', 'linkVersion', 'merchantId'].map(string),
    address('payer'),
    uint256('paymentChainId'),
    address('paymentToken'),
    uint256('amount'),
    bytes32('authorizationNonce'),
    uint256('authorizationExpiresAt'),
  ],
};

export const preparationTypes: TypedData['types'] = {
  PreparePaymentAuthorization: [
    ...['purpose', 'sessionId', 'merchantId'].map(string),
    uint256('paymentChainId'),
    address('paymentToken'),
    address('payer'),
    string('payerEmail'),
    bytes32('authorizationNonce'),
    uint256('authorizationExpiresAt'),
  ],
};

export const authorizationTypes: TypedData['types'] = {
  ReceiveWithAuthorization: [
    ...['from', 'to'].map(address),
    ...['value', 'validAfter', 'validBefore'].map(uint256),
    bytes32('nonce'),
  ],
};

export const permitTypes: TypedData['types'] = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    address('spender'),
    ...['nonce', 'deadline'].map(uint256),
    { name: 'witness', type: 'Order' },
  ],
  TokenPermissions: [address('token'), uint256('amount')],
  Order: [
    ...['channelId', 'metaData'].map(bytes32),
    ...['payer', 'token', 'to'].map(address),
    ...['total', 'payment', 'fee'].map(uint256),
    ...['payBy', 'reclaimAt'].map(uint64),
    { name: 'orderType', type: 'uint8' },
    uint64('targetChain'),
    address('via'),
  ],
};

/** Uniswap's Permit2, at the same address on every chain. */
export const permit2Address: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';

/** A message of the AI protocol: integers are canonical decimal strings. */
export type AgentMessage = Readonly<Record<string, string>>;

/** Typed data of one AI protocol message, on the chain that the message names. */
export function agentTypedData(
  domainName: string,
  types: TypedData['types'],
  message: AgentMessage,
): TypedData {
  if (!domainName.startsWith('aipay.')) refuseAnswer(`the domain ${domainName}`);
  const primaryType = Object.keys(types)[0] ?? '';
  const domain = { name: domainName, version: '1', chainId: Number(message['paymentChainId']) };
  return { domain, types, primaryType, message: typedMessage(types, primaryType, message) };
}

/** The values of a type, with integers as bigints; omits members that the type lacks. */
export function typedMessage(
  types: TypedData['types'],
  typeName: string,
  values: unknown,
): Record<string, unknown> {
  const entries = (types[typeName] ?? []).map(({ name, type }) => {
    const value = member(values, name);
    if (types[type] !== undefined) return [name, typedMessage(types, type, value)] as const;
    if (typeof value !== 'string' && typeof value !== 'number') refuseAnswer(`no ${name} to sign`);
    if (!type.startsWith('uint')) return [name, value] as const;
    if (!/^[0-9]{1,78}$/.test(String(value))) refuseAnswer(`${name} is no integer`);
    return [name, BigInt(value)] as const;
  });
  return Object.fromEntries(entries);
}
