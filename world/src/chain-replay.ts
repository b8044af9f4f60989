import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type AnvilProcess, AnvilRpcError, launchAnvil, STATE_HISTORY_BLOCKS } from './anvil-process.ts';
import {
  type BlockRecord,
  type ChainJournal,
  type CommandRecord,
  countMinedBlocks,
  type ReplayRecord,
  replayCost,
  type Snapshot,
} from './chain-journal.ts';
import { isLasting } from './chain-method.ts';
import { findFreePort } from './port.ts';

/**
 * Prague's contract of past block hashes (EIP-2935). With its 8,191 slots anvil takes 10 ms per block, which makes a
 * replay take minutes; without its code 0.5 ms. The local world does not read it.
 */
export const BLOCK_HASH_CONTRACT = '0x0000F90827F1C53a10cb7A02335B175320002935';

/** The dependencies of starting a kept chain. */
export interface BootOptions {
  readonly name: string;
  readonly chainId: number;
  readonly mnemonic: string;
  readonly stateFolder: string;
  readonly genesisSeconds: number;
  readonly log: (line: string) => void;
  /** Gets the pid of each anvil process, so that a later start can find it. */
  readonly onProcess: (pid: number) => void;
}

/** A node with the kept history, and the state of its journal. */
export interface BootedChain {
  readonly anvil: AnvilProcess;
  /** Whether the chain is unused. */
  readonly isNew: boolean;
  readonly snapshot: number;
  readonly journalLength: number;
  readonly minedInSnapshot: number;
  readonly minedInProcess: number;
  readonly weight: number;
  readonly headSeconds: number;
  /** Raw transactions by hash that the replay sent; some are still pending. */
  readonly unmined: Map<string, string>;
  /** Commands whose effect every later node needs. */
  readonly lasting: readonly CommandRecord[];
}

/** The part of a block that the keeper reads. */
export interface AnvilBlock {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly transactions: readonly string[];
}

/** A block by its tag or number, with the hashes of its transactions. */
export const readBlock = async (anvil: AnvilProcess, tag: string): Promise<AnvilBlock> => {
  const block = await anvil.rpc('eth_getBlockByNumber', [tag, false]);
  if (block === null) throw new Error(`There is no block ${tag}.`);
  return block as AnvilBlock;
};

/** Mines blocks with the times of a journal's record. */
export const mineBlocks = async (
  anvil: AnvilProcess,
  [first, count, step]: readonly [firstSeconds: number, count: number, stepSeconds: number],
): Promise<void> => {
  for (let index = 0; index < count; index += 1) await anvil.rpc('evm_mine', [first + step * index]);
};

/** The snapshots to load: the newest, preceded by the one before while the newest has too few states. */
const chooseSnapshots = (journal: ChainJournal): Snapshot[] => {
  const all = journal.listSnapshots();
  const newest = all.at(-1);
  const previous = all.at(-2);
  if (newest === undefined) return [];
  const isYoung = newest.minedBlocks < STATE_HISTORY_BLOCKS;
  const isNext = previous?.number === newest.number - 1 && newest.isContinuation;
  return isYoung && isNext ? [previous, newest] : [newest];
};

/** The raw text of sent transactions by hash, because state dumps lack pending ones. */
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

/** Replays a journal on a node, and returns the raw transactions that it sent, by hash. */
export const replay = async (
  anvil: AnvilProcess,
  replayed: readonly ReplayRecord[],
): Promise<Map<string, string>> => {
  const unmined = new Map<string, string>();
  for (const change of replayed) {
    try {
      if ('mine' in change) await mineBlocks(anvil, change.mine);
      else {
        const sent = await readSent(anvil, change, await anvil.rpc(change.method, change.params));
        if (sent !== undefined) unmined.set(...sent);
      }
    } catch (error) {
      // The node also refused it the first time, but the power failed before the journal recorded that. Or it is
      // already pending, where one journal ends with the transaction that the next begins with. A resulting difference
      // in blocks is reported below.
      if (!(error instanceof AnvilRpcError)) throw error;
    }
  }
  return unmined;
};

/** Checks that the chain has its old blocks, and reports the first one that differs. */
const compareBlocks = async (
  anvil: AnvilProcess,
  blocks: readonly BlockRecord['block'][],
  { name, log }: BootOptions,
): Promise<void> => {
  const find = async ([number]: BlockRecord['block']): Promise<string> => {
    const block = await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
    return (block as AnvilBlock | null)?.hash ?? 'no block';
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

/** Starts a node and replays its journal to the end. */
export const bootChain = async (journal: ChainJournal, options: BootOptions): Promise<BootedChain> => {
  const snapshots = chooseSnapshots(journal);
  const newest = snapshots.at(-1);
  const base = snapshots[0]?.number ?? 0;
  const anvil = await launchWithState(options, journal.checkpointPath(base));
  try {
    const replayed = snapshots.flatMap((snapshot) => snapshot.replayed);
    const unmined = await replay(anvil, replayed);
    await compareBlocks(
      anvil,
      snapshots.flatMap(({ blocks }) => blocks),
      options,
    );
    return {
      anvil,
      isNew: base === 0 && replayed.length === 0,
      snapshot: newest?.number ?? 0,
      journalLength: newest?.length ?? 0,
      minedInSnapshot: newest?.minedBlocks ?? 0,
      minedInProcess: countMinedBlocks(replayed),
      weight: replayCost(replayed),
      headSeconds: Number((await readBlock(anvil, 'latest')).timestamp),
      unmined,
      // Each snapshot begins with those of the earlier ones.
      lasting: (newest?.replayed ?? []).flatMap((change) =>
        'method' in change && isLasting(change.method) ? [change] : [],
      ),
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
};
