import { bloomOf } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import { execute } from './contract-model.ts';
import { type CallContext, type ContractState, emptyState } from './contract-state.ts';
import { type DraftBlock, plainBlock, provenBlock } from './header-model.ts';
import type { MinedTransaction, ModelBlock, ModelTransaction } from './model-block.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface ChainModelOptions {
  readonly chain: Chain;
  readonly random: SeededRandom;
  /** Blocks between head and finalized block. */
  readonly finalityLag: number;
  /** Roles on the chain, and the accepted signers. */
  readonly context: Omit<CallContext, 'timeSeconds'>;
  readonly state: (state: ContractState) => ContractState;
  readonly startSeconds: number;
  /** Whether block hashes and receipt roots can be verified. */
  readonly isProven: boolean;
}

const gwei = 1_000_000_000n;
const emptyBloom: Hex = `0x${'0'.repeat(512)}`;

/** One chain: a tree of blocks with one canonical branch, and its pending transactions. */
export class ChainModel {
  readonly chain: Chain;
  readonly finalityLag: number;
  readonly settler: Hex;
  head: ModelBlock;
  finalized: ModelBlock;
  /** By sender and nonce, the transaction with the highest fee. */
  readonly mempool = new Map<string, ModelTransaction>();
  readonly byHash = new Map<Hex, ModelBlock>();
  /** All transactions of the service's wallets that any node has ever received. */
  readonly ownHashes = new Set<Hex>();
  /** Blocks of which a node left out logs once, and no bloom showed it. */
  readonly blocksWithHiddenLogs = new Set<Hex>();
  /** Reorgs so far by depth. */
  readonly reorgDepths: number[] = [];
  /** Factor on the base fee of the next block. */
  baseFeeFactor = 1n;
  /** Called with each block that becomes canonical. */
  onBlock: (block: ModelBlock) => void = () => {};
  readonly #random: SeededRandom;
  readonly #options: ChainModelOptions;
  #hashes = 0;

  constructor(options: ChainModelOptions) {
    this.#options = options;
    this.#random = options.random;
    this.chain = options.chain;
    this.finalityLag = options.finalityLag;
    this.settler = options.context.settler;
    this.head = this.#block(undefined, options.startSeconds, [], options.state(emptyState), new Map());
    this.finalized = this.head;
  }

  /** Mines a block on the head from pending transactions. Like miners do, it leaves some of them out. */
  mine(timeSeconds: number): ModelBlock {
    const block = this.#mineOn(this.head, timeSeconds, 0.8);
    this.head = block;
    this.#advanceFinalized();
    this.onBlock(block);
    return block;
  }

  /**
   * Replaces the last `depth` blocks by one more block than that. Their transactions wait again or are lost. Payers'
   * own transactions are lost as often: some payers never pay again.
   */
  reorg(depth: number, timeSeconds: number): void {
    this.reorgDepths.push(depth);
    let parent = this.head;
    const dropped: ModelTransaction[] = [];
    for (let level = 0; level < depth && parent.parent !== undefined; level += 1) {
      dropped.push(...parent.transactions.map(({ transaction }) => transaction));
      parent = parent.parent;
    }
    for (const transaction of dropped.toReversed()) {
      if (this.#random.chance(0.6)) this.#addToPool(transaction);
    }
    const added: ModelBlock[] = [];
    while (parent.number <= this.head.number) {
      parent = this.#mineOn(parent, Math.max(parent.timeSeconds + 1, timeSeconds), 0.4);
      added.push(parent);
    }
    this.head = parent;
    // A reorg below finality takes the finalized block with it.
    this.finalized = blockAt(parent, this.finalized.number) ?? parent;
    this.#advanceFinalized();
    for (const block of added) this.onBlock(block);
  }

  /** Adds a transaction to the pool. Returns the error text when the pool refuses it. */
  submit(transaction: ModelTransaction): string | undefined {
    const next = this.head.nonces.get(transaction.from.toLowerCase()) ?? 0;
    if (transaction.nonce < next) return 'nonce too low';
    const pending = this.mempool.get(poolKey(transaction));
    if (pending?.hash === transaction.hash) return 'already known';
    if (pending !== undefined && transaction.maxFee * 10n < pending.maxFee * 11n) {
      return 'replacement transaction underpriced';
    }
    this.#addToPool(transaction);
    return undefined;
  }

  /** Drops the pending transactions of a sender. */
  dropPending(address: Hex): void {
    for (const key of this.mempool.keys())
      if (key.startsWith(`${address.toLowerCase()}:`)) this.mempool.delete(key);
  }

  nextNonce(address: Hex, block: ModelBlock = this.head): number {
    return block.nonces.get(address.toLowerCase()) ?? 0;
  }

  /** The nonce after all pending transactions, as the tag `pending` reports it. */
  pendingNonce(address: Hex): number {
    let nonce = this.nextNonce(address);
    while (this.mempool.has(`${address.toLowerCase()}:${nonce}`)) nonce += 1;
    return nonce;
  }

  /** Whether a transaction of this sender is pending. */
  hasPending(address: Hex): boolean {
    return this.mempool.has(`${address.toLowerCase()}:${this.nextNonce(address)}`);
  }

  context(timeSeconds: number): CallContext {
    return { ...this.#options.context, timeSeconds };
  }

  /** Blocks of the canonical branch, oldest first. */
  canonical(): ModelBlock[] {
    const blocks: ModelBlock[] = [];
    for (let block: ModelBlock | undefined = this.head; block !== undefined; block = block.parent)
      blocks.push(block);
    return blocks.reverse();
  }

  isFinal(block: ModelBlock): boolean {
    return block.number <= this.finalized.number && blockAt(this.finalized, block.number) === block;
  }

  #advanceFinalized(): void {
    const height = this.head.number - this.finalityLag;
    if (height > this.finalized.number) this.finalized = blockAt(this.head, height) ?? this.finalized;
  }

  #addToPool(transaction: ModelTransaction): void {
    const { settler, orderSigner } = this.#options.context;
    if ([settler, orderSigner].some((own) => transaction.from.toLowerCase() === own.toLowerCase()))
      this.ownHashes.add(transaction.hash);
    this.mempool.set(poolKey(transaction), transaction);
  }

