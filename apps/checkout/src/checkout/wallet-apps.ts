/**
 * Wallet apps, and the links by which each opens a page in its own browser, from the documents of their makers (Rainbow's as
 * its users use it). The links are universal: without the app they lead to its store or site.
 */
const apps = [
  ['MetaMask', (url) => `https://link.metamask.io/dapp/${url.replace(/^https?:\/\//, '')}`],
  ['Coinbase Wallet', (url) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(url)}`],
  [
    'Trust Wallet',
    (url) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(url)}`,
  ],
  ['Rainbow', (url) => `https://rnbwapp.com/dapp?url=${encodeURIComponent(url)}`],
  [
    'OKX Wallet',
    (url) =>
      `https://www.okx.com/download?deeplink=${encodeURIComponent(`okx://wallet/dapp/url?dappUrl=${encodeURIComponent(url)}`)}`,
  ],
  [
    'Phantom',
    (url) =>
      `https://phantom.app/ul/browse/${encodeURIComponent(url)}?ref=${encodeURIComponent(new URL(url).origin)}`,
  ],
] as const satisfies readonly (readonly [string, (url: string) => string])[];

/** By this rdns the page knows a wallet that is on another device. */
export const remoteRdns = 'org.walletconnect';

/** Whether a wallet is on another device: such a wallet does not make this browser one with a wallet. */
export const isRemote = ({ rdns }: { readonly rdns: string }) => rdns === remoteRdns;

/**
 * The links that open a page in each wallet app. `url` has no fragment: a session's secret must reach no server of an app's
 * maker, and the page can be paid without it.
 */
export function walletAppLinks(url: string): readonly { readonly name: string; readonly href: string }[] {
  return apps.map(([name, linkTo]) => ({ name, href: linkTo(url) }));
}
