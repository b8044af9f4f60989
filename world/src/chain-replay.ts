import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type AnvilProcess, launchAnvil, RpcError, STATE_HISTORY_BLOCKS } from './anvil-process.ts';
import {
  type BlockRecord,
  type ChainJournal,
  type CommandRecord,
  countMinedBlocks,
  type DeedRecord,
  type Generation,
  weighDeeds,
} from './chain-journal.ts';
import { isLasting } from './chain-method.ts';
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
  readonly journalLength: number;
  readonly minedInGeneration: number;
  readonly minedInProcess: number;
  readonly weight: number;
  readonly headSeconds: number;
  /** Raw transactions by hash that the replay sent; some wait for a block still. */
  readonly unmined: Map<string, string>;
  /** Commands whose effect every later node needs too. */
  readonly lasting: readonly CommandRecord[];
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
  const isNext = previous?.number === newest.number - 1 && newest.isContinuation;
  return isYoung && isNext ? [previous, newest] : [newest];
};

/** Raw text of a sent transaction by its hash, for what waits for a block is in no state dump. */
export const readSent = async (
  anvil: AnvilProcess,
  { method, params }: CommandRecord,
  answer: unknown,
): Promise<readonly [hash: string, raw: string] | undefined> => {
  if (method === 'eth_sendRawTransaction') return [String(answer), String(params[0])];
  if (method !== 'eth_sendTransaction') return undefined;
  const raw = await anvil.rpc('eth_getRawTransactionByHash', [answer]);
  return typeof raw === 'string' ? [String(answer), raw] : undefined;
};

/** Does on a node what a journal holds, and gives the raw transactions that it sent, by hash. */
export const replay = async (
  anvil: AnvilProcess,
  deeds: readonly DeedRecord[],
): Promise<Map<string, string>> => {
  const unmined = new Map<string, string>();
  for (const deed of deeds) {
    try {
      if ('mine' in deed) await mineBlocks(anvil, deed.mine);
      else {
        const sent = await readSent(anvil, deed, await anvil.rpc(deed.method, deed.params));
        if (sent !== undefined) unmined.set(...sent);
      }
    } catch (error) {
      // It was refused the first time too, but the power went before the journal could say so; or it waits already,
      // where the journal before ends with what this one begins with. Blocks that differ for it are told of below.
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return unmined;
};

/** Looks whether the chain has the blocks that it had, and tells of the first that is another. */
const compareBlocks = async (
  anvil: AnvilProcess,
  blocks: readonly BlockRecord['block'][],
  { name, log }: BootOptions,
): Promise<void> => {
  const find = async ([number]: BlockRecord['block']): Promise<string> => {
    const block = await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
    return (block as Block | null)?.hash ?? 'no block';
  };
  const last = blocks.at(-1);
  if (last === undefined || (await find(last)) === last[1]) return;
  for (const block of blocks) {
    const hash = await find(block);
    if (hash === block[1]) continue;
    log(
      `! ${name}: its history has changed. Block ${block[0]} was ${block[1]} and came back as ${hash}. If it was final, ` +
        'the service halts this chain: docs/runbook/chain-halted.md says how to go on.',
    );
    return;
  }
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
    const deeds = generations.flatMap((generation) => generation.deeds);
    const unmined = await replay(anvil, deeds);
    await compareBlocks(
      anvil,
      generations.flatMap(({ blocks }) => blocks),
      options,
    );
    return {
      anvil,
      isNew: base === 0 && deeds.length === 0,
      generation: newest?.number ?? 0,
      journalLength: newest?.length ?? 0,
      minedInGeneration: newest?.minedBlocks ?? 0,
      minedInProcess: countMinedBlocks(deeds),
      weight: weighDeeds(deeds),
      headSeconds: Number((await readBlock(anvil, 'latest')).timestamp),
      unmined,
      // Each generation begins with those of the ones before it.
      lasting: (newest?.deeds ?? []).flatMap((deed) =>
        'method' in deed && isLasting(deed.method) ? [deed] : [],
      ),
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
};
