import { getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Keys of the roles; the same on every chain of a test. */
export const keys = {
  orderSigner: '0x1111111111111111111111111111111111111111111111111111111111111111',
  settler: '0x2222222222222222222222222222222222222222222222222222222222222222',
} as const;

export const addresses = {
  orderSigner: privateKeyToAccount(keys.orderSigner).address,
  settler: privateKeyToAccount(keys.settler).address,
  feeRecipient: getAddress('0x00000000000000000000000000000000000fee00'),
} as const;
