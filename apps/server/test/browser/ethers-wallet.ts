import { randomBytes } from 'node:crypto';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { getBytes, JsonRpcProvider, Wallet } from 'ethers';
import type { Page } from 'playwright-core';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import type { LifeChain } from '../life/life-chain.ts';

/** A request of a page (EIP-1193). */
export interface WalletRequest {
  readonly method: string;
  readonly params?: readonly unknown[];
}

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** An error in the form of wallets (EIP-1193). */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** How the page finds a wallet: EIP-6963, the old injected provider, both, or through a module of WalletConnect. */
export type Injection = 'announced' | 'injected' | 'both' | 'remote';

/**
 * A wallet that behaves as EIP-1193, EIP-5792 and EIP-6963 say: ethers' own Wallet and JsonRpcProvider sign, send and read.
 * Its part in the page forwards every request to this process.
 */
export class EthersWallet {
  readonly name: string;
  readonly wallet: Wallet;
  /** Requested methods, in order. */
  readonly asked: string[] = [];
  /** Chains that the wallet knows, and its current chain. */
  readonly known: Set<number>;
  current: number;
  /** Requested transactions, in order. */
  readonly transactions: Record<string, string>[] = [];
  readonly #pages: { readonly page: Page; readonly id: string }[] = [];
  /** Whether it executes several calls as one. */
  canBatch = false;
  readonly #chains: ReadonlyMap<number, LifeChain>;
  readonly #batches = new Map<string, string[]>();
  /** The smart account that the wallet's key signs texts for. */
  readonly account: Hex | undefined;

  constructor(
    chains: readonly LifeChain[],
    options: { name?: string; on?: number; known?: readonly number[]; wallet?: Wallet; account?: Hex } = {},
  ) {
    this.name = options.name ?? 'Test Wallet';
    this.wallet = options.wallet ?? new Wallet(`0x${randomBytes(32).toString('hex')}`);
    this.#chains = new Map(chains.map((chain) => [chain.chain.chainId, chain]));
    this.known = new Set(options.known ?? chains.map(({ chain }) => chain.chainId));
    this.account = options.account;
    this.current = options.on ?? chains[0]?.chain.chainId ?? 1;
  }

  get address(): Hex {
    return this.account ?? (this.wallet.address as Hex);
  }

  /** Emits an event to the pages (EIP-1193). */
  async emit(name: 'accountsChanged' | 'disconnect', value: unknown): Promise<void> {
    for (const { page, id } of this.#pages)
      await page.evaluate(`globalThis['emit_${id}'](${JSON.stringify(name)}, ${JSON.stringify(value)})`);
  }

  /** Adds gas and tokens on one chain. */
  async fund(chain: LifeChain, token: Token, amount: bigint): Promise<void> {
    await chain.anvil.request('anvil_setBalance', [this.address, '0x56bc75e2d63100000']);
    await chain.mint(token, this.address, amount);
  }

  /** Approves an amount for a spender, by default the gateway, as an earlier visit may have done. */
  async approve(
    chain: LifeChain,
    token: Token,
    amount: bigint,
    spender: Hex = chain.chain.gateway,
  ): Promise<void> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
    await this.#settled(chain, { to: token.address, data });
  }

