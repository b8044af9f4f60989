import type { WalletSigner } from '@florin/evm';
import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import {
  type Cryptography,
  consentsOf,
  cryptographyOf,
  type OrderSigner,
  orderIdOf,
  type StoredOrder,
  type TokenDomain,
} from '@florin/server/parts';
import { secp256k1 } from '@florin/signing';
import { pad, parseTransaction, serializeTransaction } from 'viem';
import { modelHash } from './seeded-random.ts';

/** Cheap signatures for the model. Other tests cover the mathematics of real ones. */

function fakeSignature(text: string): Hex {
  const hash = modelHash(text.toLowerCase()).slice(2);
  return `0x${hash}${hash}1b`;
}

function fakeOrderSignature(chainId: number, gateway: Hex, order: Order): Hex {
  return fakeSignature(`${chainId}${gateway}${Object.values(order).join()}`);
}

export const orderSigner: OrderSigner & { expectedSignature: typeof fakeOrderSignature } = {
  address: `0x${'51'.repeat(20)}`,
  orderId: orderIdOf,
  expectedSignature: fakeOrderSignature,
  signOrder: async (chainId, gateway, order: Order) => fakeOrderSignature(chainId, gateway, order),
  hasSigned: (chainId, gateway, order, signature) =>
    signature === fakeOrderSignature(chainId, gateway, order),
  signPayout: async (_chainId, _vault, payout: Payout) => fakePayoutSignature(payout),
};

export function fakePayoutSignature(payout: Payout): Hex {
  return fakeSignature(
    `${payout.orderId}${payout.token}${payout.to}${payout.amount}${payout.sourceChain}${payout.deadline}`,
  );
}

/**
 * A payer's signature over a digest. It contains the payer's address, and no other part of the simulation creates it.
 */
export function signatureOf(payer: Hex, digest: Hex): Hex {
  const r = pad(payer.toLowerCase() as Hex).slice(2);
  // In the lower half of the curve's order, as signatures must be.
  const s = `0${modelHash(`${r}${digest.toLowerCase()}`).slice(3)}`;
  return `0x${r}${s}1b`;
}

/** Production's digests with the model's signatures. */
export const modelCryptography: Cryptography = {
  digest: cryptographyOf(secp256k1).digest,
  recover: (digest, signature) => {
    const payer: Hex = `0x${signature.slice(26, 66)}`;
    return signatureOf(payer, digest) === signature ? payer : undefined;
  },
};

export function tokenDomainOf(chainId: number, token: Hex): TokenDomain {
  return { name: 'USDC', version: '2', chainId, verifyingContract: token };
}

/**
 * A payer's consent to an order by one method, with the first nonce. The gateway passes it to the token or to
 * Permit2.
 */
export function payerSignature(
  chain: Chain,
  method: 'eip3009' | 'permit2',
  { orderId, order }: Pick<StoredOrder, 'orderId' | 'order'>,
  nonce?: bigint,
): Hex | undefined {
  const signingContext = { gateway: chain.gateway, domain: tokenDomainOf(chain.chainId, order.token) };
  const stored = { orderId, order, chainId: chain.chainId } as StoredOrder;
  const consents = consentsOf(method, stored, signingContext);
  const consent = nonce === undefined ? consents[0] : consents.find((each) => each.nonce === nonce);
  return consent === undefined ? undefined : signatureOf(order.payer, consent.digest);
}

/** A wallet whose signature is its address, in a transaction with the usual encoding. */
function walletAt(address: Hex): WalletSigner {
  const sign = (transaction: Parameters<WalletSigner['signTransaction']>[0]): Hex => {
    const { chainId, nonce, to, data, gasLimit, maxFee, priorityFee } = transaction;
    const unsigned = {
      type: 'eip1559',
      chainId,
      nonce: Number(nonce),
      to,
      data,
      gas: gasLimit,
      maxFeePerGas: maxFee,
      maxPriorityFeePerGas: priorityFee,
    } as const;
    // The first byte is not zero, because the encoding drops leading zeros.
    const r: Hex = `0x${'11'.repeat(12)}${address.slice(2)}`;
    return serializeTransaction(unsigned, { r, s: `0x${'22'.repeat(32)}`, yParity: 0 });
  };
  return {
    address,
    signTransaction: async (transaction) => sign(transaction),
    hasSigned: (transaction, raw) => sign(transaction) === raw,
  };
}

/** The wallet that settles. */
export const modelWallet = walletAt(`0x${'5e'.repeat(20)}`);
/** The order signer's wallet, which sends payments for payers. */
export const relayerWallet = walletAt(orderSigner.address);

/** The address of the wallet that signed a transaction of the model. */
export function senderOf(raw: Hex): Hex {
  return `0x${parseTransaction(raw).r?.slice(26) ?? ''}`;
}
