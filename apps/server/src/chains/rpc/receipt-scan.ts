import { scanArray, scanObject, shapeOf, skipText, skipWord, unread, words } from './json-scan.ts';
import type { LogPlaces } from './log-bytes.ts';
import { rlpHeadLength, writeRlpHead } from './rlp.ts';

const mark = Symbol('scanned receipts');

/**
 * The receipts of a block as a node told them, whose logs were encoded as a block commits to them while the answer was
 * read. Nothing is known of their truth yet.
 */
export interface ScannedReceipts {
  readonly [mark]: true;
  readonly receipts: readonly ScannedReceipt[];
  /** The logs of all receipts. */
  readonly encoded: Buffer;
  /** What `JSON.parse` makes of the same text: for the reader of every field. */
  values(): unknown;
}

/**
 * A receipt. Its logs are of the same transaction as the receipt, in their places in the block, and of lower-case digits
 * alone.
 */
export interface ScannedReceipt {
  /** What stands in it besides its logs, unread: texts, or null. */
  readonly fields: Readonly<Record<string, string | null>>;
  readonly logs: readonly LogPlaces[];
  /** Where its encoded logs begin, one behind the other, and end. What a receipt has around them can be written there. */
  readonly start: number;
  readonly end: number;
}

/** Most bytes before a receipt's logs: type, status, gas so far, bloom, and heads of two lists. */
const roomBefore = 1 + 1 + 33 + 259 + 2 * 9;
/** Most bytes behind them: nonce and version of a deposit. */
const roomBehind = 2 * 33;

/** Nothing that comes in JSON has a symbol for a name. */
export function isScanned(result: unknown): result is ScannedReceipts {
  return typeof result === 'object' && result !== null && mark in result;
}

/** Where the logs of one answer are encoded, and how far that has come. */
export interface LogRoom {
  readonly encoded: Buffer;
  at: number;
}

/** Room for all logs in an answer. Two digits become one byte, and names of fields are longer than heads. */
export function roomFor(body: Buffer): LogRoom {
  return { encoded: Buffer.allocUnsafeSlow(body.length >> 1), at: 0 };
}

/** What has been read of a log, of its receipt and of its block. Of a log: where its digits stand in the answer. */
interface Scan {
  readonly room: LogRoom;
  readonly receipts: ScannedReceipt[];
  fields: Record<string, string | null>;
  logs: LogPlaces[];
  /** Of the next log in its block. */
  place: number;
  /** Where the transaction's hash of the receipt's first log stands. */
  txHash: number;
  address: number;
  topics: number[];
  data: number;
  dataEnd: number;
}

/**
 * Reads the receipts of one block that stand at a place in an answer, and gives the place behind them; `unread` where they
 * are not plainly what they are nearly always. Takes time and memory in proportion to the length of the text.
 */
export function scanReceipts(
  body: Buffer,
  at: number,
  room: LogRoom,
  take: (receipts: ScannedReceipts) => void,
): number {
  const scan: Scan = {
    ...{ room, receipts: [], fields: {}, logs: [], place: 0, txHash: 0 },
    ...{ address: 0, topics: [], data: 0, dataEnd: 0 },
  };
  const end = scanArray(body, at, (place) => scanReceipt(scan, body, place));
  if (end === unread) return unread;
  const values = (): unknown => JSON.parse(body.toString('latin1', at, end));
  take({ [mark]: true, receipts: scan.receipts, encoded: room.encoded, values });
  return end;
}

function scanReceipt(scan: Scan, body: Buffer, at: number): number {
  const { room } = scan;
  scan.fields = {};
  scan.logs = [];
  room.at += roomBefore;
  const start = room.at;
  const next = scanObject(receiptShape, scan, body, at);
  if (next === unread) return unread;
  const { fields, logs } = scan;
  if (
    logs.length > 0 &&
    fields['transactionHash'] !== body.toString('latin1', scan.txHash, scan.txHash + 66)
  ) {
    return unread;
  }
  scan.receipts.push({ fields, logs, start, end: room.at });
  room.at += roomBehind;
  return room.at > room.encoded.length ? unread : next;
}

const receiptShape = shapeOf<Scan>(
  {
    logs: (scan, body, at) => scanArray(body, at, (place) => scanLog(scan, body, place)),
    ...fieldsOf('transactionHash', 'blockHash', 'blockNumber', 'logsBloom', 'status', 'cumulativeGasUsed'),
  },
  fieldsOf('type', 'depositNonce', 'depositReceiptVersion'),
);

function fieldsOf(
  ...names: readonly string[]
): Record<string, (scan: Scan, body: Buffer, at: number) => number> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (scan: Scan, body: Buffer, at: number) => {
        const isNull = body[at] === words.null[0];
        const end = isNull ? skipWord(body, at, words.null) : skipText(body, at);
        scan.fields[name] = isNull ? null : body.toString('latin1', at + 1, end - 1);
        return end;
      },
    ]),
  );
}

