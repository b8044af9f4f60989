import type { Hex } from '@florin/protocol/order.ts';
import { transferAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import type { X402Payment, X402Required, X402Requirements } from '@florin/protocol/x402.ts';
import { getAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Life } from './life.ts';

/** The content of an x402 header. */
export function decoded<T>(header: string | null | undefined): T {
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as T;
}

/** A payment encoded for its header. */
export function encoded(payment: unknown): string {
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}

/** An account on the first chain of a story with this many units of its USDC, and no native coin. */
export async function fundedAccount(life: Life, amount: bigint): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  if (amount > 0n) await life.ethereum.mint(life.ethereum.token('usdc'), account.address, amount);
  return account;
}

/** The first offer of a resource; throws when there is none. */
export async function offerAt(url: string): Promise<X402Requirements> {
  const response = await fetch(url);
  const [accepted] =
    decoded<X402Required | undefined>(response.headers.get('payment-required') ?? 'e30=')?.accepts ?? [];
  if (accepted === undefined) throw new Error(`no offer: ${response.status} ${await response.text()}`);
  return accepted;
}

type Authorization = X402Payment['payload']['authorization'];

/** A payment that an account signs for an offer, as stock clients do, with the changes of `changed`. */
export async function signedPayment(
  account: PrivateKeyAccount,
  accepted: X402Requirements,
  changed: Partial<Authorization> = {},
): Promise<X402Payment> {
  const authorization: Authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 300),
    nonce: generatePrivateKey(),
    ...changed,
  };
  const { name, version } = accepted.extra;
  const chainId = Number(accepted.network.slice('eip155:'.length));
  const signature = await account.signTypedData({
    domain: { name, version, chainId, verifyingContract: accepted.asset as Hex },
    types: transferAuthorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: getAddress(authorization.from),
      to: getAddress(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  });
  return { x402Version: 2, accepted, payload: { signature, authorization } };
}
