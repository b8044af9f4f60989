import type { AnvilProcess } from './anvil-process.ts';
import type { ChainJournal, CommandRecord, JournalRecord } from './chain-journal.ts';
import { readBlock, replay } from './chain-replay.ts';

/** The state that a dump lacks. */
export interface StateOutsideDump {
  /** Raw transactions by hash, some of which are pending. */
  readonly unmined: ReadonlyMap<string, string>;
  /** Commands whose effect every later node needs. */
  readonly lasting: readonly CommandRecord[];
  /** The command before this dump that the journal so far lacks. */
  readonly apart: string | undefined;
}

/** A new snapshot. */
export interface NewSnapshot {
  readonly number: number;
  readonly weight: number;
  readonly unmined: Map<string, string>;
}

/** The whole state of a chain except pending transactions. */
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
 * Begins a snapshot with a state dump. Pending transactions open its journal, and the running node drops them and
 * gets them again. Otherwise the running node would know more than a node that starts from the dump: the transactions
 * that follow one removed by a reorg. It would mine other blocks, and a restart would change the chain.
 */
export const beginSnapshot = async (
  anvil: AnvilProcess,
  journal: ChainJournal,
  dump: Uint8Array,
  { unmined, lasting, apart }: StateOutsideDump,
): Promise<NewSnapshot> => {
  const { number, hash } = await readBlock(anvil, 'latest');
  const waiting = await findWaiting(anvil, unmined);
  const opening = [...lasting, { method: 'anvil_dropAllTransactions', params: [] }, ...waiting];
  const notes: JournalRecord[] = [
    ...(apart === undefined ? [] : [{ apart }]),
    { block: [Number(number), hash] },
  ];
  return {
    number: await journal.beginSnapshot(dump, [...notes, ...opening]),
    weight: opening.length,
    unmined: await replay(anvil, opening),
  };
};
