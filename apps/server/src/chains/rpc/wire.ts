import { scanAnswer } from './answer-scan.ts';
import { readBatchAnswer, readSingleAnswer } from './json-rpc.ts';
import { type RpcCall, type RpcOutcome, RpcUnavailable } from './rpc.ts';

/** The text that asks these calls: an envelope when there is one, an array otherwise, with ids from the first on. */
export function questionOf(calls: readonly RpcCall[], firstId: number): string {
  const envelopes = calls.map(({ method, params }, index) => ({
    jsonrpc: '2.0',
    id: firstId + index,
    method,
    params,
  }));
  return JSON.stringify(calls.length === 1 ? envelopes[0] : envelopes);
}

/** The outcomes in the answer to that text. `from` tells in an error where the answer came from. */
export function readAnswer(
  bytes: Buffer,
  calls: readonly RpcCall[],
  firstId: number,
  from: string,
): readonly RpcOutcome[] {
  const scanned = scanAnswer(bytes, calls, firstId);
  if (scanned !== undefined) return scanned;
  const body = bytes.toString('utf8');
  if (isTooDeep(body)) throw new RpcUnavailable(`malformed answer: nested over ${maxDepth} levels`);
  const answer = parseJson(body, from);
  return calls.length === 1
    ? [readSingleAnswer(answer, firstId)]
    : readBatchAnswer(answer, calls.length, firstId);
}

/** Deeper than any answer goes: a log's topics in a receipt in a batch stand on the sixth level. */
const maxDepth = 32;
/** Shorter bodies cannot do harm, however deep they are. */
const shortBody = 100_000;

/**
 * Whether a body opens more than 32 levels of arrays and objects. A level costs the sender one byte and the parser some
 * sixty, so that an answer within the size limit could take half a gigabyte.
 */
function isTooDeep(body: string): boolean {
  if (body.length <= shortBody) return false;
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    const code = body.charCodeAt(index);
    if (code === 0x22) {
      index = endOfText(body, index);
      if (index === -1) return false;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** Where the text that begins at a quotation mark ends; -1 when it does not: the parser will say so. */
function endOfText(body: string, start: number): number {
  let end = body.indexOf('"', start + 1);
  while (end !== -1) {
    let escapes = 0;
    while (body.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = body.indexOf('"', end + 1);
  }
  return -1;
}

function parseJson(body: string, from: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new RpcUnavailable(`malformed answer: not JSON, ${from}`, { cause });
  }
}
