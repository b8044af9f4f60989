import { ask } from '../checkout/api.ts';
import type { Wallet } from '../checkout/wallet-type.ts';

/**
 * A wallet for visitors without one, in local worlds only. The service keeps its key and sends its transactions. It
 * behaves like any other wallet, so that the page needs no second way to pay.
 */
export function demoWallet(address: string, name: string): Wallet {
  let chainId = '0x0';
  return {
    id: 'florin-demo-payer',
    rdns: 'florin-demo-payer',
    name,
    icon: '',
    provider: {
      async request({ method, params }) {
        const [first] = (Array.isArray(params) ? params : []) as [Record<string, string>?];
        switch (method) {
          case 'eth_requestAccounts':
            return [address];
          case 'eth_chainId':
            return chainId;
          case 'wallet_switchEthereumChain':
            chainId = first?.['chainId'] ?? chainId;
            return null;
          case 'eth_sendTransaction': {
            const [to, data] = [first?.['to'] ?? '', first?.['data'] ?? ''];
            const body = { chainId: BigInt(chainId).toString(), to, data };
            const { txHash } = await ask<{ txHash: string }>('/checkout/api/demo', { body });
            return txHash;
          }
          case 'eth_getTransactionReceipt':
            // The service answers once a block has the transaction, and refuses when it failed there.
            return { status: '0x1' };
          default:
            throw Object.assign(new Error(`${method} is not supported`), { code: 4200 });
        }
      },
    },
  };
}
