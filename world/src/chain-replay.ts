import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type AnvilProcess, launchAnvil, RpcError, STATE_HISTORY_BLOCKS } from './anvil-process.ts';
import {
  type ChainJournal,
  countMinedBlocks,
  type Generation,
  type JournalRecord,
  weighRecords,
} from './chain-journal.ts';
import { findFreePort } from './port.ts';

/** What it takes to bring a kept chain up. */
export interface BootOptions {
  readonly name: string;
  readonly chainId: number;
  readonly mnemonic: string;
  readonly stateFolder: string;
  readonly genesisSeconds: number;
  readonly log: (line: string) => void;
  /** Told of each anvil process, so that a later start can find it. */
  readonly onProcess: (pid: number) => void;
}

/** A node with the kept history, and where its journal stands. */
export interface BootedChain {
  readonly anvil: AnvilProcess;
  /** Whether nothing ever happened on this chain. */
  readonly isNew: boolean;
  readonly generation: number;
  readonly minedInGeneration: number;
  readonly minedInProcess: number;
  readonly weight: number;
  readonly headSeconds: number;
  /** Raw transactions by hash that the replay sent; some wait for a block still. */
  readonly unmined: Map<string, string>;
}

/** The part of a block that the keeper reads. */
export interface Block {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly transactions: readonly string[];
}

/** A block by its tag or number, with the hashes of its transactions. */
export const readBlock = async (anvil: AnvilProcess, tag: string): Promise<Block> => {
  const block = await anvil.rpc('eth_getBlockByNumber', [tag, false]);
  if (block === null) throw new Error(`There is no block ${tag}.`);
  return block as Block;
};

/** Mines blocks with the times of a journal's record. */
export const mineBlocks = async (
  anvil: AnvilProcess,
  [first, count, step]: readonly [firstSeconds: number, count: number, stepSeconds: number],
): Promise<void> => {
  for (let index = 0; index < count; index += 1) await anvil.rpc('evm_mine', [first + step * index]);
};

/** The generations to load: the newest, after the one before while the newest is too young to have states. */
const chooseGenerations = (journal: ChainJournal): Generation[] => {
  const all = journal.listGenerations();
  const newest = all.at(-1);
  const previous = all.at(-2);
  if (newest === undefined) return [];
  const isYoung = newest.minedBlocks < STATE_HISTORY_BLOCKS;
  return isYoung && previous?.number === newest.number - 1 ? [previous, newest] : [newest];
};

const replay = async (
  anvil: AnvilProcess,
  records: readonly JournalRecord[],
): Promise<{ unmined: Map<string, string>; expectedHead: string | undefined }> => {
  const unmined = new Map<string, string>();
  let expectedHead: string | undefined;
  for (const record of records) {
    if ('head' in record) expectedHead = record.head;
    else if ('mine' in record) {
      await mineBlocks(anvil, record.mine);
      expectedHead = undefined;
    } else {
      try {
        const answer = await anvil.rpc(record.method, record.params);
        if (record.method === 'eth_sendRawTransaction') unmined.set(String(answer), String(record.params[0]));
      } catch (error) {
        // It was refused the first time too: the journal holds what was asked, not what came of it.
        if (!(error instanceof RpcError)) throw error;
      }
    }
  }
  return { unmined, expectedHead };
};

const launchWithState = async (
  options: BootOptions,
  packedPath: string | undefined,
): Promise<AnvilProcess> => {
  const { chainId, mnemonic, genesisSeconds, stateFolder } = options;
  const statePath = join(stateFolder, 'state.json');
  const cacheFolder = join(stateFolder, 'cache');
  rmSync(cacheFolder, { recursive: true, force: true });
  if (packedPath !== undefined)
    writeFileSync(statePath, gunzipSync(readFileSync(packedPath)), { mode: 0o600 });
  const anvil = await launchAnvil({
    ...{ chainId, mnemonic, genesisSeconds, mining: 'manual', port: await findFreePort() },
    ...(packedPath === undefined ? {} : { loadStatePath: statePath }),
    logFile: join(stateFolder, 'anvil.log'),
    extraArguments: ['--cache-path', cacheFolder],
    onSpawn: options.onProcess,
  });
  rmSync(statePath, { force: true });
  return anvil;
};

/** Starts a node and brings it to where the journal ends. */
export const bootChain = async (journal: ChainJournal, options: BootOptions): Promise<BootedChain> => {
  const generations = chooseGenerations(journal);
  const newest = generations.at(-1);
  const base = generations[0]?.number ?? 0;
  const anvil = await launchWithState(options, journal.checkpointPath(base));
  try {
    const records = generations.flatMap((generation) => generation.records);
    const { unmined, expectedHead } = await replay(anvil, records);
    const head = await readBlock(anvil, 'latest');
    if (expectedHead !== undefined && expectedHead !== head.hash) {
      options.log(
        `${options.name}: the history came out otherwise: head ${head.hash} instead of ${expectedHead}.`,
      );
    }
    return {
      anvil,
      isNew: base === 0 && records.length === 0,
      generation: newest?.number ?? 0,
      minedInGeneration: newest?.minedBlocks ?? 0,
      minedInProcess: countMinedBlocks(records),
      weight: weighRecords(records),
      headSeconds: Number(head.timestamp),
      unmined,
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
};
