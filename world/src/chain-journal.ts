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

/** A command that changed the chain, as it was given. */
export interface CommandRecord {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Blocks that were mined: the first one's time, how many, and the seconds between them. */
export interface MineRecord {
  readonly mine: readonly [firstSeconds: number, count: number, stepSeconds: number];
}

/** A block that the chain had, against which a replay is checked; its hash covers the blocks before it. */
export interface BlockRecord {
  readonly block: readonly [number: number, hash: string];
}

/** The line of this journal whose command the node refused: a replay leaves it out. */
export interface RefusalRecord {
  readonly refused: number;
}

/** Begins a generation that repeating the one before it does not lead to, and names the command that is why. */
export interface ApartRecord {
  readonly apart: string;
}

/** What a replay repeats. */
export type DeedRecord = CommandRecord | MineRecord;

/** One line of a journal. */
export type JournalRecord = DeedRecord | BlockRecord | RefusalRecord | ApartRecord;

/** A state dump and the journal of what came after it. */
export interface Generation {
  readonly number: number;
  /** Lines of the journal, refused ones and notes included. */
  readonly length: number;
  /** What was done, or was about to be done when the power went. */
  readonly deeds: readonly DeedRecord[];
  readonly blocks: readonly BlockRecord['block'][];
  readonly minedBlocks: number;
  /** Whether repeating the generation before leads to this one's dump. */
  readonly isContinuation: boolean;
}

const pad = (generation: number): string => String(generation).padStart(8, '0');

const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
};

/** Writes a file whole or not at all: beside its place, to the disk, then renamed. */
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

/** The blocks that these deeds mine. */
export const countMinedBlocks = (deeds: readonly DeedRecord[]): number =>
  deeds.reduce((sum, deed) => sum + ('mine' in deed ? deed.mine[1] : 0), 0);

/** How much work a replay of these deeds is: one for each command and each block. */
export const weighDeeds = (deeds: readonly DeedRecord[]): number =>
  deeds.reduce((sum, deed) => sum + ('mine' in deed ? deed.mine[1] : 1), 0);

const composeGeneration = (number: number, records: readonly JournalRecord[]): Generation => {
  const refused = new Set(records.flatMap((record) => ('refused' in record ? [record.refused] : [])));
  const deeds = records.flatMap((record, line) =>
    ('mine' in record || 'method' in record) && !refused.has(line) ? [record] : [],
  );
  return {
    ...{ number, length: records.length, deeds },
    blocks: records.flatMap((record) => ('block' in record ? [record.block] : [])),
    minedBlocks: countMinedBlocks(deeds),
    isContinuation: !records.some((record) => 'apart' in record),
  };
};

/**
 * The files of one chain: generations of `checkpoint-N.gz` (a state dump; generation 0 begins at genesis and
 * has none) and `journal-N.ndjson` (every change since, on the disk before it is made).
 */
export class ChainJournal implements AsyncDisposable {
  readonly #folder: string;
  #handle: FileHandle | undefined;
  #generation = 0;
  #length = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  #journalPath(generation: number): string {
    return join(this.#folder, `journal-${pad(generation)}.ndjson`);
  }

  /** Where this generation's state dump is, or undefined for the one that begins at genesis. */
  checkpointPath(generation: number): string | undefined {
    return generation === 0 ? undefined : join(this.#folder, `checkpoint-${pad(generation)}.gz`);
  }

  /** Every generation on the disk whose beginning is there, oldest first. */
  listGenerations(): Generation[] {
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

  #read(number: number): Generation {
    const path = this.#journalPath(number);
    const text = readFileSync(path, 'utf8');
    // A line without its end was being written when the power went; nothing was done for it yet.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    const lines = whole.split('\n').filter((line) => line !== '');
    return composeGeneration(
      number,
      lines.map((line) => JSON.parse(line) as JournalRecord),
    );
  }

  /** Continues the journal of this generation, which has so many lines, making it when it is not there. */
  async openGeneration(generation: number, length: number): Promise<void> {
    await this.#handle?.close();
    this.#generation = generation;
    this.#length = length;
    this.#handle = await open(this.#journalPath(generation), 'a', 0o600);
    await this.#handle.sync();
    syncFolder(this.#folder);
  }

  /** Adds records, waits until the disk has them and gives the line of the first. */
  async append(records: readonly JournalRecord[]): Promise<number> {
    const first = this.#length;
    if (records.length === 0) return first;
    await this.note(records);
    await this.#handle?.datasync();
    return first;
  }

  /** Adds records that may be lost at a power cut. */
  async note(records: readonly JournalRecord[]): Promise<void> {
    if (this.#handle === undefined) throw new Error('The journal is not open.');
    this.#length += records.length;
    await this.#handle.appendFile(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** Begins a generation with a packed state dump and the records that belong on top of it. */
  async beginGeneration(packedState: Uint8Array, records: readonly JournalRecord[]): Promise<number> {
    const next = this.#generation + 1;
    const path = this.checkpointPath(next);
    if (path === undefined) throw new Error('Generation 0 has no state dump.');
    writeAtomically(path, packedState);
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    writeAtomically(this.#journalPath(next), text);
    await this.openGeneration(next, records.length);
    return next;
  }

  /** Removes the generations before this one. */
  removeBefore(generation: number): void {
    for (const name of readdirSync(this.#folder)) {
      const match = /^(?:journal|checkpoint)-(\d+)\./.exec(name);
      if (match?.[1] !== undefined && Number(match[1]) < generation) rmSync(join(this.#folder, name));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }
}
