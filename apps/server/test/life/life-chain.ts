import { readFile } from 'node:fs/promises';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { erc20Abi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { permit2Deployment } from '@florin/world';
import { type Abi, encodeDeployData, encodeFunctionData, getAddress } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { create2Deployer } from '#chains/shared-contract.ts';
import { type ContractPlan, planContracts } from '#contracts/contract-plan.ts';
import { deployBridge } from './bridge.ts';
import { deployOperator } from './operator.ts';
import { addresses } from './roles.ts';

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

async function artifact(name: string): Promise<Artifact> {
  const url = new URL(`../../../../contracts/artifacts/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(url, 'utf8')) as Artifact;
}

export interface TokenPlan {
  readonly symbol: 'usdc' | 'usdt' | 'dai';
  readonly decimals: number;
}

const tokenContracts = { usdc: 'LocalUsdc', usdt: 'LocalUsdt', dai: 'LocalDai' } as const;

/** Blocks after which a transaction is final here, with a few to spare. */
const blocksToFinality = 8;

const idleCallsPerBlock = 5;

/** Of anvil's first account, which deploys on every chain: hashing the code for the addresses takes 0.2 s. */
let plan: ContractPlan | undefined;

/** A real chain with the contracts, tokens and roles of a deployment. Once it has them, blocks come only when the test mines. */
export class LifeChain {
  readonly anvil: Anvil;
  readonly chain: Chain;
  readonly #admin: Hex;
  readonly #mine: () => Promise<void>;
  #blocksToFinality = blocksToFinality;
  #idleCalls = 0;
  /** The node mines each transaction at once, as long as this chain is set up. */
  #isMined = true;

  private constructor(anvil: Anvil, chain: Chain, admin: Hex) {
    this.#mine = () => anvil.mine();
    // What a story mines itself has to become final soon as well.
    this.anvil = {
      ...anvil,
      mine: (count) => {
        this.#blocksToFinality = blocksToFinality;
        return anvil.mine(count);
      },
    };
    this.chain = chain;
    this.#admin = admin;
  }

  static async start(options: {
    name: string;
    chainId: number;
    tokens: readonly TokenPlan[];
    /** With CCTP: a route and Circle's stand-ins, at the same addresses on every chain. */
    hasCctp?: boolean;
  }): Promise<LifeChain> {
    const anvil = await startTestAnvil({ chainId: options.chainId, automine: true });
    const admin = anvil.accounts[0];
    if (admin === undefined) throw new Error('anvil has no accounts');
    const deployment = new Deployment(anvil, admin.address, true);
    const { orderSigner, settler } = addresses;
    const send = (request: { to: Hex; data: Hex }) => deployment.send(request);
    plan ??= planContracts(admin.address);
    const bridge =
      options.hasCctp === true ? await deployBridge(send, options.name, options.chainId) : undefined;
    if (bridge === undefined) await deployOperator(send, plan, admin.address);
    const [gateway, vault] = [plan.gateway.address, plan.vault.address];
    await deployment.send({ to: create2Deployer, data: permit2Deployment() });
    const tokens: Token[] = [];
    for (const { symbol, decimals } of options.tokens) {
      const name = `Test ${symbol.toUpperCase()}`;
      const known = symbol === 'usdc' ? bridge?.usdc : undefined;
      const address =
        known ??
        (await deployment.deploy(tokenContracts[symbol], [name, symbol.toUpperCase(), admin.address]));
      tokens.push({
        tokenId: `${options.name}::${symbol}`,
        chainName: options.name,
        chainId: options.chainId,
        address,
        name,
        symbol: symbol.toUpperCase(),
        decimals,
      });
    }
    for (const wallet of [settler, orderSigner])
      await anvil.request('anvil_setBalance', [wallet, '0x56bc75e2d63100000']);
    const chain: Chain = {
      name: options.name,
      chainId: options.chainId,
      rpcUrls: [anvil.url],
      // Announced blocks wake the watcher; often, polls would cost more than all that stories do. It is also the sender's
      // pause, which the clock of stories keeps.
      wsUrls: [anvil.url.replace('http', 'ws')],
      gateway,
      vault,
      startBlock: 0n,
      finality: { tag: 'finalized', depth: 0, quorum: 1 },
      proofs: 'required',
      pollIntervalMs: 900,
      tokens,
      ...(bridge === undefined ? {} : { cctp: bridge.cctp }),
    };
    const life = new LifeChain(anvil, chain, admin.address);
    for (const token of tokens) {
      const unit = 10n ** BigInt(token.decimals);
      const cap = 1_000_000n * unit;
      await life.call(vault, 'PayoutVault', 'setCaps', [token.address, cap, cap, cap]);
      await life.mint(token, vault, 100_000n * unit);
    }
    await anvil.request('evm_setAutomine', [false]);
    life.#isMined = false;
    return life;
  }

  /**
   * Mines a block when transactions wait or recent ones are not final yet, else at each fifth call. The service follows
   * each block, so that empty ones cost processor time. True while something waits.
   */
  async mineAsNeeded(): Promise<boolean> {
    const pool = (await this.anvil.request('txpool_status')) as { pending: Hex };
    if (Number(pool.pending) > 0) this.#blocksToFinality = blocksToFinality;
    const isBusy = this.#blocksToFinality > 0;
    this.#idleCalls = isBusy ? 0 : (this.#idleCalls + 1) % idleCallsPerBlock;
    if (isBusy) this.#blocksToFinality -= 1;
    if (this.#idleCalls === 0) await this.#mine();
    return isBusy;
  }

  token(symbol: string): Token {
    const token = this.chain.tokens.find(
      (candidate) => candidate.tokenId === `${this.chain.name}::${symbol}`,
    );
    if (token === undefined) throw new Error(`${this.chain.name} has no ${symbol}`);
    return token;
  }

  /** Calls a contract as its admin and mines the transaction. */
  async call(to: Hex, contract: string, functionName: string, args: readonly unknown[]): Promise<void> {
    await new Deployment(this.anvil, this.#admin, this.#isMined).call(to, contract, functionName, args);
  }

  /** Deploys a contract as the chain's admin; returns its address. */
  async deploy(contract: string, args: readonly unknown[]): Promise<Hex> {
    return new Deployment(this.anvil, this.#admin, this.#isMined).deploy(contract, args);
  }

  /** Gives tokens to an address. */
  async mint(token: Token, to: Hex, amount: bigint): Promise<void> {
    if (token.symbol !== 'USDT') {
      await this.call(token.address, token.symbol === 'DAI' ? 'LocalDai' : 'LocalUsdc', 'mint', [to, amount]);
      return;
    }
    // Tether issues to its owner, who transfers it.
    await this.call(token.address, 'LocalUsdt', 'issue', [amount]);
    await this.call(token.address, 'LocalUsdt', 'transfer', [to, amount]);
  }

  /** Changes a balance in the token's storage, so that no event reports it. */
  async dealTo(token: Token, holder: Hex, amount: bigint): Promise<void> {
    await this.anvil.request('anvil_dealERC20', [holder, token.address, `0x${amount.toString(16)}`]);
    await this.anvil.mine();
    if ((await this.balanceOf(token, holder)) !== amount) throw new Error(`${token.tokenId} was not dealt`);
  }

  async balanceOf(token: Token, holder: string): Promise<bigint> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [getAddress(holder)] });
    return BigInt((await this.anvil.request('eth_call', [{ to: token.address, data }, 'latest'])) as Hex);
  }
}

class Deployment {
  readonly #anvil: Anvil;
  readonly #sender: Hex;
  readonly #isMined: boolean;

  /** @param isMined Whether the node mines by itself; then each transaction takes one request instead of three. */
  constructor(anvil: Anvil, sender: Hex, isMined: boolean) {
    this.#anvil = anvil;
    this.#sender = sender;
    this.#isMined = isMined;
  }

  async deploy(name: string, args: readonly unknown[]): Promise<Hex> {
    const { abi, bytecode } = await artifact(name);
    const data = encodeDeployData({ abi, bytecode, args });
    const receipt = await this.send({ data });
    if (receipt.contractAddress === null) throw new Error(`${name} was not deployed`);
    return getAddress(receipt.contractAddress);
  }

  async call(to: Hex, contract: string, functionName: string, args: readonly unknown[]): Promise<void> {
    const { abi } = await artifact(contract);
    await this.send({ to, data: encodeFunctionData({ abi, functionName, args }) });
  }

  async send(request: { to?: Hex; data: Hex }): Promise<{ contractAddress: Hex | null }> {
    // anvil signs for its own accounts: signing code here, and asking for its gas, takes most of a chain's start.
    const transaction = [{ ...request, from: this.#sender }];
    const receipt = (
      this.#isMined
        ? await this.#anvil.request('eth_sendTransactionSync', transaction)
        : await this.#sendAndMine(transaction)
    ) as { status: Hex; contractAddress: Hex | null } | null;
    if (receipt?.status !== '0x1') throw new Error(`a set-up transaction to ${request.to} failed`);
    return receipt;
  }

  async #sendAndMine(transaction: readonly unknown[]): Promise<unknown> {
    const hash = await this.#anvil.request('eth_sendTransaction', transaction);
    await this.#anvil.mine();
    return this.#anvil.request('eth_getTransactionReceipt', [hash]);
  }
}
