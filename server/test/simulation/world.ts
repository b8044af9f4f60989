import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { getAddress } from 'viem';
import { type Chain, type Chains, chainsOf } from '#chains/chain.ts';
import type { Log } from '#telemetry/log.ts';
import type { Bug } from './bugs.ts';
import { ChainModel, type ModelBlock } from './chain-model.ts';
import type { Connections } from './connections.ts';
import { databaseModel } from './database-model.ts';
import type { Faults } from './faults.ts';
import { modelLog } from './model-log.ts';
import { NodeModel } from './node-model.ts';
import { epochMs, ModelProcess } from './process-model.ts';
import { ReceiverModel } from './receiver-model.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { modelWallet, payoutMark, type ServiceModel, startModel, type Wiring } from './service-model.ts';
import type { Story } from './story.ts';

export interface WorldOptions {
  readonly story: Story;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly connections: Connections;
  readonly bug: Bug | undefined;
}

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
  /** What went wrong while it happened. */
  readonly violations: string[] = [];
  /** What the service was asked for, that only a client of its own could know. */
  merchantId = '';
  accountId = '';
  /** False while the database is being put back: nothing is started. */
  mayStart = true;
  #isCalm = false;
  #starts = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    const { story, random, faults, bug } = options;
    this.chains = chainsOf(chainsFor(story, bug));
    this.models = this.chains.all.map(
      (chain) =>
        new ChainModel({
          chain,
          random: random.fork(`chain ${chain.name}`),
          finalityLag: story.finalityLag,
          settler: modelWallet.address,
          signPayout: payoutMark,
          isIdempotent: bug?.isChainIdempotent ?? true,
          vaultFloat: story.isVaultShort ? 0n : 10n ** 30n,
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
    this.log = modelLog(options.scheduler, (text) => this.violate(text));
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
    const { chains, nodes } = this;
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
    });
    void process.killed.then(() => {
      this.services[place] = undefined;
      const wait = this.#isCalm ? 500 : random.between(100, 15_000);
      scheduler.after(wait, this.owner, 'restart', () => this.startService(place));
    });
  }

  /** A running process that takes requests; undefined while there is none. */
  service(): ServiceModel | undefined {
    return this.services.find((service) => service?.process.isAlive === true);
  }

  async killAll(): Promise<void> {
    for (const service of this.services) await service?.process.kill();
  }

  /** Ends all faults, so that everything can come to rest. */
  calm(): void {
    this.#isCalm = true;
    this.options.faults.end();
    for (const node of this.nodes) node.heal();
    for (const model of this.models) model.fundVault(10n ** 30n);
  }

  /** Has a chain take back more than it had called final. */
  planDeepReorg(): void {
    const { story, scheduler, random } = this.options;
    if (story.deepReorgMs === undefined) return;
    scheduler.after(story.deepReorgMs, this.owner, 'reorg below finality', () => {
      const model = random.pick(this.models);
      const room = model.head.number - model.finalized.number;
      model.reorg(room + random.between(1, 3), this.seconds());
    });
  }

  violate(text: string): void {
    if (this.violations.length < 20) this.violations.push(text);
  }

  #wiring(): Wiring {
    const normal: Wiring = { wallet: () => modelWallet, egress: (egress) => egress, hearsOutcomes: true };
    return { ...normal, ...this.options.bug?.wiring?.(this) };
  }

  #growLater(model: ChainModel): void {
    const { scheduler, faults, random, story } = this.options;
    scheduler.after(
      random.between(2_000, story.slowestBlockMs),
      this.owner,
      `block ${model.chain.name}`,
      () => {
        const room = model.head.number - model.finalized.number;
        if (room > 0 && faults.strikes('reorg')) model.reorg(random.between(1, room), this.seconds());
        else model.mine(Math.max(this.seconds(), model.head.timeSeconds + 1));
        for (const node of this.nodes) if (node.chain === model) node.look(scheduler.nowMs);
        scheduler.note(`${model.chain.name} ${model.head.number} ${model.head.hash.slice(0, 10)}`);
        this.#growLater(model);
      },
    );
  }
}

function token(chainName: string, chainId: number, decimals: number): Token {
  const address = getAddress(`0x${(chainId * 100).toString(16).padStart(40, '7')}`);
  const names = { tokenId: `${chainName}::usdc`, chainName, chainId, name: 'USDC', symbol: 'USDC' };
  return { ...names, address, decimals };
}

function chainsFor(story: Story, bug: Bug | undefined): Chain[] {
  const places = [
    ['ethereum', 31_337, 6],
    ['base', 31_338, 18],
  ] as const;
  return places.slice(0, story.chainCount).map(([name, chainId, decimals], index) => ({
    name,
    chainId,
    rpcUrls: [],
    gateway: contractAddress(index, 'a1'),
    vault: contractAddress(index, 'b2'),
    startBlock: 1n,
    finality: bug?.finality ?? { tag: 'finalized', depth: 1 },
    pollIntervalMs: 3_000,
    tokens: [token(name, chainId, decimals)],
  }));
}

function contractAddress(index: number, byte: string): Hex {
  return getAddress(`0x${byte.repeat(19)}0${index + 1}`);
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
