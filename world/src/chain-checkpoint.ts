import type { AnvilProcess } from './anvil-process.ts';
import type { ChainJournal, CommandRecord, JournalRecord } from './chain-journal.ts';
import { readBlock, replay } from './chain-replay.ts';

/** What a state dump does not hold. */
export interface Beside {
  /** Raw transactions by hash of which some wait for a block. */
  readonly unmined: ReadonlyMap<string, string>;
  /** Commands whose effect every later node needs too. */
  readonly lasting: readonly CommandRecord[];
  /** The command before this dump that the journal so far does not hold. */
  readonly apart: string | undefined;
}

/** A generation that has begun. */
export interface BegunGeneration {
  readonly number: number;
  readonly weight: number;
  readonly unmined: Map<string, string>;
}

/** Everything of a chain but what waits for a block. */
export const dumpState = async (anvil: AnvilProcess): Promise<Uint8Array> =>
  Buffer.from(String(await anvil.rpc('anvil_dumpState')).slice(2), 'hex');

const findWaiting = async (
  anvil: AnvilProcess,
  unmined: ReadonlyMap<string, string>,
): Promise<CommandRecord[]> => {
  const waiting: CommandRecord[] = [];
  for (const [hash, raw] of unmined) {
    const found = (await anvil.rpc('eth_getTransactionByHash', [hash])) as { blockHash: unknown } | null;
    if (found?.blockHash === null) waiting.push({ method: 'eth_sendRawTransaction', params: [raw] });
  }
  return waiting;
};

/**
 * Begins a generation with a state dump. What waits for a block opens its journal, and the living node, too, forgets
 * it and is sent it again. Otherwise it would know more than a node that is started from the dump: which transactions
 * could follow on one that a reorganisation took back. It would mine other ones, and a restart would change the chain.
 */
export const beginGeneration = async (
  anvil: AnvilProcess,
  journal: ChainJournal,
  dump: Uint8Array,
  { unmined, lasting, apart }: Beside,
): Promise<BegunGeneration> => {
  const { number, hash } = await readBlock(anvil, 'latest');
  const waiting = await findWaiting(anvil, unmined);
  const opening = [...lasting, { method: 'anvil_dropAllTransactions', params: [] }, ...waiting];
  const notes: JournalRecord[] = [
    ...(apart === undefined ? [] : [{ apart }]),
    { block: [Number(number), hash] },
  ];
  return {
    number: await journal.beginGeneration(dump, [...notes, ...opening]),
    weight: opening.length,
    unmined: await replay(anvil, opening),
  };
};
