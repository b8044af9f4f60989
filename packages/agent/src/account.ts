import { AgentError } from './error.ts';
import type { Hex } from './json.ts';

/** EIP-712 typed data for eth_signTypedData_v4. Integers of messages are bigints. */
export interface TypedData {
  readonly domain: Readonly<Record<string, string | number>>;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/** A transaction to send from the account. */
export interface AccountTransaction {
  readonly type: 'eip1559';
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/**
 * The payer; a local account of viem fits as it is. Without the last two members, the account can pay only by
 * signature.
 */
export interface PayerAccount {
  readonly address: Hex;
  // Methods rather than function members, so that accounts with narrower parameter types fit too.
  signTypedData(typedData: TypedData): Promise<Hex>;
  /** Signs without sending; returns the bytes for eth_sendRawTransaction. */
  signTransaction?(transaction: AccountTransaction): Promise<Hex>;
  /** Signs and sends; returns the hash. Used where there is no signTransaction. */
  sendTransaction?(transaction: AccountTransaction): Promise<Hex>;
}

/** An EIP-1193 provider, such as a browser wallet. */
export interface Eip1193Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
}

/**
 * The account of an EIP-1193 provider. The wallet shows each signature and transaction to its owner.
 *
 * @example
 * const [address] = await provider.request({ method: 'eth_requestAccounts' });
 * await payLink(url, { account: eip1193Account(provider, address), maxAmount: 5_000_000n });
 */
export function eip1193Account(provider: Eip1193Provider, address: Hex): PayerAccount {
  const ask = async (method: string, params: unknown[]): Promise<Hex> => {
    const answer = await provider.request({ method, params });
    if (typeof answer === 'string' && answer.startsWith('0x')) return answer as Hex;
    throw new AgentError('wallet_refused', `the wallet answered ${method} with no hexadecimal text`);
  };
  return {
    address,
    signTypedData: (typedData) => ask('eth_signTypedData_v4', [address, typedDataJson(typedData)]),
    async sendTransaction(transaction) {
      const { chainId, to, data, value, gas, nonce } = transaction;
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hexOf(chainId) }] });
      return ask('eth_sendTransaction', [
        { from: address, to, data, value: hexOf(value), gas: hexOf(gas), nonce: hexOf(nonce) },
      ]);
    },
  };
}

function hexOf(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Typed data in the form of wallets: with the domain's own type, and integers as decimal strings. */
function typedDataJson(typedData: TypedData): string {
  const EIP712Domain = Object.entries(typedData.domain).map(([name, value]) => ({
    name,
    type: name === 'verifyingContract' ? 'address' : typeof value === 'number' ? 'uint256' : 'string',
  }));
  return JSON.stringify(
    { ...typedData, types: { EIP712Domain, ...typedData.types } },
    (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );
}
