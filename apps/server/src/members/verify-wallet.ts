import type { Hex } from '@florin/protocol/order.ts';

/** Whether an account signed a text (EIP-191): a key, or a smart account by ERC-1271 or ERC-6492 on one of our chains. */
export type VerifyWallet = (claim: {
  readonly chainId: number;
  readonly address: Hex;
  readonly message: string;
  readonly signature: Hex;
}) => Promise<boolean>;
