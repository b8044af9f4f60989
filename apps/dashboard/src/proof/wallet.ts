import { ApiFailure } from '../api/failure.ts';

/** An Ethereum wallet in the browser (EIP-1193). */
export interface BrowserWallet {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** The wallet that announced itself first (EIP-6963). Some wallets do nothing else. */
let announced: BrowserWallet | undefined;

window.addEventListener('eip6963:announceProvider', (event) => {
  announced ??= (event as CustomEvent<{ readonly provider: BrowserWallet }>).detail.provider;
});
window.dispatchEvent(new Event('eip6963:requestProvider'));

/** The browser's wallet: the injected one, else one that announced itself. Undefined when there is none. */
export function findWallet(): BrowserWallet | undefined {
  return (globalThis as { readonly ethereum?: BrowserWallet }).ethereum ?? announced;
}

export function hasWallet(): boolean {
  return findWallet() !== undefined;
}

/** Asks the browser's wallet; `slug` names the failure when it refuses. */
async function askWallet<Answer>(
  slug: 'sign_in_failed' | 'signature_invalid',
  ask: (wallet: BrowserWallet, accounts: readonly string[]) => Promise<Answer>,
): Promise<Answer> {
  const wallet = findWallet();
  if (wallet === undefined) throw new ApiFailure({ slug, message: 'No wallet was found.' });
  try {
    return await ask(wallet, (await wallet.request({ method: 'eth_requestAccounts' })) as string[]);
  } catch (error) {
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure({ slug, message: 'The wallet did not sign.' });
  }
}

async function chainOf(wallet: BrowserWallet): Promise<number> {
  return Number(await wallet.request({ method: 'eth_chainId' }));
}

async function personalSign(wallet: BrowserWallet, message: string, address: string): Promise<string> {
  const { stringToHex } = await import('viem/utils');
  return (await wallet.request({
    method: 'personal_sign',
    params: [stringToHex(message), address],
  })) as string;
}

/** What the service wants a message to state. Times are in ISO 8601. */
export interface WalletTerms {
  readonly nonce: string;
  readonly statement: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/** Signs the message of EIP-4361 for this site in the browser's wallet, once, with what the service says that it states. */
export function signWithWallet(terms: WalletTerms): Promise<{ message: string; signature: string }> {
  return askWallet('sign_in_failed', async (wallet, [account = '']) => {
    const chainId = await chainOf(wallet);
    const [{ createSiweMessage }, { getAddress }] = await Promise.all([
      import('viem/siwe'),
      import('viem/utils'),
    ]);
    const address = getAddress(account);
    const { host, origin } = window.location;
    const message = createSiweMessage({
      ...{ domain: host, uri: origin, address, version: '1', chainId },
      ...{ nonce: terms.nonce, statement: terms.statement },
      issuedAt: new Date(terms.issuedAt),
      expirationTime: new Date(terms.expiresAt),
    });
    return { message, signature: await personalSign(wallet, message, address) };
  });
}

/** The address that the browser's wallet shows to this page, with its checksum. */
export function askAddress(): Promise<string> {
  return askWallet('signature_invalid', async (_wallet, [account = '']) => {
    const { getAddress } = await import('viem/utils');
    return getAddress(account);
  });
}

/** Signs a text with the key of one address (EIP-191), and tells the network on which a contract wallet checks it. */
export function signText(text: string, address: string): Promise<{ chainId: number; signature: string }> {
  return askWallet('signature_invalid', async (wallet, accounts) => {
    if (!accounts.some((account) => account.toLowerCase() === address.toLowerCase())) {
      const message =
        'Your browser wallet shows another address. Choose this one in the wallet, then sign again.';
      throw new ApiFailure({ slug: 'signature_invalid', message });
    }
    return { chainId: await chainOf(wallet), signature: await personalSign(wallet, text, address) };
  });
}
