import type { Hex } from '@florin/protocol/order.ts';
import type { Life } from './life.ts';

type Setter = readonly [contract: 'PaymentGateway' | 'PayoutVault', setter: string, wallet: Hex];

/** The setters that tell both contracts of a pair of keys. */
export function rolesOf(orderSigner: Hex, settler: Hex): readonly Setter[] {
  return [
    ['PaymentGateway', 'setSigner', orderSigner],
    ['PayoutVault', 'setSigner', orderSigner],
    ['PaymentGateway', 'setSettler', settler],
    ['PayoutVault', 'setSettler', settler],
  ];
}

/** Grants or revokes roles on every chain, as the controller. */
export async function onEveryChain(life: Life, setters: readonly Setter[], allowed: boolean): Promise<void> {
  await life.pauseMining();
  for (const chain of [life.ethereum, life.base]) {
    for (const [contract, setter, wallet] of setters) {
      const to = contract === 'PaymentGateway' ? chain.chain.gateway : chain.chain.vault;
      await chain.call(to, contract, setter, [wallet, allowed]);
    }
  }
  life.mine();
}

/** Gives wallets the coin of every chain. */
export async function sendGas(life: Life, wallets: readonly Hex[]): Promise<void> {
  for (const { anvil } of [life.ethereum, life.base])
    for (const wallet of wallets) await anvil.request('anvil_setBalance', [wallet, '0x56bc75e2d63100000']);
}
