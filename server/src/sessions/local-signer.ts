import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import {
  domainVersion,
  gatewayDomainName,
  orderTypes,
  payoutTypes,
  vaultDomainName,
} from '@florin/protocol/typed-data.ts';
import { hashTypedData, type TypedDataDomain } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
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

/** Signs orders and payouts with a key in this process's memory. Signatures are 65 bytes with low s. */
export function localOrderSigner(privateKey: Hex): OrderSigner {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    orderId: orderIdOf,
    signOrder: (chainId, gateway, order) => account.sign({ hash: orderIdOf(chainId, gateway, order) }),
    signPayout: (chainId, vault, payout: Payout) =>
      account.signTypedData({
        domain: vaultDomain(chainId, vault),
        types: payoutTypes,
        primaryType: 'Payout',
        message: payout,
      }),
  };
}