const logShape = shapeOf<Scan>(
  {
    address: (scan, body, at) => {
      scan.address = at + 3;
      return skipDigits(body, at, 40);
    },
    topics: (scan, body, at) => {
      scan.topics = [];
      return scanArray(body, at, (place) => {
        scan.topics.push(place + 3);
        return scan.topics.length > 4 ? unread : skipDigits(body, place, 64);
      });
    },
    data: (scan, body, at) => {
      scan.data = at + 3;
      scan.dataEnd = body.indexOf(0x22, scan.data);
      const size = scan.dataEnd - scan.data;
      return size < 0 || size % 2 !== 0 ? unread : skipDigits(body, at, size);
    },
    transactionHash: (scan, body, at) => {
      // The same in every log of the receipt: compared with the first one's, and that with the receipt's.
      if (scan.logs.length === 0) scan.txHash = at + 1;
      return skipCopy(body, at, scan.txHash - 1, 68);
    },
    logIndex: (scan, body, at) => skipWord(body, at, placeText(scan.place)),
  },
  { removed: (_scan, body, at) => skipWord(body, at, words.false) },
);

function scanLog(scan: Scan, body: Buffer, at: number): number {
  const end = scanObject(logShape, scan, body, at);
  if (end === unread || !encodeLog(scan, body)) return unread;
  scan.place += 1;
  return end;
}

/** Behind a text of `0x` and so many digits, which are looked at when they are decoded. */
function skipDigits(body: Buffer, at: number, count: number): number {
  const end = at + 3 + count;
  const isText = body[at] === 0x22 && body[at + 1] === 0x30 && body[at + 2] === 0x78 && body[end] === 0x22;
  return isText ? end + 1 : unread;
}

/** Behind so many bytes that are the same as at another place, which is where they stand themselves for the first. */
function skipCopy(body: Buffer, at: number, other: number, count: number): number {
  if (at === other) return skipText(body, at) === at + count ? at + count : unread;
  for (let index = 0; index < count; index += 1) {
    if (body[at + index] !== body[other + index]) return unread;
  }
  return at + count;
}

const usualPlaces = Array.from({ length: 4_096 }, (_, place) => placeTextOf(place));

function placeText(place: number): Buffer {
  return usualPlaces[place] ?? placeTextOf(place);
}

function placeTextOf(place: number): Buffer {
  return Buffer.from(`"0x${place.toString(16)}"`);
}

/** Writes a log in RLP; false when a digit of it is none, or in upper case. */
function encodeLog(scan: Scan, body: Buffer): boolean {
  const { room, address, topics, data, dataEnd } = scan;
  const { encoded } = room;
  const size = (dataEnd - data) / 2;
  const topicsSize = 33 * topics.length;
  const isOwnHead = size === 1 && isBelow80(body, data);
  const dataHead = isOwnHead ? 0 : rlpHeadLength(size);
  let at = writeRlpHead(
    encoded,
    room.at,
    0xc0,
    21 + rlpHeadLength(topicsSize) + topicsSize + dataHead + size,
  );
  encoded[at] = 0x80 + 20;
  const places = { address: at + 1, topics: [] as number[], data: 0, dataEnd: 0 };
  let seen = decode(body, address, encoded, at + 1, 20);
  at = writeRlpHead(encoded, at + 21, 0xc0, topicsSize);
  for (const topic of topics) {
    encoded[at] = 0x80 + 32;
    places.topics.push(at + 1);
    seen |= decode(body, topic, encoded, at + 1, 32);
    at += 33;
  }
  if (!isOwnHead) at = writeRlpHead(encoded, at, 0x80, size);
  seen |= decode(body, data, encoded, at, size);
  places.data = at;
  room.at = at + size;
  places.dataEnd = room.at;
  scan.logs.push(places);
  return seen <= 0xf;
}

function isBelow80(body: Buffer, at: number): boolean {
  return (digits[body[at] ?? 0] ?? noDigit) < 8;
}

const noDigit = 0x80;
/** What each byte is worth as a lower-case hexadecimal digit. */
const digits = new Uint8Array(256).fill(noDigit);
for (const [value, digit] of [...Buffer.from('0123456789abcdef')].entries()) digits[digit] = value;

/** Decodes so many bytes; over 15 when one of the digits is none. */
function decode(source: Buffer, from: number, target: Buffer, to: number, count: number): number {
  let seen = 0;
  let at = from;
  for (let index = to; index < to + count; index += 1) {
    const high = digits[source[at] ?? 0] ?? noDigit;
    const low = digits[source[at + 1] ?? 0] ?? noDigit;
    target[index] = (high << 4) | low;
    seen |= high | low;
    at += 2;
  }
  return seen;
}
