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

/** A wallet of ethers, such as `new Wallet(key)`: it needs no provider, because nodes are named by `rpcUrls`. */
export interface EthersAccount {
  getAddress(): Promise<string>;
  signTypedData(
    domain: TypedData['domain'],
    types: Record<string, { name: string; type: string }[]>,
    message: Record<string, unknown>,
  ): Promise<string>;
  signTransaction(transaction: EthersTransaction): Promise<string>;
}

/** A transaction as ethers names its members. */
type EthersTransaction = Omit<AccountTransaction, 'type' | 'gas'> & {
  readonly type: 2;
  readonly gasLimit: bigint;
};

/** The payer's account, whichever library made it. Refuses anything else and says what fits. */
export async function payerAccountOf(given: PayerAccount | EthersAccount): Promise<PayerAccount> {
  // Programs without types hand over whatever they have.
  const { address, getAddress, signTypedData } = Object(given) as Partial<PayerAccount & EthersAccount>;
  if (typeof signTypedData !== 'function') refuseAccount();
  if (typeof getAddress === 'function') return ethersAccount(given as EthersAccount);
  if (!isAddress(address)) refuseAccount();
  return given as PayerAccount;
}

async function ethersAccount(wallet: EthersAccount): Promise<PayerAccount> {
  const address = await wallet.getAddress();
  if (!isAddress(address)) refuseAccount();
  return {
    address,
    signTypedData: async ({ domain, types, message }) => {
      const ofEthers = Object.entries(types).map(([name, fields]) => [
        name,
        fields.map((field) => ({ ...field })),
      ]);
      return hexAnswer(await wallet.signTypedData(domain, Object.fromEntries(ofEthers), { ...message }));
    },
    signTransaction: async ({ gas, type: _type, ...transaction }) =>
      hexAnswer(await wallet.signTransaction({ ...transaction, type: 2, gasLimit: gas })),
  };
}

const isAddress = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);

function refuseAccount(): never {
  throw new AgentError(
    'account_refused',
    'account must be an account of viem (privateKeyToAccount(key)), a wallet of ethers (new Wallet(key)), or eip1193Account(provider, address)',
  );
}

function hexAnswer(answer: string): Hex {
  if (answer.startsWith('0x')) return answer as Hex;
  throw new AgentError('wallet_refused', 'the wallet answered with no hexadecimal text');
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
