import type { Hex } from '@florin/protocol/order.ts';
import { type Chains, chainsOf } from '@florin/server/operator';
import type { Log } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Bug } from './bug.ts';
import { ChainModel } from './chain-model.ts';
import {
  callContextOf,
  chainsFor,
  initialContractState,
  operatorAddress,
  unlimited,
} from './configuration.ts';
import type { Connections } from './connections.ts';
import { databaseModel } from './database-model.ts';
import type { Faults } from './faults.ts';
import type { ModelBlock } from './model-block.ts';
import { modelLog } from './model-log.ts';
import { NodeModel } from './node-model.ts';
import { epochMs, ModelProcess } from './process-model.ts';
import { ReceiverModel } from './receiver-model.ts';
import type { Scenario } from './scenario.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { modelHash, type SeededRandom } from './seeded-random.ts';
import { type ServiceModel, startModel, type Wiring } from './service-model.ts';
import { modelWallet } from './signing-model.ts';

/** A deposit address that a payer uses. */
export interface DepositAddress {
  readonly model: ChainModel;
  readonly receiver: Hex;
  readonly token: Hex;
  readonly orderId: Hex;
  /** Whether the last transfer has been sent. */
  hasAllTransfers: boolean;
}

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly connections: Connections;
  readonly bug: Bug | undefined;
}

