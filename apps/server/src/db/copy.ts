import { createHash } from 'node:crypto';
import type pg from 'pg';

/** The part of the driver's connection that COPY needs; the driver has no call of its own for it. */
interface WireConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
  readonly stream: {
    readonly writableNeedDrain: boolean;
    pause(): void;
    resume(): void;
    once(event: 'drain' | 'close', listener: () => void): void;
    off(event: 'drain' | 'close', listener: () => void): void;
  };
}

/** What went through a COPY. */
export interface Copied {
  readonly rows: number;
  readonly sha256: string;
}

/** Rows that PostgreSQL says it has copied, of a tag such as `COPY 12`. */
function rowsOf({ text }: { readonly text: string }): number {
  return Number(/^COPY (\d+)$/.exec(text)?.[1] ?? '0');
}

/**
 * Runs `copy ... to stdout`. Whoever takes a chunk may be slow: while one is taken, PostgreSQL waits, so memory holds no
 * more than what was on its way. Rejects with the first error, the taker's included.
 */
export function copyOut(
  client: pg.Client,
  text: string,
  take: (chunk: Buffer) => Promise<void>,
): Promise<Copied> {
  const hash = createHash('sha256');
  let rows = 0;
  let failure: unknown;
  let taken: Promise<void> = Promise.resolve();
  let waiting = 0;
  return new Promise((resolve, reject) => {
    const query = {
      submit: (connection: WireConnection) => connection.query(text),
      handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: WireConnection) {
        if (failure !== undefined) return;
        // The driver goes on to use its buffer.
        const own = Buffer.from(chunk);
        hash.update(own);
        waiting += 1;
        stream.pause();
        taken = taken
          .then(() => (failure === undefined ? take(own) : undefined))
          .catch((error: unknown) => {
            failure = error;
          });
        void taken.then(() => {
          waiting -= 1;
          if (waiting === 0) stream.resume();
        });
      },
      handleCommandComplete(message: { readonly text: string }) {
        rows = rowsOf(message);
      },
      handleError: (error: Error) => reject(error),
      handleReadyForQuery() {
        void taken.then(() =>
          failure === undefined ? resolve({ rows, sha256: hash.digest('hex') }) : reject(failure),
        );
      },
    };
    client.query(query as unknown as pg.Submittable);
  });
}

/**
 * Runs `copy ... from stdin` with chunks as they come. A source that fails makes PostgreSQL refuse the whole COPY; the
 * promise then rejects with the source's error.
 */
export function copyIn(client: pg.Client, text: string, source: AsyncIterable<Buffer>): Promise<Copied> {
  const hash = createHash('sha256');
  let rows = 0;
  let failure: unknown;
  const pour = async (connection: WireConnection) => {
    try {
      for await (const chunk of source) {
        hash.update(chunk);
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain) await drained(connection);
      }
      connection.endCopyFrom();
    } catch (error) {
      failure = error;
      connection.sendCopyFail('the source failed');
    }
  };
  return new Promise((resolve, reject) => {
    const query = {
      submit: (connection: WireConnection) => connection.query(text),
      handleCopyInResponse: (connection: WireConnection) => void pour(connection),
      handleCommandComplete(message: { readonly text: string }) {
        rows = rowsOf(message);
      },
      handleError: (error: Error) => reject(failure ?? error),
      handleReadyForQuery: () => resolve({ rows, sha256: hash.digest('hex') }),
    };
    client.query(query as unknown as pg.Submittable);
  });
}

function drained({ stream }: WireConnection): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.once('drain', done);
    stream.once('close', done);
  });
}
