import type { Hex } from '@florin/protocol/order.ts';

/** Whether an account signed a text (EIP-191): a key, or a smart account by ERC-1271 or ERC-6492 on one of our chains. */
export type VerifyWallet = (claim: {
  readonly chainId: number;
  readonly address: Hex;
  readonly message: string;
  readonly signature: Hex;
}) => Promise<boolean>;

/** The nonce of a message of EIP-4361; undefined without one. Whether the message is well formed is checked later. */
export function nonceInMessage(message: string): string | undefined {
  return /\nNonce: ([0-9A-Za-z]{8,64})\n/.exec(message)?.[1];
}

/** The address that a message of EIP-4361 names; empty without one. */
export function addressInMessage(message: string): string {
  return /^[^\n]+\n(0x[0-9a-fA-F]{40})\n/.exec(message)?.[1] ?? '';
}
