import { Refusal } from '@florin/protocol/error.ts';
import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import {
  domainVersion,
  gatewayDomainName,
  orderTypes,
  payoutTypes,
  vaultDomainName,
} from '@florin/protocol/typed-data.ts';
import {
  addressOfPublicKey,
  keccakHex,
  type SigningDomain,
  type SigningKey,
  secp256k1,
  signerOf,
  structHasher,
  typedPreimage,
} from '@florin/signing';
import type { ChainVerification } from '#chains/verification.ts';
import type { OrderSigner } from './signer.ts';

const hashOrder = structHasher('Order', orderTypes.Order);
const hashPayout = structHasher('Payout', payoutTypes.Payout);

function gatewayDomain(chainId: number, gateway: Hex): SigningDomain {
  return { name: gatewayDomainName, version: domainVersion, chainId, verifyingContract: gateway };
}

function vaultDomain(chainId: number, vault: Hex): SigningDomain {
  return { name: vaultDomainName, version: domainVersion, chainId, verifyingContract: vault };
}

function orderPreimage(chainId: number, gateway: Hex, order: Order): Uint8Array {
  return typedPreimage(gatewayDomain(chainId, gateway), hashOrder({ ...order }));
}

/** The orderId: the order's EIP-712 digest in the domain of one chain's gateway. */
export function orderIdOf(chainId: number, gateway: Hex, order: Order): Hex {
  return keccakHex(orderPreimage(chainId, gateway, order));
}

function bytesOf(hex: Hex): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}

/**
 * Signs orders and payouts with a private key or a remote signer. Signatures are 65 bytes with low s. The signer gets the
 * preimage and hashes it itself.
 */
export function orderSignerOf(key: SigningKey): OrderSigner {
  const signer = signerOf(key);
  const sign = (preimage: Uint8Array) => signer.sign(`0x${Buffer.from(preimage).toString('hex')}`);
  return {
    address: signer.address,
    orderId: orderIdOf,
    signOrder: (chainId, gateway, order) => sign(orderPreimage(chainId, gateway, order)),
    hasSigned(chainId, gateway, order, signature) {
      const publicKey = secp256k1.recover(bytesOf(orderIdOf(chainId, gateway, order)), bytesOf(signature));
      return publicKey !== undefined && addressOfPublicKey(publicKey) === signer.address.toLowerCase();
    },
    signPayout: (chainId, vault, payout: Payout) =>
      sign(typedPreimage(vaultDomain(chainId, vault), hashPayout({ ...payout }))),
  };
}

/** The same signer; refuses (900401) to sign for a chain that this process has not verified. */
export function verifiedSigner(
  signer: OrderSigner,
  { problemOf }: Pick<ChainVerification, 'problemOf'>,
): OrderSigner {
  const assertVerified = (chainId: number) => {
    const problem = problemOf(chainId);
    if (problem !== undefined) throw new Refusal('chain_unavailable', `chain ${chainId} is ${problem}`);
  };
  return {
    ...signer,
    async signOrder(chainId, gateway, order) {
      assertVerified(chainId);
      return signer.signOrder(chainId, gateway, order);
    },
    async signPayout(chainId, vault, payout) {
      assertVerified(chainId);
      return signer.signPayout(chainId, vault, payout);
    },
  };
}