  async allowance(chain: LifeChain, token: Token): Promise<bigint> {
    const args = [this.address, chain.chain.gateway] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args });
    return BigInt(String(await chain.anvil.request('eth_call', [{ to: token.address, data }, 'latest'])));
  }

  /** Sends tokens to an address, like an exchange. */
  async transfer(
    chain: LifeChain,
    token: Token,
    { to, amount }: { to: string; amount: bigint },
  ): Promise<void> {
    const args = [getAddress(to), amount] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await this.#settled(chain, { to: token.address, data });
  }

  async #settled(chain: LifeChain, call: Record<string, string>): Promise<void> {
    this.current = chain.chain.chainId;
    const hash = await this.#send(call);
    while ((await chain.anvil.request('eth_getTransactionReceipt', [hash])) === null)
      await chain.anvil.mine();
  }

  /** Adds the wallet to every page that the tab opens from now on. */
  async inject(page: Page, how: Injection = 'announced'): Promise<void> {
    const id = randomBytes(4).toString('hex');
    this.#pages.push({ page, id });
    await page.exposeFunction(`wallet_${id}`, (request: WalletRequest) => this.#answer(request));
    const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#b58900"/></svg>')}`;
    const info = { uuid: id, name: this.name, icon, rdns: 'test.florin' };
    await page.addInitScript(`(() => {
      const provider = { request: async (request) => {
        const answer = await globalThis['wallet_${id}'](JSON.parse(JSON.stringify(request)));
        if ('error' in answer) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
        return answer.result;
      }, on: (name, listener) => { listeners.push([name, listener]); } };
      const listeners = [];
      globalThis['emit_${id}'] = (name, value) => {
        for (const [heard, listener] of listeners) if (heard === name) listener(value);
      };
      const how = ${JSON.stringify(how)};
      if (how === 'remote') return void (globalThis.remoteProvider = provider);
      if (how !== 'announced') globalThis.ethereum = provider;
      if (how === 'injected') return;
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
        detail: Object.freeze({ info: ${JSON.stringify(info)}, provider }) }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    })()`);
  }

  /** The answer to one request of a page. */
  async #answer(request: WalletRequest): Promise<Answer> {
    this.asked.push(request.method);
    try {
      return { result: await this.handle(request) };
    } catch (error) {
      const { code = -32603, message } = error as { code?: unknown; message: string };
      return { error: { code: typeof code === 'number' ? code : -32603, message } };
    }
  }

  /** Does what a request asks for, or throws as the standards say. */
  protected async handle({ method, params = [] }: WalletRequest): Promise<unknown> {
    const [first] = params as [Record<string, string>?];
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [this.address.toLowerCase()];
      case 'eth_chainId':
        return `0x${this.current.toString(16)}`;
      case 'wallet_switchEthereumChain':
        if (!this.known.has(Number(first?.['chainId'])))
          throw new WalletError(4902, 'Unrecognized chain ID.');
        this.current = Number(first?.['chainId']);
        return null;
      case 'wallet_addEthereumChain':
        this.known.add(Number(first?.['chainId']));
        this.current = Number(first?.['chainId']);
        return null;
      case 'eth_sendTransaction':
        this.transactions.push(first ?? {});
        if (Number(first?.['chainId']) !== this.current)
          throw new WalletError(-32602, 'The transaction is for another chain.');
        return this.#send(first ?? {});
      case 'personal_sign':
        return this.wallet.signMessage(getBytes(String(params[0])));
      case 'eth_signTypedData_v4':
        return this.#sign(String(params[1]));
      case 'eth_blockNumber':
      case 'eth_getBalance':
      case 'eth_call':
      case 'eth_getTransactionByHash':
      case 'eth_getTransactionCount':
      case 'eth_getTransactionReceipt':
        return this.#node((node) => node.send(method, [...params]));
      case 'wallet_getCapabilities':
        if (!this.canBatch) throw new WalletError(-32601, 'Method not found.');
        return { [`0x${this.current.toString(16)}`]: { atomic: { status: 'supported' } } };
      case 'wallet_sendCalls':
        return this.#sendCalls(first as unknown as { calls: Record<string, string>[] });
      case 'wallet_getCallsStatus':
        return this.#callsStatus(String(params[0]));
      default:
        throw new WalletError(4200, `${method} is not supported`);
    }
  }

  #chain(): LifeChain {
    const chain = this.#chains.get(this.current);
    if (chain === undefined) throw new WalletError(4901, 'The wallet is on no chain of this test.');
    return chain;
  }

  /** Asks the node of the wallet's current chain. */
  async #node<Result>(ask: (node: JsonRpcProvider) => Promise<Result>): Promise<Result> {
    const node = new JsonRpcProvider(this.#chain().anvil.url, this.current, {
      staticNetwork: true,
      cacheTimeout: -1,
    });
    try {
      return await ask(node);
    } finally {
      node.destroy();
    }
  }

  async #send(call: Record<string, string>): Promise<string> {
    return this.#node(async (node) => {
      const sent = await this.wallet.connect(node).sendTransaction({
        to: call['to'] ?? '',
        data: call['data'] ?? '',
        value: call['value'] ?? '0x0',
        gasLimit: 500_000n,
        nonce: await node.getTransactionCount(this.address, 'pending'),
      });
      return sent.hash;
    });
  }

  /** As in real wallets, the chain of the message must be the wallet's current one. */
  async #sign(text: string): Promise<string> {
    const { domain, types, message } = JSON.parse(text);
    if (Number(domain.chainId) !== this.current)
      throw new WalletError(-32603, 'Wrong chain in the typed data.');
    const { EIP712Domain: _domain, ...rest } = types;
    return this.wallet.signTypedData(domain, rest, message);
  }

  /** Executes the calls one after the other: other parties see no difference from an atomic wallet. */
  async #sendCalls({ calls }: { calls: Record<string, string>[] }): Promise<{ id: string }> {
    const hashes: string[] = [];
    for (const call of calls) hashes.push(await this.#send(call));
    const id = `0x${randomBytes(32).toString('hex')}`;
    this.#batches.set(id, hashes);
    return { id };
  }

  async #callsStatus(id: string): Promise<unknown> {
    const hashes = this.#batches.get(id) ?? [];
    const receipts = await Promise.all(
      hashes.map((hash) => this.#chain().anvil.request('eth_getTransactionReceipt', [hash])),
    );
    if (receipts.includes(null)) return { status: 100 };
    return { status: 200, receipts: hashes.map((transactionHash) => ({ transactionHash })) };
  }
}
