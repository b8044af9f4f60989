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
  /** Whether the last transfer is on its way. */
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

/** In wei: a jump from here stays under the most that our wallets offer. */
const highestBeforeJump = 2_000_000_000n;

const transferAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** Everything outside of the service, and the processes of the service within it. */
export class World {
  readonly owner: Owner = { name: 'world', isAlive: true, pausedUntilMs: 0 };
  readonly options: WorldOptions;
  readonly chains: Chains;
  readonly models: readonly ChainModel[];
  readonly nodes: readonly NodeModel[];
  readonly receiver: ReceiverModel;
  readonly log: Log;
  /** By place; a place whose process is dead has none until it is started again. */
  readonly services: (ServiceModel | undefined)[] = [];
  /** Where payers send to, or are about to. */
  readonly deposits: DepositPlace[] = [];
  /** What went wrong while it happened. */
  readonly violations: string[] = [];
  /** What the service was asked for, that only a client of its own could know. */
  merchantId = '';
  accountId = '';
  linkId = '';
  /** False while the database is being put back: nothing is started. */
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

  /** Has chains grow, and nodes follow them, until the end. */
  startChains(): void {
    for (const model of this.models) this.#growLater(model);
  }

  /** Starts the process of a place; when it dies, another follows. */
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
      // Those that start anew over a restored backup are to meet what it does not know.
      const isSoon = this.#isCalm || story.restore?.isMidway === true;
      const wait = isSoon ? 500 : random.between(100, 15_000);
      scheduler.after(wait, this.owner, 'restart', () => this.startService(place));
    });
  }

  /** A running process that takes requests; undefined while there is none. */
  service(): ServiceModel | undefined {
    const running = this.services.filter((service) => service?.process.isAlive === true);
    return running.length === 0 ? undefined : this.options.random.pick(running);
  }

  async killAll(): Promise<void> {
    for (const service of this.services) await service?.process.kill();
  }

  /** Ends all faults, so that everything can come to rest. */
  calm(): void {
    this.#isCalm = true;
    this.options.faults.end();
    for (const node of this.nodes) node.heal();
    for (const model of this.models) {
      // Whatever the operator has under way is overtaken by what comes now.
      model.forget(operatorAddress);
      this.#fillVault(model);
    }
  }

  /** Has the operator send a transaction, behind what they have sent before. */
  operate(model: ChainModel, to: Hex, data: Hex): void {
    this.#operations += 1;
    const from = operatorAddress;
    const hash = modelHash(`operator ${model.chain.name} ${this.#operations}`);
    const nonce = model.pendingNonce(from);
    model.submit({ from, to, data, hash, nonce, maxFee: 10n ** 30n, tip: 1n });
  }

  /** Takes the token that all sessions are settled in out of the configuration, or puts it back: processes start anew. */
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

  /** Has a chain take back more than it had called final. */
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
    // Without faults there is nothing to be seen between two blocks; rest comes sooner.
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

  /** How much longer the next block takes; after a silence, blocks ask for fees far over what was offered before it. */
  #silenceMs(model: ChainModel): number {
    const { faults, random, story } = this.options;
    // Whether a chain halts after a reorg below finality is looked at after some time, in which it has to go on.
    if (story.deepReorgMs !== undefined || !faults.strikes('chainSilent')) return 0;
    if (model.head.baseFee < highestBeforeJump) model.feeJump = BigInt(random.between(40, 100));
    return random.between(60_000, 150_000);
  }
}

/** An event of the contracts in a canonical block. */
export interface Fact {
  readonly model: ChainModel;
  readonly name: string;
  readonly orderId: Hex;
  readonly txHash: Hex;
  readonly block: ModelBlock;
  readonly isFinal: boolean;
}

/** Everything that the canonical branches of all chains say. */
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
