import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import {
  domainVersion,
  gatewayDomainName,
  orderTypes,
  payoutTypes,
  vaultDomainName,
} from '@florin/protocol/typed-data.ts';
import { concat, getTypesForEIP712Domain, hashStruct, hashTypedData, type TypedDataDomain } from 'viem';
import { type SigningKey, signerOf } from '#outside/signer/signer.ts';
import type { OrderSigner } from './signer.ts';

function gatewayDomain(chainId: number, gateway: Hex): TypedDataDomain {
  return { name: gatewayDomainName, version: domainVersion, chainId, verifyingContract: gateway };
}

function vaultDomain(chainId: number, vault: Hex): TypedDataDomain {
  return { name: vaultDomainName, version: domainVersion, chainId, verifyingContract: vault };
}

/** The orderId: the order's EIP-712 digest in the domain of one chain's gateway. */
export function orderIdOf(chainId: number, gateway: Hex, order: Order): Hex {
  return hashTypedData({
    domain: gatewayDomain(chainId, gateway),
    types: orderTypes,
    primaryType: 'Order',
    message: order,
  });
}

/**
 * Signs orders and payouts with a private key, or by whatever signs for it. Signatures are 65 bytes with low s.
 */
export function orderSignerOf(key: SigningKey): OrderSigner {
  const signer = signerOf(key);
  return {
    address: signer.address,
    orderId: orderIdOf,
    signOrder: (chainId, gateway, order) =>
      signer.sign(
        typedPreimage({
          domain: gatewayDomain(chainId, gateway),
          types: orderTypes,
          primaryType: 'Order',
          message: { ...order },
        }),
      ),
    signPayout: (chainId, vault, payout: Payout) =>
      signer.sign(
        typedPreimage({
          domain: vaultDomain(chainId, vault),
          types: payoutTypes,
          primaryType: 'Payout',
          message: { ...payout },
        }),
      ),
  };
}

/** What is hashed to the digest of typed data (EIP-712): signers hash for themselves. */
function typedPreimage({ domain, types, primaryType, message }: TypedMessage): Hex {
  const domainTypes = { EIP712Domain: getTypesForEIP712Domain({ domain }) };
  return concat([
    '0x1901',
    hashStruct({ data: { ...domain }, primaryType: 'EIP712Domain', types: domainTypes }),
    hashStruct({ data: message, primaryType, types }),
  ]);
}

interface TypedMessage {
  readonly domain: TypedDataDomain;
  readonly types: Record<string, readonly { readonly name: string; readonly type: string }[]>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}
