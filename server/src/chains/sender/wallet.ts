import type { Hex } from '@florin/protocol/order.ts';
import { privateKeyToAccount } from 'viem/accounts';

/** An EIP-1559 transaction before its signature. Fees in wei per gas. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
}

/** The wallet that settles. Behind it: a key in memory, a keystore, a remote signer. */
export interface WalletSigner {
  readonly address: Hex;
  /** The signed transaction as nodes take it. Must be deterministic or at least quick: database rows are locked. */
  signTransaction(transaction: UnsignedTransaction): Promise<Hex>;
}

/** A wallet whose private key is in this process's memory. Refuses what is no key. */
export function localWallet(privateKey: Hex): WalletSigner {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    signTransaction: ({ chainId, nonce, to, data, gasLimit, maxFee, priorityFee }) =>
      account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce: Number(nonce),
        to,
        data,
        value: 0n,
        gas: gasLimit,
        maxFeePerGas: maxFee,
        maxPriorityFeePerGas: priorityFee,
      }),
  };
}
