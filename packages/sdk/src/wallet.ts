import { FlorinError, wrongArgument } from './error.ts';

/** A transaction as a wallet sends it. */
export interface WalletTransaction {
  readonly to: `0x${string}`;
  readonly data: `0x${string}`;
  readonly value: bigint;
}

/** A wallet client of viem, with an account: `createWalletClient({ account, chain, transport })`. */
export interface ViemWallet {
  readonly account?: { readonly address: string } | undefined;
  // Methods rather than function members, so that clients with narrower parameter types fit too.
  request(call: { method: never; params: never }): Promise<unknown>;
  sendTransaction(transaction: never): Promise<string>;
}

/** A signer of ethers with a provider: `new Wallet(key, provider)`, or that of a BrowserProvider. */
export interface EthersWallet {
  readonly provider: object | null;
  getAddress(): Promise<string>;
  sendTransaction(transaction: WalletTransaction): Promise<{ readonly hash: string }>;
}

/** What sends the transactions of a refund. */
export type RefundWallet = ViemWallet | EthersWallet;

/** A wallet and the node behind it. */
export interface OpenWallet {
  readonly address: string;
  /** Asks the node. Refused with `wallet_refused`. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Signs and sends; returns the hash. */
  send(transaction: WalletTransaction): Promise<string>;
}

/** The account of a wallet and its node. Refuses what is neither viem's nor ethers', or has no account or no node. */
export async function openWallet(wallet: RefundWallet): Promise<OpenWallet> {
  // Programs in JavaScript may hand in a key, a provider, or nothing.
  const has = (name: string) => typeof Object(wallet)[name] === 'function';
  if (!has('sendTransaction') || (!has('getAddress') && !has('request')))
    throw wrongArgument(
      'wallet',
      'give a wallet client of viem, or a signer of ethers that is connected to a provider',
    );
  if ('getAddress' in wallet) return openEthers(wallet);
  const { account } = wallet;
  if (account === undefined)
    throw new FlorinError(
      'argument_invalid',
      'give the wallet client an account: createWalletClient({ account, … })',
    );
  // viem types each method by itself.
  const { request, sendTransaction } = wallet as unknown as {
    request: (call: { method: string; params: readonly unknown[] }) => Promise<unknown>;
    sendTransaction: (transaction: WalletTransaction & { account: object; chain: null }) => Promise<string>;
  };
  return {
    address: account.address,
    ask: (method, params) => refusing(() => request({ method, params })),
    // The chain was compared already.
    send: (transaction) => refusing(() => sendTransaction({ ...transaction, account, chain: null })),
  };
}

interface JsonRpcSender {
  send(method: string, params: unknown[]): Promise<unknown>;
}

async function openEthers(wallet: EthersWallet): Promise<OpenWallet> {
  // Only providers of one node have it.
  const provider = wallet.provider as JsonRpcSender | null;
  if (typeof provider?.send !== 'function')
    throw new FlorinError('argument_invalid', 'connect the signer to a JsonRpcProvider or a BrowserProvider');
  return {
    address: await refusing(() => wallet.getAddress()),
    ask: (method, params) => refusing(() => provider.send(method, [...params])),
    send: async (transaction) => (await refusing(() => wallet.sendTransaction(transaction))).hash,
  };
}

async function refusing<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new FlorinError('wallet_refused', `the wallet or its node refused: ${text}`, { cause });
  }
}
