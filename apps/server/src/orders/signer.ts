import type { Hex, Order, Payout } from '@florin/protocol/order.ts';

/** Signs orders and payouts for a contract of one chain, with a keystore, an environment key or a remote signer. */
export interface OrderSigner {
  readonly address: Hex;
  /** EIP-712 digest of the order in the gateway's domain: the orderId. */
  orderId(chainId: number, gateway: Hex, order: Order): Hex;
  signOrder(chainId: number, gateway: Hex, order: Order): Promise<Hex>;
  /** Whether this signer made a signature over exactly this order. Asks no remote signer. */
  hasSigned(chainId: number, gateway: Hex, order: Order, signature: Hex): boolean;
  signPayout(chainId: number, vault: Hex, payout: Payout): Promise<Hex>;
}
