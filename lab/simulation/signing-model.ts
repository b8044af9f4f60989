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

/** Signatures that cost as little as checking them. The mathematics of real ones is tested elsewhere. */

function mark(text: string): Hex {
  const hash = modelHash(text.toLowerCase()).slice(2);
  return `0x${hash}${hash}1b`;
}

function orderMark(chainId: number, gateway: Hex, order: Order): Hex {
  return mark(`${chainId}${gateway}${Object.values(order).join()}`);
}

export const orderSigner: OrderSigner & { markOf: typeof orderMark } = {
  address: `0x${'51'.repeat(20)}`,
  orderId: orderIdOf,
  markOf: orderMark,
  signOrder: async (chainId, gateway, order: Order) => orderMark(chainId, gateway, order),
  hasSigned: (chainId, gateway, order, signature) => signature === orderMark(chainId, gateway, order),
  signPayout: async (_chainId, _vault, payout: Payout) => payoutMark(payout),
};

export function payoutMark(payout: Payout): Hex {
  return mark(`${payout.orderId}${payout.token}${payout.to}${payout.amount}${payout.sourceChain}`);
}

/** A payer's signature over a digest: it names the payer, and nobody else makes it. */
export function signatureOf(payer: Hex, digest: Hex): Hex {
  const r = pad(payer.toLowerCase() as Hex).slice(2);
  // Below half of the curve's order, as signatures have to be.
  const s = `0${modelHash(`${r}${digest.toLowerCase()}`).slice(3)}`;
  return `0x${r}${s}1b`;
}

/** Digests as production makes them, with signatures of the model. */
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

/** A payer's consent to an order by one method, which the gateway takes to the token or to Permit2; of the first nonce. */
export function payerSignature(
  chain: Chain,
  method: 'eip3009' | 'permit2',
  { orderId, order }: Pick<StoredOrder, 'orderId' | 'order'>,
  nonce?: bigint,
): Hex | undefined {
  const place = { gateway: chain.gateway, domain: tokenDomainOf(chain.chainId, order.token) };
  const stored = { orderId, order, chainId: chain.chainId } as StoredOrder;
  const consents = consentsOf(method, stored, place);
  const consent = nonce === undefined ? consents[0] : consents.find((each) => each.nonce === nonce);
  return consent === undefined ? undefined : signatureOf(order.payer, consent.digest);
}

/** A wallet whose signature is no signature but its address, in a transaction that reads like any other. */
function walletAt(address: Hex): WalletSigner {
  return {
    address,
    async signTransaction({ chainId, nonce, to, data, gasLimit, maxFee, priorityFee }) {
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
      // Its first byte is not zero: leading zeros would be lost.
      const r: Hex = `0x${'11'.repeat(12)}${address.slice(2)}`;
      return serializeTransaction(unsigned, { r, s: `0x${'22'.repeat(32)}`, yParity: 0 });
    },
  };
}

/** The wallet that settles. */
export const modelWallet = walletAt(`0x${'5e'.repeat(20)}`);
/** The order signer's, which sends payments of others. */
export const relayerWallet = walletAt(orderSigner.address);

/** Whose wallet has signed a transaction of the model. */
export function senderOf(raw: Hex): Hex {
  return `0x${parseTransaction(raw).r?.slice(26) ?? ''}`;
}
