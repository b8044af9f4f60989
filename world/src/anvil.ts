import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AnvilRpc, launchAnvil, type Mining } from './anvil-process.ts';
import { closeChainDoor, openChainDoor } from './chain-door.ts';
import { ChainFaults } from './chain-faults.ts';
import { writeAtomically } from './chain-journal.ts';
import { ChainKeeper } from './chain-keeper.ts';
import { findFreePort, LOOPBACK } from './port.ts';

export type { AnvilRpc, Mining } from './anvil-process.ts';

/** A running local chain. */
export interface Anvil {
  readonly name: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  /** Pid of the present anvil process; a kept chain gets a new one when its node restarts. */
  readonly pid: number;
  readonly rpc: AnvilRpc;
  /** What its address does wrong on request. Only the address of a kept chain heeds them. */
  readonly faults: ChainFaults;
  /** Changes when blocks are mined. */
  setMining(mining: Mining): Promise<void>;
  /** Mines one block now; on a kept chain with the earliest possible time. */
  mine(): Promise<void>;
  stop(): Promise<void>;
}

/** The start options of a local chain. */
export interface AnvilOptions {
  readonly name: string;
  readonly chainId: number;
  /** Loopback port of the JSON-RPC address; a free one when absent. */
  readonly port?: number;
  /** Keeps the chain's history in this folder across kills and power cuts. Absent: no history is kept (tests). */
  readonly stateFolder?: string;
  /** Seconds between blocks, 1 when absent. 'automatic' mines with each transaction, 'manual' on demand. */
  readonly mining?: Mining;
  /** Words of the ten funded accounts. */
  readonly mnemonic?: string;
  /** Time of the first block, in seconds; a kept chain has its own. */
  readonly genesisSeconds?: number;
  /** Further arguments of anvil; only without a state folder. */
  readonly extraArguments?: readonly string[];
  readonly log?: (line: string) => void;
  /** Gets the pid of each anvil process of a kept chain. */
  readonly onProcess?: (pid: number) => void;
}

/** anvil's own mnemonic, for tests; a world draws its own. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk';
/** Time in the past for the set-up blocks, each of which takes one second of chain time. */
const SETUP_SECONDS = 600;

const startUnkept = async (options: AnvilOptions, port: number, mining: Mining): Promise<Anvil> => {
  const { name, chainId, mnemonic = TEST_MNEMONIC, extraArguments = [] } = options;
  const genesisSeconds = options.genesisSeconds ?? Math.floor(Date.now() / 1_000) - 1;
  const anvil = await launchAnvil({ chainId, port, mnemonic, mining, genesisSeconds, extraArguments });
  const { rpc, pid, stop } = anvil;
  return {
    ...{ name, chainId, rpcUrl: `http://${LOOPBACK}:${port}`, pid, rpc, stop },
    faults: new ChainFaults(),
    async setMining(next) {
      const isAutomatic = next === 'automatic';
      await rpc('evm_setIntervalMining', [typeof next === 'string' ? 0 : next.seconds]);
      if (typeof next === 'string') await rpc('evm_setAutomine', [isAutomatic]);
    },
    async mine() {
      await rpc('evm_mine');
    },
  };
};

const keepGenesisTime = (stateFolder: string, given: number | undefined): number => {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  const path = join(stateFolder, 'genesis.json');
  if (existsSync(path)) {
    const { genesisSeconds } = JSON.parse(readFileSync(path, 'utf8')) as { genesisSeconds: number };
    return genesisSeconds;
  }
  const genesisSeconds = given ?? Math.floor(Date.now() / 1_000) - SETUP_SECONDS;
  writeAtomically(path, `${JSON.stringify({ genesisSeconds })}\n`);
  return genesisSeconds;
};

const startKept = async (
  options: AnvilOptions,
  stateFolder: string,
  port: number,
  mining: Mining,
): Promise<Anvil> => {
  const { name, chainId, mnemonic = TEST_MNEMONIC } = options;
  if (options.extraArguments !== undefined) throw new Error('A kept chain takes no further arguments.');
  const log = options.log ?? ((): void => undefined);
  const onProcess = options.onProcess ?? ((): void => undefined);
  const genesisSeconds = keepGenesisTime(stateFolder, options.genesisSeconds);
  const keeper = new ChainKeeper({
    name,
    chainId,
    mnemonic,
    stateFolder,
    genesisSeconds,
    mining,
    log,
    onProcess,
  });
  await keeper.open();
  const faults = new ChainFaults();
  const door = await openChainDoor(keeper, faults, port).catch(async (error: unknown) => {
    await keeper[Symbol.asyncDispose]();
    throw error;
  });
  return {
    ...{ name, chainId, rpcUrl: `http://${LOOPBACK}:${port}`, faults },
    get pid() {
      return keeper.pid;
    },
    rpc: (method, params = []) => keeper.call(method, params),
    setMining: async (next) => keeper.setMining(next),
    mine: () => keeper.mineEarly(),
    async stop() {
      faults.end();
      await closeChainDoor(door);
      await keeper[Symbol.asyncDispose]();
    },
  };
};

/**
 * Starts a local chain: one block a second, `finalized` six blocks behind, hard fork Prague, loopback only. With a
 * state folder it keeps its whole history, hash for hash, even after SIGKILL of the node or of this process.
 */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  const port = options.port ?? (await findFreePort());
  const mining = options.mining ?? { seconds: 1 };
  if (options.stateFolder === undefined) return startUnkept(options, port, mining);
  return startKept(options, options.stateFolder, port, mining);
};
