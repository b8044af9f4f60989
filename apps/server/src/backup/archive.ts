import { createHash, type Hash } from 'node:crypto';

/** The archive's own version. A program reads archives of its own version and of earlier ones. */
export const archiveVersion = 1;
const archiveFormat = 'florin-backup';

/** The position of a chain when the backup was taken. */
export interface ArchivedCursor {
  readonly chainId: number;
  readonly headNumber: string;
  readonly finalNumber: string;
}

/** The first frame: the description of the archive. */
export interface ArchiveHeader {
  readonly format: typeof archiveFormat;
  readonly version: number;
  /** RFC 3339. */
  readonly takenAt: string;
  /** The migrations of the schema that the rows belong to. */
  readonly migrations: readonly { readonly version: number; readonly hash: string }[];
  readonly cursors: readonly ArchivedCursor[];
}

/** The rows of a table begin. */
export interface TableStart {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The end of a table's rows: their number, and SHA-256 over their bytes. */
export interface TableEnd {
  readonly rows: number;
  readonly sha256: string;
}

/** An archive that cannot be restored; the message says why. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * A frame is a kind (one byte), a length (four) and that many bytes. H is the header, T a table, and E the end of a
 * table. D contains rows in PostgreSQL's text format of COPY. Z is the end, with SHA-256 over all frames before it.
 */
type FrameKind = 'H' | 'T' | 'D' | 'E' | 'Z';

/** More than the largest frame that is written: a longer frame is not from this program. */
const maxFrameBytes = 16 * 1024 * 1024;
const rowFrameBytes = 1024 * 1024;
const headBytes = 5;

/** Writes the frames of one archive. */
export interface ArchiveWriter {
  header(header: Omit<ArchiveHeader, 'format' | 'version'>): Promise<void>;
  table(start: TableStart): Promise<void>;
  rows(chunk: Buffer): Promise<void>;
  tableEnd(end: TableEnd): Promise<void>;
  /** Returns the hash of the whole archive. */
  end(): Promise<string>;
}

export function archiveWriter(write: (bytes: Buffer) => Promise<void>): ArchiveWriter {
  const hash = createHash('sha256');
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  const frame = async (kind: FrameKind, payload: Buffer) => {
    const bytes = Buffer.alloc(headBytes + payload.length);
    bytes.write(kind, 0, 'latin1');
    bytes.writeUInt32BE(payload.length, 1);
    payload.copy(bytes, headBytes);
    hash.update(bytes);
    await write(bytes);
  };
  const json = (kind: FrameKind, value: unknown) => frame(kind, Buffer.from(JSON.stringify(value), 'utf8'));
  const flush = async () => {
    const all = Buffer.concat(gathered);
    gathered = [];
    gatheredBytes = 0;
    for (let start = 0; start < all.length; start += rowFrameBytes)
      await frame('D', all.subarray(start, start + rowFrameBytes));
  };
  return {
    header: (header) => json('H', { format: archiveFormat, version: archiveVersion, ...header }),
    table: (start) => json('T', start),
    async rows(chunk) {
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      if (gatheredBytes >= rowFrameBytes) await flush();
    },
    async tableEnd(end) {
      await flush();
      await json('E', end);
    },
    async end() {
      const sha256 = hash.copy().digest('hex');
      await json('Z', { sha256 });
      return sha256;
    },
  };
}

interface Frame {
  readonly kind: string;
  readonly payload: Buffer;
  readonly bytes: Buffer;
}

/** Reads frames, holding one at a time. */
async function* framesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    held.push(chunk);
    size += chunk.length;
    while (size >= headBytes) {
      const whole = held.length === 1 ? (held[0] ?? Buffer.alloc(0)) : Buffer.concat(held);
      held = [whole];
      const length = whole.readUInt32BE(1);
      if (length > maxFrameBytes) throw new ArchiveError('this is not an archive: a frame is too long');
      if (size < headBytes + length) break;
      const bytes = whole.subarray(0, headBytes + length);
      yield { kind: whole.toString('latin1', 0, 1), payload: bytes.subarray(headBytes), bytes };
      held = [whole.subarray(headBytes + length)];
      size -= headBytes + length;
    }
  }
  if (size > 0) throw new ArchiveError('the archive is truncated');
}

function parseJson(payload: Buffer): Record<string, unknown> {
  const value: unknown = JSON.parse(payload.toString('utf8'));
  if (typeof value !== 'object' || value === null) throw new ArchiveError('the archive is damaged');
  return value as Record<string, unknown>;
}

/** An archive during a read: its header first, then table by table. */
export interface ArchiveReader {
  readonly header: ArchiveHeader;
  /** The next table; undefined when the archive has ended and its hash is right. Read its rows before the next call. */
  nextTable(): Promise<TableStart | undefined>;
  /** The rows of the table that `nextTable` returned. */
  rows(): AsyncIterable<Buffer>;
  /** The frame after the rows. */
  tableEnd(): TableEnd;
  /** The hash of the whole archive, once it has ended. */
  sha256(): string;
}

/** Opens an archive. Throws an `ArchiveError` unless it is an archive of this version or an earlier one. */
export async function openArchive(source: AsyncIterable<Buffer>): Promise<ArchiveReader> {
  const frames = framesOf(source);
  const hash = createHash('sha256');
  let ended: TableEnd | undefined;
  let whole = '';
  const next = async (): Promise<Frame> => {
    const { value } = await frames.next();
    if (value === undefined) throw new ArchiveError('the archive is truncated');
    return value;
  };
  const first = await next();
  if (first.kind !== 'H') throw new ArchiveError('this is not an archive of Florin');
  hash.update(first.bytes);
  const header = parseHeader(first.payload);
  return {
    header,
    async nextTable() {
      const frame = await next();
      if (frame.kind === 'Z') {
        whole = checkEnd(frame, hash);
        return undefined;
      }
      if (frame.kind !== 'T') throw new ArchiveError('the archive is damaged');
      hash.update(frame.bytes);
      ended = undefined;
      return parseJson(frame.payload) as unknown as TableStart;
    },
    async *rows() {
      for (;;) {
        const frame = await next();
        hash.update(frame.bytes);
        if (frame.kind === 'E') {
          ended = parseJson(frame.payload) as unknown as TableEnd;
          return;
        }
        if (frame.kind !== 'D') throw new ArchiveError('the archive is damaged');
        yield frame.payload;
      }
    },
    tableEnd() {
      if (ended === undefined) throw new ArchiveError('the archive is truncated');
      return ended;
    },
    sha256: () => whole,
  };
}

function parseHeader(payload: Buffer): ArchiveHeader {
  const header = parseJson(payload);
  if (header['format'] !== archiveFormat) throw new ArchiveError('this is not an archive of Florin');
  if (typeof header['version'] !== 'number' || header['version'] > archiveVersion) {
    throw new ArchiveError(
      `the archive has version ${String(header['version'])}, newer than this program's ${archiveVersion}: use a newer program`,
    );
  }
  return header as unknown as ArchiveHeader;
}

function checkEnd({ payload }: Frame, hash: Hash): string {
  const sha256 = hash.digest('hex');
  if (parseJson(payload)['sha256'] !== sha256)
    throw new ArchiveError('the archive is damaged: its hash differs');
  return sha256;
}