/** In wei. A fee jump from here stays under our wallets' maximum fee. */
const maxBaseFeeBeforeJump = 2_000_000_000n;

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
  readonly deposits: DepositAddress[] = [];
  /** Violations that were found during the history. */
  readonly violations: string[] = [];
  /** Data of requests that only the service's client knows. */
  merchantId = '';
  accountId = '';
  linkId = '';
  /** False during a restore: no process starts. */
  canStartProcesses = true;
  #isTokenDropped = false;
  #operatorTransactions = 0;
  #areFaultsOver = false;
  #starts = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    const { scenario, random, faults, bug } = options;
    this.chains = chainsFor(scenario, bug?.finality);
    this.models = this.chains.all.map(
      (chain) =>
        new ChainModel({
          chain,
          random: random.fork(`chain ${chain.name}`),
          finalityLag: scenario.finalityLag,
          context: callContextOf(chain, scenario, bug?.isChainIdempotent ?? true),
          state: initialContractState(chain, scenario),
          isProven: scenario.isProven,
          startSeconds: Math.floor(epochMs / 1000) - 100,
        }),
    );
    for (const model of this.models) for (let i = 5; i > 0; i -= 1) model.mine(this.seconds() - 10 * i);
    this.nodes = this.models.flatMap((model) =>
      Array.from({ length: scenario.nodeCount }, (_, index) => {
        const node = new NodeModel(model, `${model.chain.name}-${index + 1}`, faults);
        node.lag = index === 0 ? 0 : scenario.nodeLag;
        node.maxLag = scenario.isLoadBalanced ? scenario.nodeLag : 0;
        return node;
      }),
    );
    this.receiver = new ReceiverModel(faults);
    this.log = modelLog(options.scheduler, scenario, (text) => this.reportViolation(text));
  }

  seconds(): number {
    return Math.floor((epochMs + this.options.scheduler.nowMs) / 1000);
  }

  sleep(ms: number): Promise<void> {
    return this.options.scheduler.sleep(ms, this.owner);
  }

  /** Makes chains grow, and nodes follow them, until the end. */
  startChains(): void {
    for (const model of this.models) this.#scheduleNextBlock(model);
  }

  /** Starts a process. When it dies, another one replaces it. */
  startService(index: number): void {
    const { scheduler, faults, random, connections, bug, scenario } = this.options;
    const { log } = this;
    if (!this.canStartProcesses || this.services[index]?.process.isAlive === true) return;
    this.#starts += 1;
    const name = `${'ab'[index] ?? 'x'}${this.#starts}`;
    const process = new ModelProcess({ name, scheduler, faults, skewMs: scenario.clockSkewsMs[index] ?? 0 });
    const lateStatements = new Set(bug?.lateStatements ?? []);
    const db = databaseModel({ process, connections, faults, world: this.owner, lateStatements });
    const egress = this.receiver.egressOf(process);
    const processRandom = random.fork(`process ${name}`);
    const wiring = this.#wiring();
    const { nodes } = this;
    const chains = this.#configuredChains();
    scheduler.trace(`${name} started`);
    this.services[index] = startModel({
      process,
      db,
      chains,
      nodes,
      egress,
      random: processRandom,
      faults,
      log,
      wiring,
      hasLeaders: scenario.hasLeaders,
      scenario,
      models: this.models,
    });
    void process.killed.then(() => {
      this.services[index] = undefined;
      // Processes that start on a restored backup should soon meet transactions that it does not know.
      const isRestartFast = this.#areFaultsOver || scenario.restore?.waitsForUnknownTransaction === true;
      const wait = isRestartFast ? 500 : random.between(100, 15_000);
      scheduler.after(wait, this.owner, 'restart', () => this.startService(index));
    });
  }

  /** A running process that accepts requests. Undefined while there is none. */
  service(): ServiceModel | undefined {
    const running = this.services.filter((service) => service?.process.isAlive === true);
    return running.length === 0 ? undefined : this.options.random.pick(running);
  }

  async killProcesses(): Promise<void> {
    for (const service of this.services) await service?.process.kill();
  }

  /** Ends all faults, so that the service can finish its work. */
  endFaults(): void {
    this.#areFaultsOver = true;
    this.options.faults.end();
    for (const node of this.nodes) node.endFaults();
    for (const model of this.models) {
      // Drops the operator's pending transactions, because the following ones replace them.
      model.dropPending(operatorAddress);
      this.#fundVault(model);
    }
  }

  /** Sends an operator's transaction after their earlier ones. */
  sendAsOperator(model: ChainModel, to: Hex, data: Hex): void {
    this.#operatorTransactions += 1;
    const from = operatorAddress;
    const hash = modelHash(`operator ${model.chain.name} ${this.#operatorTransactions}`);
    const nonce = model.pendingNonce(from);
    model.submit({ from, to, data, hash, nonce, maxFee: 10n ** 30n, tip: 1n });
  }

  /** Removes the settlement token of all sessions from the configuration, or adds it back. Processes restart. */
  async setTokenDropped(isDropped: boolean): Promise<void> {
    if (this.#isTokenDropped === isDropped) return;
    this.#isTokenDropped = isDropped;
    await this.killProcesses();
  }

  #configuredChains(): Chains {
    const [first, ...others] = this.chains.all;
    if (!this.#isTokenDropped || first === undefined) return this.chains;
    return chainsOf([{ ...first, tokens: [] }, ...others]);
  }

  /** Schedules a reorg deeper than finality. */
  scheduleDeepReorg(): void {
    const { scenario, scheduler, random } = this.options;
    if (scenario.deepReorgMs === undefined) return;
    scheduler.after(scenario.deepReorgMs, this.owner, 'reorg below finality', () => {
      const model = random.pick(this.models);
      const depth = model.head.number - model.finalized.number;
      model.reorg(depth + random.between(1, 12), this.seconds());
    });
  }

  /** The operator sends float to a vault. */
  #fundVault(model: ChainModel): void {
    const { vault, tokens } = model.chain;
    const data = encodeFunctionData({ abi: transferAbi, functionName: 'transfer', args: [vault, unlimited] });
    for (const { address } of tokens) this.sendAsOperator(model, address, data);
  }

  reportViolation(text: string): void {
    if (this.violations.length < 20) this.violations.push(text);
  }

  #wiring(): Wiring {
    const normal: Wiring = {
      wallet: () => modelWallet,
      egress: (egress) => egress,
      reportsOutcomeOf: () => true,
    };
    return { ...normal, ...this.options.bug?.wiring?.(this.models) };
  }

  #scheduleNextBlock(model: ChainModel): void {
    const { scheduler, faults, random, scenario } = this.options;
    // Without faults, nothing can happen between two blocks. Short block times reach the end sooner.
    const usualMs = this.#areFaultsOver
      ? random.between(1_000, 2_000)
      : random.between(2_000, scenario.slowestBlockMs);
    scheduler.after(usualMs + this.#silenceMs(model), this.owner, `block ${model.chain.name}`, () => {
      const depth = model.head.number - model.finalized.number;
      if (depth > 0 && faults.occurs('reorg')) model.reorg(random.between(1, depth), this.seconds());
      else model.mine(Math.max(this.seconds(), model.head.timeSeconds + 1));
      for (const node of this.nodes) if (node.chain === model) node.updateFaults(scheduler.nowMs);
      scheduler.trace(`${model.chain.name} ${model.head.number} ${model.head.hash.slice(0, 10)}`);
      this.#scheduleNextBlock(model);
    });
  }

  /** Extra time until the next block. After a silence, blocks ask for fees far above earlier offers. */
  #silenceMs(model: ChainModel): number {
    const { faults, random, scenario } = this.options;
    // The check that a chain halts after a reorg below finality comes after a fixed time. The chain has to grow until
    // then.
    if (scenario.deepReorgMs !== undefined || !faults.occurs('chainSilent')) return 0;
    if (model.head.baseFee < maxBaseFeeBeforeJump) model.baseFeeFactor = BigInt(random.between(40, 100));
    return random.between(60_000, 150_000);
  }
}

/** A contract event in a canonical block. */
export interface ModelEvent {
  readonly model: ChainModel;
  readonly name: string;
  readonly orderId: Hex;
  readonly txHash: Hex;
  readonly block: ModelBlock;
  readonly isFinal: boolean;
}

/** All events of the canonical branches of all chains. */
export function modelEventsOf(world: World): ModelEvent[] {
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
