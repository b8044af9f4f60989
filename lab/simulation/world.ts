import type { Hex } from '@florin/protocol/order.ts';
import { type Chains, chainsOf } from '@florin/server/operator';
import type { Log } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Bug } from './bug.ts';
import { ChainModel } from './chain-model.ts';
import type { Connections } from './connections.ts';
import { databaseModel } from './database-model.ts';
import type { Faults } from './faults.ts';
import type { ModelBlock } from './model-block.ts';
import { modelLog } from './model-log.ts';
import { NodeModel } from './node-model.ts';
import { chainsFor, contextOf, openingState, operatorAddress, plenty } from './places.ts';
import { epochMs, ModelProcess } from './process-model.ts';
import { ReceiverModel } from './receiver-model.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { modelHash, type SeededRandom } from './seeded-random.ts';
import { type ServiceModel, startModel, type Wiring } from './service-model.ts';
import { modelWallet } from './signing-model.ts';
import type { Story } from './story.ts';

/** A deposit address that a payer uses. */
export interface DepositPlace {
  readonly model: ChainModel;
  readonly receiver: Hex;
  readonly token: Hex;
  readonly orderId: Hex;
  /** Whether the last transfer has been sent. */
  isSent: boolean;
}

export interface WorldOptions {
  readonly story: Story;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly connections: Connections;
  readonly bug: Bug | undefined;
}

/** In wei. A fee jump from here stays under our wallets' maximum fee. */
const highestBeforeJump = 2_000_000_000n;

const transferAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** Everything outside of the service, and the service's processes. */
export class World {
  readonly owner: Owner = { name: 'world', isAlive: true, pausedUntilMs: 0 };
  readonly options: WorldOptions;
  readonly chains: Chains;
  readonly models: readonly ChainModel[];
  readonly nodes: readonly NodeModel[];
  readonly receiver: ReceiverModel;
  readonly log: Log;
  /** By process number. Undefined while the process is down. */
  readonly services: (ServiceModel | undefined)[] = [];
  /** Deposit addresses that payers have used or are about to use. */
  readonly deposits: DepositPlace[] = [];
  /** Violations that were found during the history. */
  readonly violations: string[] = [];
  /** Data of requests that only the service's client knows. */
  merchantId = '';
  accountId = '';
  linkId = '';
  /** False during a restore: no process starts. */
  mayStart = true;
  #isTokenDropped = false;
  #operations = 0;
  #isCalm = false;
  #starts = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    const { story, random, faults, bug } = options;
    this.chains = chainsFor(story, bug?.finality);
    this.models = this.chains.all.map(
      (chain) =>
        new ChainModel({
          chain,
          random: random.fork(`chain ${chain.name}`),
          finalityLag: story.finalityLag,
          context: contextOf(chain, story, bug?.isChainIdempotent ?? true),
          state: openingState(chain, story),
          isProven: story.isProven,
          startSeconds: Math.floor(epochMs / 1000) - 100,
        }),
    );
    for (const model of this.models) for (let i = 5; i > 0; i -= 1) model.mine(this.seconds() - 10 * i);
    this.nodes = this.models.flatMap((model) =>
      Array.from({ length: story.nodeCount }, (_, index) => {
        const node = new NodeModel(model, `${model.chain.name}-${index + 1}`, faults);
        node.lag = index === 0 ? 0 : story.nodeLag;
        node.mostLag = story.isBalanced ? story.nodeLag : 0;
        return node;
      }),
    );
    this.receiver = new ReceiverModel(faults);
    this.log = modelLog(options.scheduler, story, (text) => this.violate(text));
  }

  seconds(): number {
    return Math.floor((epochMs + this.options.scheduler.nowMs) / 1000);
  }

  sleep(ms: number): Promise<void> {
    return this.options.scheduler.sleep(ms, this.owner);
  }

  /** Makes chains grow, and nodes follow them, until the end. */
  startChains(): void {
    for (const model of this.models) this.#growLater(model);
  }

  /** Starts a process. When it dies, another one replaces it. */
  startService(place: number): void {
    const { scheduler, faults, random, connections, bug, story } = this.options;
    const { log } = this;
    if (!this.mayStart || this.services[place]?.process.isAlive === true) return;
    this.#starts += 1;
    const name = `${'ab'[place] ?? 'x'}${this.#starts}`;
    const process = new ModelProcess({ name, scheduler, faults, skewMs: story.skewsMs[place] ?? 0 });
    const lateStatements = new Set(bug?.lateStatements ?? []);
    const db = databaseModel({ process, connections, faults, world: this.owner, lateStatements });
    const egress = this.receiver.egressOf(process);
    const processRandom = random.fork(`process ${name}`);
    const wiring = this.#wiring();
    const { nodes } = this;
    const chains = this.#configured();
    scheduler.note(`${name} started`);
    this.services[place] = startModel({
      process,
      db,
      chains,
      nodes,
      egress,
      random: processRandom,
      faults,
      log,
      wiring,
      hasLeaders: story.hasLeaders,
      story,
      models: this.models,
    });
    void process.killed.then(() => {
      this.services[place] = undefined;
      // Processes that start on a restored backup should soon meet transactions that it does not know.
      const isSoon = this.#isCalm || story.restore?.isMidway === true;
      const wait = isSoon ? 500 : random.between(100, 15_000);
      scheduler.after(wait, this.owner, 'restart', () => this.startService(place));
    });
  }

  /** A running process that accepts requests. Undefined while there is none. */
  service(): ServiceModel | undefined {
    const running = this.services.filter((service) => service?.process.isAlive === true);
    return running.length === 0 ? undefined : this.options.random.pick(running);
  }

  async killAll(): Promise<void> {
    for (const service of this.services) await service?.process.kill();
  }

  /** Ends all faults, so that the service can finish its work. */
  calm(): void {
    this.#isCalm = true;
    this.options.faults.end();
    for (const node of this.nodes) node.heal();
    for (const model of this.models) {
      // Drops the operator's pending transactions, because the following ones replace them.
      model.forget(operatorAddress);
      this.#fillVault(model);
    }
  }

  /** Sends an operator's transaction after their earlier ones. */
  operate(model: ChainModel, to: Hex, data: Hex): void {
    this.#operations += 1;
    const from = operatorAddress;
    const hash = modelHash(`operator ${model.chain.name} ${this.#operations}`);
    const nonce = model.pendingNonce(from);
    model.submit({ from, to, data, hash, nonce, maxFee: 10n ** 30n, tip: 1n });
  }

  /** Removes the settlement token of all sessions from the configuration, or adds it back. Processes restart. */
  async dropToken(isDropped: boolean): Promise<void> {
    if (this.#isTokenDropped === isDropped) return;
    this.#isTokenDropped = isDropped;
    await this.killAll();
  }

  #configured(): Chains {
    const [first, ...others] = this.chains.all;
    if (!this.#isTokenDropped || first === undefined) return this.chains;
    return chainsOf([{ ...first, tokens: [] }, ...others]);
  }

  /** Schedules a reorg deeper than finality. */
  planDeepReorg(): void {
    const { story, scheduler, random } = this.options;
    if (story.deepReorgMs === undefined) return;
    scheduler.after(story.deepReorgMs, this.owner, 'reorg below finality', () => {
      const model = random.pick(this.models);
      const room = model.head.number - model.finalized.number;
      model.reorg(room + random.between(1, 12), this.seconds());
    });
  }

  /** The operator sends float to a vault. */
  #fillVault(model: ChainModel): void {
    const { vault, tokens } = model.chain;
    const data = encodeFunctionData({ abi: transferAbi, functionName: 'transfer', args: [vault, plenty] });
    for (const { address } of tokens) this.operate(model, address, data);
  }

  violate(text: string): void {
    if (this.violations.length < 20) this.violations.push(text);
  }

  #wiring(): Wiring {
    const normal: Wiring = { wallet: () => modelWallet, egress: (egress) => egress, hearsOf: () => true };
    return { ...normal, ...this.options.bug?.wiring?.(this.models) };
  }

  #growLater(model: ChainModel): void {
    const { scheduler, faults, random, story } = this.options;
    // Without faults, nothing can happen between two blocks. Short block times reach the end sooner.
    const usualMs = this.#isCalm ? random.between(1_000, 2_000) : random.between(2_000, story.slowestBlockMs);
    scheduler.after(usualMs + this.#silenceMs(model), this.owner, `block ${model.chain.name}`, () => {
      const room = model.head.number - model.finalized.number;
      if (room > 0 && faults.strikes('reorg')) model.reorg(random.between(1, room), this.seconds());
      else model.mine(Math.max(this.seconds(), model.head.timeSeconds + 1));
      for (const node of this.nodes) if (node.chain === model) node.look(scheduler.nowMs);
      scheduler.note(`${model.chain.name} ${model.head.number} ${model.head.hash.slice(0, 10)}`);
      this.#growLater(model);
    });
  }

  /** Extra time until the next block. After a silence, blocks ask for fees far above earlier offers. */
  #silenceMs(model: ChainModel): number {
    const { faults, random, story } = this.options;
    // The check that a chain halts after a reorg below finality comes after a fixed time. The chain has to grow until
    // then.
    if (story.deepReorgMs !== undefined || !faults.strikes('chainSilent')) return 0;
    if (model.head.baseFee < highestBeforeJump) model.feeJump = BigInt(random.between(40, 100));
    return random.between(60_000, 150_000);
  }
}

/** A contract event in a canonical block. */
export interface Fact {
  readonly model: ChainModel;
  readonly name: string;
  readonly orderId: Hex;
  readonly txHash: Hex;
  readonly block: ModelBlock;
  readonly isFinal: boolean;
}

/** All events of the canonical branches of all chains. */
export function factsOf(world: World): Fact[] {
  return world.models.flatMap((model) =>
    model.canonical().flatMap((block) =>
      block.transactions.flatMap(({ logs, transaction }) =>
        logs.map(({ name, orderId }) => ({
          model,
          name,
          orderId,
          txHash: transaction.hash,
          block,
          isFinal: block.number <= model.finalized.number,
        })),
      ),
    ),
  );
}
