import type { AuthorizationRequirement, TxRequest } from '@florin/protocol/agent-view.ts';
import { Contract, JsonRpcProvider, Wallet } from 'ethers';
import type { SignedRequest } from './demo-api.ts';
import type { WorldManifest } from './world-config.ts';

/** A payer's wallet on all chains of a world, built on a library that the service does not use. */
export interface DemoWallet {
  readonly address: string;
  /** Signs a message with the service's definitions, on the chain of the message. */
  sign<Message extends { readonly paymentChainId: string }>(
    requirement: AuthorizationRequirement,
    message: Message,
  ): Promise<SignedRequest<Message>>;
  /** Sends a transaction and waits for its block; returns its hash. Throws when it reverts. */
  send(request: TxRequest): Promise<string>;
}

const tokenAbi = ['function balanceOf(address) view returns (uint256)'];
const blockLimitMs = 60_000;
const pollMs = 200;

/** The chains of a world, read and written with ethers. */
export class DemoChains {
  readonly #providers: ReadonlyMap<string, JsonRpcProvider>;

  constructor(manifest: Pick<WorldManifest, 'chains'>) {
    this.#providers = new Map(
      manifest.chains.map(({ chainId, rpcUrl }) => {
        const options = { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1, pollingInterval: pollMs };
        return [chainId, new JsonRpcProvider(rpcUrl, Number(chainId), options)];
      }),
    );
  }

  #provider(chainId: string): JsonRpcProvider {
    const provider = this.#providers.get(chainId);
    if (provider === undefined) throw new Error(`This world has no chain ${chainId}.`);
    return provider;
  }

  /** The balance of an address, in the token's smallest units. */
  async balanceOf(token: { chainId: string; address: string }, holder: string): Promise<bigint> {
    const contract = new Contract(token.address, tokenAbi, this.#provider(token.chainId));
    return (await contract.getFunction('balanceOf').staticCall(holder)) as bigint;
  }

  wallet(privateKey: string): DemoWallet {
    const key = new Wallet(privateKey);
    return {
      address: key.address,
      async sign({ authorizationSpec }, message) {
        const domain = { ...authorizationSpec.domain, chainId: message.paymentChainId };
        return { message, signature: await key.signTypedData(domain, authorizationSpec.types, message) };
      },
      send: async ({ chainId, to, data, value }) => {
        const sent = await key.connect(this.#provider(chainId)).sendTransaction({ to, data, value });
        const receipt = await sent.wait(1, blockLimitMs);
        if (receipt?.status !== 1) throw new Error(`The transaction ${sent.hash} reverted.`);
        return sent.hash;
      },
    };
  }

  close(): void {
    for (const provider of this.#providers.values()) provider.destroy();
  }
}
