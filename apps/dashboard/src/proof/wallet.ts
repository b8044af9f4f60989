import { ApiFailure } from '../api/failure.ts';

/** An Ethereum wallet in the browser (EIP-1193). */
interface Wallet {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

function findWallet(): Wallet | undefined {
  return (globalThis as { readonly ethereum?: Wallet }).ethereum;
}

export function hasWallet(): boolean {
  return findWallet() !== undefined;
}

/**
 * Signs the message of EIP-4361 for this site in the browser's wallet.
 * @param nonce From the service, for one sign-in.
 */
export async function signWithWallet(nonce: string): Promise<{ message: string; signature: string }> {
  const wallet = findWallet();
  if (wallet === undefined) throw new ApiFailure({ slug: 'sign_in_failed', message: 'No wallet was found.' });
  try {
    const [account = ''] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[];
    const chainId = Number(await wallet.request({ method: 'eth_chainId' }));
    const [{ createSiweMessage }, { getAddress, stringToHex }] = await Promise.all([
      import('viem/siwe'),
      import('viem/utils'),
    ]);
    const address = getAddress(account);
    const { host, origin } = window.location;
    const message = createSiweMessage({ domain: host, uri: origin, address, version: '1', chainId, nonce });
    const params = [stringToHex(message), address];
    const signature = (await wallet.request({ method: 'personal_sign', params })) as string;
    return { message, signature };
  } catch (error) {
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure({ slug: 'sign_in_failed', message: 'The wallet did not sign.' });
  }
}
