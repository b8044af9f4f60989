import { setTimeout as sleep } from 'node:timers/promises';
import { type AnvilProcess, AnvilRpcError, type Mining, STATE_HISTORY_BLOCKS } from './anvil-process.ts';
import { beginSnapshot, dumpState } from './chain-checkpoint.ts';
import { ChainClock } from './chain-clock.ts';
import {
  ChainJournal,
  type CommandRecord,
  countMinedBlocks,
  type ReplayRecord,
  replayCost,
} from './chain-journal.ts';
import { classifyMethod, isLasting, readMineRequest, readMiningMode } from './chain-method.ts';
import {
  BLOCK_HASH_CONTRACT,
  type BootedChain,
  type BootOptions,
  bootChain,
  mineBlocks,
  readBlock,
  readSent,
} from './chain-replay.ts';
import { readStartLimit } from './start-limit.ts';

/** The dependencies of the keeper of a chain. */
export interface KeeperOptions extends BootOptions {
  readonly mining: Mining;
}

/** Work that changes the chain. */
interface Task {
  /** The journal record before the change; undefined when a state dump holds its outcome. */
  readonly prepare: () => ReplayRecord | undefined;
  readonly run: (anvil: AnvilProcess, change: ReplayRecord | undefined) => Promise<unknown>;
  /** Stores the result after the node executed it, before the caller gets the answer. */
  readonly keep: (anvil: AnvilProcess, change: ReplayRecord | undefined, answer: unknown) => Promise<void>;
  readonly isExclusive: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const BATCH_LIMIT = 128;
const MINE_LIMIT = 100_000;
/** Replaying one block or command takes about a millisecond, so this bounds a restart. */
const CHECKPOINT_WEIGHT = 600;
/** A dump grows with the chain, so dumps take at most this part of the time. */
const CHECKPOINT_PAUSE_FACTOR = 50;
/** After this many blocks a node uses twice the memory of a fresh one with the same history. */
const PROCESS_BLOCK_LIMIT = 20_000;
const RESTART_PAUSES_MS = [50, 500, 2_000, 5_000] as const;

/**
 * Keeps a chain when its node dies. A killed anvil loses everything, but the same commands and block times give the
 * same blocks, hash for hash. So the keeper times and mines every block itself, and writes each change to a journal
 * before making it. A new node starts from the last state dump and replays the journal. A node that may differ from the
 * journal is replaced.
 */
export class ChainKeeper implements AsyncDisposable {
  readonly #options: KeeperOptions;
  readonly #journal: ChainJournal;
  readonly #tasks: Task[] = [];
  #unmined = new Map<string, string>();
  readonly #lasting = new Map<string, CommandRecord>();
  #anvil: AnvilProcess | undefined;
  #clock = new ChainClock(0);
  #mining: Mining;
  #ticker: NodeJS.Timeout | undefined;
  #isDraining = false;
  #isClosing = false;
  #isRenewing = false;
  #snapshot = 0;
  #weight = 0;
  #minedInSnapshot = 0;
  #minedInProcess = 0;
  #lastDumpMs = 0;
  #lastDumpEnd = performance.now();
  #restarting: Promise<void> | undefined;
  #batch: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#mining = options.mining;
    this.#journal = new ChainJournal(options.stateFolder);
  }

  /** Pid of the node at present. */
  get pid(): number {
    return this.#anvil?.pid ?? 0;
  }

  /** Starts the node with the kept history and begins to mine. */
  async open(): Promise<void> {
    const { isNew } = await this.#boot();
    if (isNew) await this.#runCommand('anvil_setCode', [BLOCK_HASH_CONTRACT, '0x']);
    this.#scheduleTick();
  }

