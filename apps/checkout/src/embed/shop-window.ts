import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { Wallet } from '../checkout/wallet-type.ts';
import { newsOf, type ShopMessage } from './shop-message.ts';

/** Whether the page stands in a frame of a shop's page; else a shop's page has opened it in a window. */
export const isFramed = () => window.parent !== window;

let shop = '';
let last = '';

/** The server has found the shop's origin in the merchant's list. The browser keeps messages from every other page. */
function tell(message: ShopMessage): void {
  const listener = isFramed() ? window.parent : (window.opener as Window | null);
  if (shop !== '') listener?.postMessage(message, shop);
}

/** Tells the shop once what became of the payment. */
export function tellState(state: CheckoutState | undefined): void {
  if (state === undefined) return;
  const { sessionId, status } = state;
  const type = newsOf(state);
  const news = `${type} ${sessionId}`;
  if (news === last) return;
  last = news;
  if (type !== undefined) tell({ florin: 1, type, sessionId, status });
}

/** Begins to tell the shop of this page, and of its height inside a frame. */
export function openToShop(origin: string | undefined): void {
  shop = origin ?? '';
  tell({ florin: 1, type: 'ready' });
  if (!isFramed()) return;
  const [main] = document.getElementsByTagName('main');
  if (main === undefined) return;
  new ResizeObserver(() => {
    tell({ florin: 1, type: 'height', height: Math.ceil(main.getBoundingClientRect().height) });
  }).observe(main);
  // The way back to the shop leaves the frame, and everything else opens beside it.
  document.addEventListener(
    'click',
    ({ target }) => {
      const link = target instanceof Element ? target.closest('a') : null;
      if (link !== null) link.target = ['continue', 'go-back'].includes(link.id) ? '_top' : '_blank';
    },
    true,
  );
}

/** The only wallet of a framed page is a window of its own: no frame asks a wallet for anything. */
export function windowWallet(name: string): Wallet {
  return { id: 'window', rdns: '', name, icon: '', provider: { request: async () => null } };
}

/** Opens the session's page, where wallets are. */
export function openWalletWindow(): void {
  const { pathname, hash } = location;
  window.open(pathname.replace('/embed/', '/') + hash, '_blank');
}

/** A payment has become final before the payer's eyes: the shop's page is behind the window. */
export function returnToShop(): void {
  window.close();
}
