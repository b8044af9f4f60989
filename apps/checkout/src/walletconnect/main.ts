import encodeQr from 'qr';
import type { CheckoutData } from '../checkout/data.ts';
import { elementOf, show } from '../checkout/dom.ts';
import { h } from '../checkout/tree.ts';
import { announceWallet } from '../checkout/wallet.ts';
import { type RemoteModule, type RemoteProvider, remoteWallet } from './remote-wallet.ts';

/** Only pages of operators who configured WalletConnect have this script: it announces a wallet on another device. */
const { module = '', projectId = '', scan, open, close = '', code } = elementOf('wallet-connect').dataset;

/** What the page asks of wallets. Reads go to WalletConnect's nodes instead. */
const optionalMethods = [
  ...['eth_sendTransaction', 'eth_signTypedData_v4', 'wallet_switchEthereumChain', 'wallet_addEthereumChain'],
  ...['wallet_getCapabilities', 'wallet_sendCalls', 'wallet_getCallsStatus'],
];

async function openProvider(): Promise<RemoteProvider> {
  const { options } = JSON.parse(elementOf('data').textContent ?? '') as CheckoutData;
  const { EthereumProvider } = (await import(module)) as RemoteModule;
  return EthereumProvider.init({
    projectId,
    // None is required: a wallet with one of them is enough.
    chains: [],
    optionalChains: [...new Set(options.map(({ chainId }) => Number(chainId)))],
    optionalMethods,
    showQrModal: false,
    telemetryEnabled: false,
    metadata: { name: document.title, description: document.title, url: location.origin, icons: [] },
  });
}

/** A code for a wallet on another device, and a link for one on this device. */
function showCode(uri: string, onClose: () => void): () => void {
  let isHidden = false;
  const dialog = document.createElement('dialog');
  dialog.className = 'sheet';
  dialog.id = 'remote-code';
  dialog.setAttribute('aria-labelledby', 'remote-title');
  const svg = encodeQr(uri, 'svg', { ecc: 'medium', border: 4 });
  show(dialog, [
    h(
      'div',
      { class: 'row' },
      h('h2', { id: 'remote-title', class: 'name' }, 'WalletConnect'),
      h('button', { class: 'plain', click: () => dialog.close() }, close),
    ),
    h('p', {}, scan),
    h('img', {
      class: 'code',
      src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
      alt: code,
      width: '240',
      height: '240',
    }),
    h('a', { class: 'button quiet', href: uri }, open),
  ]);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (!isHidden) onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  return () => {
    isHidden = true;
    // Gives the focus back.
    dialog.close();
  };
}

announceWallet(remoteWallet({ open: openProvider, showCode }));
