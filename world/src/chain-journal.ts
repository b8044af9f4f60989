import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** A command that changed the chain, with its original parameters. */
export interface CommandRecord {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Mined blocks: the first one's time, their number, and the seconds between them. */
export interface MineRecord {
  readonly mine: readonly [firstSeconds: number, count: number, stepSeconds: number];
}

/** A block of the chain, against which a replay is checked. Its hash covers all earlier blocks. */
export interface BlockRecord {
  readonly block: readonly [number: number, hash: string];
}

/** The journal line of a command that the node refused: a replay omits it. */
export interface RefusalRecord {
  readonly refused: number;
}

/** Begins a snapshot that a replay of the previous one does not reproduce, and names the command that caused it. */
export interface DivergenceRecord {
  readonly apart: string;
}

/** A record that a replay repeats. */
export type ReplayRecord = CommandRecord | MineRecord;

/** One line of a journal. */
export type JournalRecord = ReplayRecord | BlockRecord | RefusalRecord | DivergenceRecord;

/** A state dump and the journal after it. */
export interface Snapshot {
  readonly number: number;
  /** Lines of the journal, refused ones and notes included. */
  readonly length: number;
  /** The commands and blocks executed, or about to be executed at the power cut. */
  readonly replayed: readonly ReplayRecord[];
  readonly blocks: readonly BlockRecord['block'][];
  readonly minedBlocks: number;
  /** Whether replaying the previous snapshot leads to this one's dump. */
  readonly isContinuation: boolean;
}

const pad = (snapshot: number): string => String(snapshot).padStart(8, '0');

const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
};

/** Writes a file completely or not at all: to a temporary file, to the disk, then renamed. */
export const writeAtomically = (path: string, data: string | Uint8Array, mode = 0o600): void => {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  const handle = openSync(draft, 'w', mode);
  try {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    let offset = 0;
    while (offset < bytes.length) offset += writeSync(handle, bytes, offset);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, path);
  syncFolder(join(path, '..'));
};

/** The number of blocks that these records mine. */
export const countMinedBlocks = (replayed: readonly ReplayRecord[]): number =>
  replayed.reduce((sum, change) => sum + ('mine' in change ? change.mine[1] : 0), 0);

/** The cost of a replay: one for each command and each block. */
export const replayCost = (replayed: readonly ReplayRecord[]): number =>
  replayed.reduce((sum, change) => sum + ('mine' in change ? change.mine[1] : 1), 0);

const composeSnapshot = (number: number, records: readonly JournalRecord[]): Snapshot => {
  const refused = new Set(records.flatMap((record) => ('refused' in record ? [record.refused] : [])));
  const replayed = records.flatMap((record, line) =>
    ('mine' in record || 'method' in record) && !refused.has(line) ? [record] : [],
  );
  return {
    ...{ number, length: records.length, replayed },
    blocks: records.flatMap((record) => ('block' in record ? [record.block] : [])),
    minedBlocks: countMinedBlocks(replayed),
    isContinuation: !records.some((record) => 'apart' in record),
  };
};

/**
 * The files of one chain by snapshot. `checkpoint-N.gz` is a state dump; snapshot 0 begins at genesis and has none.
 * `journal-N.ndjson` has every change since the dump, written to disk before it happens.
 */
export class ChainJournal implements AsyncDisposable {
  readonly #folder: string;
  #handle: FileHandle | undefined;
  #snapshot = 0;
  #length = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  #journalPath(snapshot: number): string {
    return join(this.#folder, `journal-${pad(snapshot)}.ndjson`);
  }

  /** The path of this snapshot's state dump; undefined for the one that begins at genesis. */
  checkpointPath(snapshot: number): string | undefined {
    return snapshot === 0 ? undefined : join(this.#folder, `checkpoint-${pad(snapshot)}.gz`);
  }

  /** Every snapshot on disk with its beginning, oldest first. */
  listSnapshots(): Snapshot[] {
    const numbers = readdirSync(this.#folder).flatMap((name) => {
      const match = /^journal-(\d+)\.ndjson$/.exec(name);
      return match?.[1] === undefined ? [] : [Number(match[1])];
    });
    const whole = numbers.filter((number) => {
      const path = this.checkpointPath(number);
      return path === undefined || existsSync(path);
    });
    return whole.sort((a, b) => a - b).map((number) => this.#read(number));
  }

  #read(number: number): Snapshot {
    const path = this.#journalPath(number);
    const text = readFileSync(path, 'utf8');
    // A line without its end was being written at the power cut; its command was not executed.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    const lines = whole.split('\n').filter((line) => line !== '');
    return composeSnapshot(
      number,
      lines.map((line) => JSON.parse(line) as JournalRecord),
    );
  }

  /** Continues the journal of this snapshot after `length` lines, or creates it. */
  async openSnapshot(snapshot: number, length: number): Promise<void> {
    await this.#handle?.close();
    this.#snapshot = snapshot;
    this.#length = length;
    this.#handle = await open(this.#journalPath(snapshot), 'a', 0o600);
    await this.#handle.sync();
    syncFolder(this.#folder);
  }

  /** Appends records, waits until they are on disk, and returns the line of the first. */
  async append(records: readonly JournalRecord[]): Promise<number> {
    const first = this.#length;
    if (records.length === 0) return first;
    await this.note(records);
    await this.#handle?.datasync();
    return first;
  }

  /** Appends records that may be lost at a power cut. */
  async note(records: readonly JournalRecord[]): Promise<void> {
    if (this.#handle === undefined) throw new Error('The journal is not open.');
    this.#length += records.length;
    await this.#handle.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** Begins a snapshot with a packed state dump and the records that follow it. */
  async beginSnapshot(packedState: Uint8Array, records: readonly JournalRecord[]): Promise<number> {
    const next = this.#snapshot + 1;
    const path = this.checkpointPath(next);
    if (path === undefined) throw new Error('Snapshot 0 has no state dump.');
    writeAtomically(path, packedState);
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    writeAtomically(this.#journalPath(next), text);
    await this.openSnapshot(next, records.length);
    return next;
  }

  /** Removes the snapshots before this one. */
  removeBefore(snapshot: number): void {
    for (const name of readdirSync(this.#folder)) {
      const match = /^(?:journal|checkpoint)-(\d+)\./.exec(name);
      if (match?.[1] !== undefined && Number(match[1]) < snapshot) rmSync(join(this.#folder, name));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }
}