  /** Answers one call. Reads go straight to the node; other calls are queued and journaled. */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const kind = classifyMethod(method);
    const name = method.replace(/^[a-z]+_/, '');
    if (kind === 'refused') throw new AnvilRpcError(-32601, `The local chain does not offer ${method}.`);
    if (kind === 'read') return (await this.ready()).rpc(method, params);
    if (kind === 'clock') return this.#clock.control(name, params);
    if (kind === 'mining-mode') {
      this.setMining(readMiningMode(name, params[0]));
      return null;
    }
    if (kind === 'mine') return this.#mineOnRequest(method, params);
    if (kind === 'irreproducible') return this.#runIrreproducible(method, params);
    return this.#runCommand(method, params);
  }

  /** Forwards reads unchanged. */
  async forward(body: Buffer): Promise<Buffer> {
    return (await this.ready()).forward(body);
  }

  /** The running node; waits while it restarts. */
  async ready(): Promise<AnvilProcess> {
    if (this.#restarting !== undefined) {
      await Promise.race([this.#restarting, sleep(readStartLimit().ms, undefined, { ref: false })]);
    }
    if (this.#anvil === undefined)
      throw new AnvilRpcError(-32603, `The chain ${this.#options.name} is not running.`);
    return this.#anvil;
  }

  /** Changes when blocks are mined. */
  setMining(mining: Mining): void {
    this.#mining = mining;
    clearTimeout(this.#ticker);
    this.#scheduleTick();
  }

  /** Mines one block at the earliest time, so that set-up does not move the chain into the future. */
  async mineEarly(): Promise<void> {
    await this.#mine(() => this.#clock.takeEarliest());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#ticker);
    await this.#restarting;
    // The journal on disk is always complete, so there is nothing to save.
    await this.#anvil?.stop();
    await this.#journal[Symbol.asyncDispose]();
  }

  #scheduleTick(): void {
    if (typeof this.#mining === 'string' || this.#isClosing) return;
    const periodMs = this.#mining.seconds * 1_000;
    // Just after the full second, so that successive blocks have successive times.
    const pauseMs = periodMs - ((Date.now() - 20) % periodMs);
    this.#ticker = setTimeout(() => {
      if (this.#anvil === undefined) {
        this.#scheduleTick();
        return;
      }
      this.#mine(() => this.#clock.take(1, undefined))
        .catch((error: unknown) => this.#report('a block was not mined', error))
        .finally(() => this.#scheduleTick());
    }, pauseMs);
  }

  #report(what: string, error: unknown): void {
    if (this.#isClosing) return;
    this.#options.log(
      `${this.#options.name}: ${what}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  #enqueue(task: Pick<Task, 'prepare' | 'run' | 'keep'>, isExclusive = false): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#tasks.push({ ...task, isExclusive, resolve, reject });
      void this.#drain();
    });
  }

  /** Journals many tasks in one write, then executes them in order. */
  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (this.#tasks.length > 0) {
        const end = this.#tasks.findIndex(({ isExclusive }) => isExclusive);
        const size = end === 0 ? 1 : Math.min(end === -1 ? BATCH_LIMIT : end, BATCH_LIMIT);
        const batch = this.#tasks.splice(0, size);
        // Waits here and not in the batch, because a restart waits until no batch runs.
        const anvil = await this.ready().catch((error: unknown) => {
          for (const task of batch) task.reject(error);
        });
        if (anvil === undefined) continue;
        this.#batch = this.#runBatch(anvil, batch);
        await this.#batch;
      }
    } finally {
      this.#isDraining = false;
    }
  }

  async #runBatch(anvil: AnvilProcess, batch: readonly Task[]): Promise<void> {
    try {
      const prepared = batch.flatMap((task) => {
        try {
          return [{ task, change: task.prepare() }];
        } catch (error) {
          task.reject(error);
          return [];
        }
      });
      const replayed = prepared.flatMap(({ change }) => (change === undefined ? [] : [change]));
      let line = await this.#journal.append(replayed);
      this.#count(replayed);
      for (const { task, change } of prepared) {
        await this.#runTask(anvil, task, change, line);
        if (change !== undefined) line += 1;
      }
      if (this.#isCheckpointDue()) await this.#checkpointOrReport(anvil);
    } catch (error) {
      for (const task of batch) task.reject(error);
      // The node and the journal may differ: a fresh node follows the journal.
      await anvil.stop();
    }
  }

  /** Executes one task, and records a refusal by the node. After any other failure the node's state is unknown. */
  async #runTask(
    anvil: AnvilProcess,
    task: Task,
    change: ReplayRecord | undefined,
    line: number,
  ): Promise<void> {
    let answer: unknown;
    try {
      answer = await task.run(anvil, change);
    } catch (error) {
      if (!(error instanceof AnvilRpcError)) throw error;
      // A change that only a dump can hold may have happened before the refusal.
      if (change === undefined) await task.keep(anvil, change, undefined);
      else await this.#journal.note([{ refused: line }]);
      task.reject(error);
      return;
    }
    await task.keep(anvil, change, answer);
    task.resolve(answer);
  }

  #count(replayed: readonly ReplayRecord[]): void {
    const blocks = countMinedBlocks(replayed);
    this.#weight += replayCost(replayed);
    this.#minedInSnapshot += blocks;
    this.#minedInProcess += blocks;
    if (this.#snapshot > 0 && this.#minedInSnapshot > STATE_HISTORY_BLOCKS) {
      this.#journal.removeBefore(this.#snapshot);
    }
  }

  async #mine(take: () => readonly [number, number, number]): Promise<void> {
    await this.#enqueue({
      prepare: () => ({ mine: take() }),
      run: async (anvil, change) => {
        if (change !== undefined && 'mine' in change) await mineBlocks(anvil, change.mine);
      },
      keep: async (anvil) => {
        const head = await readBlock(anvil, 'latest');
        for (const hash of head.transactions) this.#unmined.delete(hash);
        await this.#journal.note([{ block: [Number(head.number), head.hash] }]);
      },
    });
  }

  async #mineOnRequest(method: string, params: readonly unknown[]): Promise<unknown> {
    const { count, at, step } = readMineRequest(method, params);
    if (count > MINE_LIMIT) throw new AnvilRpcError(-32602, `At most ${MINE_LIMIT} blocks at once.`);
    if (count > 0) {
      await this.#mine(() => {
        if (at !== undefined) this.#clock.control('setNextBlockTimestamp', [at]);
        return this.#clock.take(count, step);
      });
    }
    return method.startsWith('evm_') ? '0x0' : null;
  }

  async #runCommand(method: string, params: readonly unknown[]): Promise<unknown> {
    const command: CommandRecord = { method, params };
    const result = await this.#enqueue({
      prepare: () => command,
      run: (anvil) => anvil.rpc(method, params),
      keep: async (anvil, _change, answer) => {
        const sent = await readSent(anvil, command, answer);
        if (sent !== undefined) this.#unmined.set(...sent);
        if (isLasting(method)) this.#keepLasting(command);
      },
    });
    if (this.#mining === 'automatic' && method.startsWith('eth_')) await this.mineEarly();
    return result;
  }

  #keepLasting(command: CommandRecord): void {
    const key = JSON.stringify(command);
    // The repeated command moves to the end: commands in between may have undone it.
    this.#lasting.delete(key);
    this.#lasting.set(key, command);
  }

  async #runIrreproducible(method: string, params: readonly unknown[]): Promise<unknown> {
    const keep = async (anvil: AnvilProcess): Promise<void> => {
      await this.#checkpoint(anvil, await dumpState(anvil), method);
      this.#journal.removeBefore(this.#snapshot);
      this.#clock.follow(Number((await readBlock(anvil, 'latest')).timestamp));
    };
    const run = (anvil: AnvilProcess): Promise<unknown> => anvil.rpc(method, params);
    return this.#enqueue({ prepare: () => undefined, run, keep }, true);
  }

  #isCheckpointDue(): boolean {
    const pauseMs = performance.now() - this.#lastDumpEnd;
    return this.#weight >= CHECKPOINT_WEIGHT && pauseMs >= this.#lastDumpMs * CHECKPOINT_PAUSE_FACTOR;
  }

  async #checkpointOrReport(anvil: AnvilProcess): Promise<void> {
    const begin = performance.now();
    let dump: Uint8Array;
    try {
      dump = await dumpState(anvil);
    } catch (error) {
      // The journal continues without a dump; the next dump is tried later.
      this.#lastDumpEnd = performance.now();
      this.#report('its state was not dumped', error);
      return;
    }
    await this.#checkpoint(anvil, dump);
    this.#lastDumpMs = this.#lastDumpEnd - begin;
    if (this.#minedInProcess >= PROCESS_BLOCK_LIMIT) await this.#renew(anvil);
  }

  /** Begins a snapshot; `apart` names the earlier command that the journal so far lacks. */
  async #checkpoint(anvil: AnvilProcess, dump: Uint8Array, apart?: string): Promise<void> {
    const outsideDump = { unmined: this.#unmined, lasting: [...this.#lasting.values()], apart };
    const { number, weight, unmined } = await beginSnapshot(anvil, this.#journal, dump, outsideDump);
    this.#snapshot = number;
    this.#weight = weight;
    this.#unmined = unmined;
    this.#minedInSnapshot = 0;
    this.#lastDumpEnd = performance.now();
  }

  async #boot(): Promise<BootedChain> {
    const booted = await bootChain(this.#journal, this.#options);
    const { anvil, snapshot } = booted;
    await this.#journal.openSnapshot(snapshot, booted.journalLength);
    this.#clock = new ChainClock(booted.headSeconds);
    this.#snapshot = snapshot;
    this.#minedInSnapshot = booted.minedInSnapshot;
    this.#minedInProcess = booted.minedInProcess;
    this.#weight = booted.weight;
    this.#unmined = booted.unmined;
    this.#lasting.clear();
    for (const command of booted.lasting) this.#keepLasting(command);
    this.#anvil = anvil;
    void anvil.exited.then(() => this.#onExit(anvil));
    return booted;
  }

  /** Replaces the node by a fresh one with the same history. */
  async #renew(anvil: AnvilProcess): Promise<void> {
    this.#isRenewing = true;
    await anvil.stop();
  }

  #onExit(anvil: AnvilProcess): void {
    if (this.#isClosing || this.#anvil !== anvil) return;
    this.#anvil = undefined;
    this.#restarting = this.#restart().finally(() => {
      this.#restarting = undefined;
    });
  }

  async #restart(): Promise<void> {
    for (let attempt = 0; !this.#isClosing; attempt += 1) {
      await sleep(RESTART_PAUSES_MS[Math.min(attempt, RESTART_PAUSES_MS.length - 1)] ?? 0);
      const begin = performance.now();
      try {
        // A running batch must reach the journal before it is read.
        await this.#batch;
        await this.#boot();
        const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
        const { log, name } = this.#options;
        if (!this.#isRenewing)
          log(`${name}: its node had ended and runs again with its history (${seconds} s).`);
        this.#isRenewing = false;
        return;
      } catch (error) {
        this.#report('its node does not start again', error);
      }
    }
  }
}
