import { toHex } from '../checkout/wallet.ts';
import { remoteRdns } from '../checkout/wallet-apps.ts';
import type { Provider, Wallet } from '../checkout/wallet-type.ts';

/** What the page uses of the provider of `@walletconnect/ethereum-provider`. */
export interface RemoteProvider extends Provider {
  on(name: string, listener: (value: unknown) => void): unknown;
  /** Connects unless it is connected, and returns the accounts. Emits `display_uri` when a wallet is to scan a code. */
  enable(): Promise<unknown>;
}

/** The module that the operator built. */
export interface RemoteModule {
  readonly EthereumProvider: { init(options: object): Promise<RemoteProvider> };
}

export interface RemoteParts {
  /** Loads the module and prepares its provider. */
  readonly open: () => Promise<RemoteProvider>;
  /** Shows the code of a connection; `onClose` is called when its reader closes it. Returns what hides it. */
  readonly showCode: (uri: string, onClose: () => void) => () => void;
}

/**
 * A wallet on another device, reached through WalletConnect. It behaves like any other wallet, so that the page needs no
 * second way to pay. Nothing is loaded before it is chosen.
 */
export function remoteWallet({ open, showCode }: RemoteParts): Wallet {
  let opened: Promise<RemoteProvider> | undefined;
  let onCode: ((uri: string) => void) | undefined;
  const provider = () => {
    opened ??= open().then(
      (made) => {
        made.on('display_uri', (uri) => onCode?.(String(uri)));
        return made;
      },
      (error: unknown) => {
        // The next press loads it again.
        opened = undefined;
        throw error;
      },
    );
    return opened;
  };
  const connect = async () => {
    const made = await provider();
    const closed = Promise.withResolvers<never>();
    let hide = () => {};
    const show = (uri: string) => {
      hide();
      hide = showCode(uri, () => closed.reject(refusal(4001, 'the code was closed')));
    };
    onCode = show;
    try {
      return await Promise.race([made.enable(), closed.promise]);
    } finally {
      // A later attempt has a code of its own.
      if (onCode === show) onCode = undefined;
      hide();
    }
  };
  return {
    ...{ id: remoteRdns, rdns: remoteRdns, name: 'WalletConnect', icon: '' },
    provider: {
      async request(asked) {
        if (asked.method === 'eth_requestAccounts') return connect();
        if (opened === undefined) throw refusal(4900, 'no wallet is connected');
        const answer = await (await opened).request(asked);
        // It answers with a number, other wallets with a hexadecimal one.
        return asked.method === 'eth_chainId' && typeof answer === 'number' ? toHex(BigInt(answer)) : answer;
      },
      on: (name, listener) => void opened?.then((made) => made.on(name, listener)),
    },
  };
}

/** An error in the form of wallets (EIP-1193). */
function refusal(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
