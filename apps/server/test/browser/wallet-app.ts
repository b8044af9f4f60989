import type { Page } from 'playwright-core';

type Parse = (link: URL) => string | undefined;
const queryOf =
  (name: string): Parse =>
  ({ searchParams }) =>
    searchParams.get(name) ?? undefined;

/**
 * How each wallet app reads its universal link, from the documents of its maker (Rainbow's as its users use it): the page that
 * it opens in its own browser. By the link's host.
 */
const apps: Readonly<
  Record<string, { readonly name: string; readonly path: RegExp; readonly parse: Parse }>
> = {
  'link.metamask.io': {
    name: 'MetaMask',
    path: /^\/dapp\/./,
    // The rest of the link is the page's address without its scheme: https outside of tests.
    parse: ({ pathname, search }) => `http://${pathname.slice('/dapp/'.length)}${search}`,
  },
  'go.cb-w.com': { name: 'Coinbase Wallet', path: /^\/dapp$/, parse: queryOf('cb_url') },
  'link.trustwallet.com': {
    name: 'Trust Wallet',
    path: /^\/open_url$/,
    // SLIP-44: 60 is Ethereum.
    parse: ({ searchParams }) =>
      searchParams.get('coin_id') === '60' ? (searchParams.get('url') ?? undefined) : undefined,
  },
  'rnbwapp.com': { name: 'Rainbow', path: /^\/dapp$/, parse: queryOf('url') },
  'www.okx.com': {
    name: 'OKX Wallet',
    path: /^\/download$/,
    parse: ({ searchParams }) => {
      const inner = new URL(searchParams.get('deeplink') ?? '');
      const isPage = inner.href.startsWith('okx://wallet/dapp/url?');
      return isPage ? (inner.searchParams.get('dappUrl') ?? undefined) : undefined;
    },
  },
  'phantom.app': {
    name: 'Phantom',
    path: /^\/ul\/browse\/[^/]+$/,
    parse: ({ pathname, searchParams }) => {
      const opened = decodeURIComponent(pathname.slice('/ul/browse/'.length));
      return searchParams.get('ref') === new URL(opened).origin ? opened : undefined;
    },
  },
};

/** The names of all wallet apps. */
export const walletApps: readonly string[] = Object.values(apps).map(({ name }) => name);

/** The app that a link opens, and the page that the app opens then. Throws for a link that no app reads. */
export function openedBy(href: string): { readonly name: string; readonly url: string } {
  const link = new URL(href);
  const app = apps[link.host];
  const url = app?.path.test(link.pathname) === true ? app.parse(link) : undefined;
  if (app === undefined || url === undefined) throw new Error(`no wallet app reads ${href}`);
  return { name: app.name, url };
}

/** A phone: only a device without a pointer that hovers counts as one. */
export async function makePhone(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
}

/** Stands in for the wallet apps of a phone: they take their links before any server does. Tells which pages they open. */
export async function installApps(page: Page): Promise<{ readonly name: string; readonly url: string }[]> {
  const opened: { readonly name: string; readonly url: string }[] = [];
  await page.route(
    ({ host }) => host in apps,
    (route) => {
      opened.push(openedBy(route.request().url()));
      return route.fulfill({ contentType: 'text/html', body: 'the wallet app' });
    },
  );
  return opened;
}