  #mineOn(parent: ModelBlock, timeSeconds: number, share: number): ModelBlock {
    const nonces = new Map(parent.nonces);
    const context = this.context(timeSeconds);
    const mined: MinedTransaction[] = [];
    let { state } = parent;
    // Logs of other contracts stand between ours, except where a proof would need them.
    const foreignLogs = this.#options.isProven ? 0 : 1;
    let logIndex = foreignLogs * this.#random.between(0, 2);
    const baseFee = this.#nextBaseFee(parent);
    for (const transaction of this.#executable(nonces, baseFee, share)) {
      const result = execute(context, state, transaction);
      const succeeded = 'state' in result;
      const logs = succeeded ? result.logs : [];
      if (succeeded) state = result.state;
      const bloom = bloomOf(logs.flatMap((log) => [log.address, ...log.topics]));
      mined.push({ transaction, succeeded, logs, firstLogIndex: logIndex, bloom });
      logIndex += logs.length + foreignLogs * this.#random.between(0, 1);
      nonces.set(transaction.from.toLowerCase(), transaction.nonce + 1);
    }
    return this.#block(parent, timeSeconds, mined, state, nonces, baseFee);
  }

  /** The transactions that a block includes: in nonce order per sender, and only those that pay the base fee. */
  *#executable(nonces: ReadonlyMap<string, number>, baseFee: bigint, share: number) {
    const next = new Map(nonces);
    const senders = [...new Set([...this.mempool.values()].map(({ from }) => from.toLowerCase()))];
    for (const sender of senders) {
      if (!this.#random.chance(share)) continue;
      for (;;) {
        const nonce = next.get(sender) ?? 0;
        const transaction = this.mempool.get(`${sender}:${nonce}`);
        if (transaction === undefined || transaction.maxFee < baseFee) break;
        this.mempool.delete(poolKey(transaction));
        next.set(sender, nonce + 1);
        yield transaction;
      }
    }
    this.#dropUsedNonces(next);
  }

  #dropUsedNonces(nonces: ReadonlyMap<string, number>): void {
    for (const [key, { from, nonce }] of this.mempool) {
      if (nonce < (nonces.get(from.toLowerCase()) ?? 0)) this.mempool.delete(key);
    }
  }

  #nextBaseFee(parent: ModelBlock): bigint {
    const eighth = parent.baseFee / 8n;
    const change = BigInt(this.#random.between(-8, 8));
    const next = (parent.baseFee + (eighth * change) / 8n) * this.baseFeeFactor;
    this.baseFeeFactor = 1n;
    return next < gwei / 10n ? gwei / 10n : next;
  }

  #block(
    parent: ModelBlock | undefined,
    timeSeconds: number,
    transactions: readonly MinedTransaction[],
    state: ContractState,
    nonces: ReadonlyMap<string, number>,
    baseFee: bigint = gwei,
  ): ModelBlock {
    this.#hashes += 1;
    const salt = `block ${this.chain.chainId} ${this.#hashes} ${this.#random.fraction()}`;
    const values = transactions.flatMap(({ logs }) => logs.flatMap((log) => [log.address, ...log.topics]));
    const draft: DraftBlock = {
      number: parent === undefined ? 0 : parent.number + 1,
      parent,
      timeSeconds,
      baseFee,
      transactions,
      bloom: values.length === 0 ? emptyBloom : bloomOf(values),
      state,
      nonces,
    };
    const block = this.#options.isProven ? provenBlock(draft, salt) : plainBlock(draft, salt);
    this.byHash.set(block.hash, block);
    return block;
  }
}

function poolKey({ from, nonce }: { from: Hex; nonce: number }): string {
  return `${from.toLowerCase()}:${nonce}`;
}

/** The block at a height on the branch that ends in `head`. */
export function blockAt(head: ModelBlock, number: number): ModelBlock | undefined {
  let block: ModelBlock | undefined = head;
  while (block !== undefined && block.number > number) block = block.parent;
  return block?.number === number ? block : undefined;
}
