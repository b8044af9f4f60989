import type { SigningKey } from '@florin/signing';
import { signerOf } from '@florin/signing';
import type { SendingWallet } from '#reconcile/health.ts';
import type { ServiceOptions } from './options.ts';

const addressOf = (key: SigningKey) => signerOf(key).address;

/** The wallets that send transactions. */
export function sendingWallets({
  settlerKey,
  otherSettlerKeys = [],
  orderKey,
  gasless,
}: ServiceOptions): SendingWallet[] {
  const settlers = [settlerKey, ...otherSettlerKeys].map((key) => ({
    role: 'settler',
    address: addressOf(key),
  }));
  const isRelaying = gasless?.relayer === 'orderSigner';
  return isRelaying ? [...settlers, { role: 'order signer', address: addressOf(orderKey) }] : settlers;
}
