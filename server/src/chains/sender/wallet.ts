import type { Hex } from '@florin/protocol/order.ts';
import { parseSignature, serializeTransaction } from 'viem';
import { type SigningKey, signerOf } from '#outside/signer/signer.ts';

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

/** The wallet of a private key, or of whatever signs for it. Refuses what is no key. */
export function walletOf(key: SigningKey): WalletSigner {
  const signer = signerOf(key);
  return {
    address: signer.address,
    async signTransaction({ chainId, nonce, to, data, gasLimit, maxFee, priorityFee }) {
      const transaction = {
        type: 'eip1559',
        chainId,
        nonce: Number(nonce),
        to,
        data,
        value: 0n,
        gas: gasLimit,
        maxFeePerGas: maxFee,
        maxPriorityFeePerGas: priorityFee,
      } as const;
      const signature = await signer.sign(serializeTransaction(transaction));
      return serializeTransaction(transaction, parseSignature(signature));
    },
  };
}
