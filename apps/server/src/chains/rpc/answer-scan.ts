import {
  scanArray,
  scanObject,
  shapeOf,
  skipSpace,
  skipValue,
  skipWord,
  unread,
  words,
} from './json-scan.ts';
import { type LogRoom, roomFor, scanReceipts } from './receipt-scan.ts';
import type { RpcCall, RpcOutcome } from './rpc.ts';

/** The method whose answers are read without `JSON.parse`: they come to megabytes, of which little is wanted. */
export const receiptsMethod = 'eth_getBlockReceipts';

/** What has been read of an answer to several calls, and of one of its envelopes. */
interface Scan {
  readonly calls: readonly RpcCall[];
  readonly firstId: number;
  readonly areAllForReceipts: boolean;
  readonly room: LogRoom;
  readonly outcomes: (RpcOutcome | undefined)[];
  id: number;
  result: unknown;
  /** Where a result begins and ends that is no receipts, or may be none. */
  start: number;
  end: number;
}

/**
 * The outcomes in the answer to these calls, of which receipts are scanned. Undefined without receipts among them, and
 * where anything is not plainly an answer with a result for every call: that is for `JSON.parse` and the readers behind
 * it, which give the same for whatever this one gives something for.
 */
export function scanAnswer(
  body: Buffer,
  calls: readonly RpcCall[],
  firstId = 1,
): readonly RpcOutcome[] | undefined {
  if (!calls.some(({ method }) => method === receiptsMethod)) return undefined;
  const scan: Scan = {
    calls,
    firstId,
    areAllForReceipts: calls.every(({ method }) => method === receiptsMethod),
    room: roomFor(body),
    outcomes: calls.map(() => undefined),
    ...{ id: 0, result: undefined, start: 0, end: 0 },
  };
  const start = skipSpace(body, 0);
  const end =
    calls.length === 1
      ? scanEnvelope(scan, body, start)
      : scanArray(body, start, (place) => scanEnvelope(scan, body, place));
  if (end === unread || skipSpace(body, end) !== body.length) return undefined;
  const outcomes = scan.outcomes.filter((outcome) => outcome !== undefined);
  return outcomes.length === calls.length ? outcomes : undefined;
}

const version = Buffer.from('"2.0"');

const envelopeShape = shapeOf<Scan>(
  {
    jsonrpc: (_scan, body, at) => skipWord(body, at, version),
    id: (scan, body, at) => {
      const end = skipValue(body, at);
      scan.id = end === unread ? 0 : idIn(body.toString('latin1', at, end));
      return end;
    },
    result: (scan, body, at) => {
      scan.start = at;
      scan.end = scan.areAllForReceipts ? scanResult(scan, body, at) : skipValue(body, at);
      return scan.end;
    },
  },
  // Whether it counts depends on what it is.
  { error: () => unread },
);

function idIn(text: string): number {
  return /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
}

function scanEnvelope(scan: Scan, body: Buffer, at: number): number {
  const end = scanObject(envelopeShape, scan, body, at);
  const index = scan.id - scan.firstId;
  const call = scan.calls[index];
  if (end === unread || call === undefined || scan.outcomes[index] !== undefined) return unread;
  if (!scan.areAllForReceipts) {
    // Of the other results, which are short, texts of their own are read: their places may come before their ids.
    if (call.method !== receiptsMethod)
      scan.result = JSON.parse(body.toString('latin1', scan.start, scan.end));
    else if (scanResult(scan, body, scan.start) === unread) return unread;
  }
  scan.outcomes[index] = { result: scan.result };
  return end;
}

/** Receipts, or null for a block that the node has not got. */
function scanResult(scan: Scan, body: Buffer, at: number): number {
  if (body[at] === words.null[0]) {
    scan.result = null;
    return skipWord(body, at, words.null);
  }
  return scanReceipts(body, at, scan.room, (receipts) => {
    scan.result = receipts;
  });
}
