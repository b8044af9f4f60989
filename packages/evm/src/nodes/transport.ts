import { StringDecoder } from 'node:string_decoder';
import { Agent, request } from 'undici';
import { type RpcCall, RpcError, type RpcOutcome, RpcUnavailable } from './rpc.ts';

export interface ExchangeLimits {
  /** Limit for connecting, sending and reading together. */
  readonly timeLimitMs: number;
  readonly maxAnswerBytes: number;
}

/** One node at its HTTP address. */
export interface NodeConnection {
  /** Host and port. The rest of a URL often contains a key and must not reach a log. */
  readonly name: string;
  /** Sends calls in one request: a single envelope for one call, an array otherwise. */
  exchange(
    calls: readonly RpcCall[],
    limits: ExchangeLimits,
    signal: AbortSignal | undefined,
  ): Promise<readonly RpcOutcome[]>;
  close(): Promise<void>;
}

const maxConnections = 16;

/** Opens connections to a node when needed; sends nothing yet. */
export function openNode(url: string): NodeConnection {
  const agent = new Agent({ connections: maxConnections, connect: { timeout: 5_000 } });
  return {
    name: new URL(url).host,
    exchange: (calls, limits, signal) => exchange(agent, url, calls, limits, signal),
    close: () => agent.destroy(),
  };
}

async function exchange(
  agent: Agent,
  url: string,
  calls: readonly RpcCall[],
  limits: ExchangeLimits,
  signal: AbortSignal | undefined,
): Promise<readonly RpcOutcome[]> {
  const deadline = AbortSignal.timeout(limits.timeLimitMs);
  const envelopes = calls.map(({ method, params }, index) => ({
    jsonrpc: '2.0',
    id: index + 1,
    method,
    params,
  }));
  const response = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(envelopes.length === 1 ? envelopes[0] : envelopes),
    signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    headersTimeout: limits.timeLimitMs,
    bodyTimeout: limits.timeLimitMs,
  });
  const text = await readLimited(response.body, response.headers['content-length'], limits.maxAnswerBytes);
  // Some gateways wrap a proper JSON-RPC error in a status 4xx.
  if (response.statusCode === 429 || response.statusCode >= 500) {
    throw new RpcUnavailable(`HTTP status ${response.statusCode}`);
  }
  if (isTooDeep(text)) throw new RpcUnavailable(`malformed answer: nested over ${maxDepth} levels`);
  const answer = parseJson(text, `HTTP status ${response.statusCode}`);
  return calls.length === 1 ? [readSingleAnswer(answer, 1)] : readBatchAnswer(answer, calls.length);
}

type AnswerBody = Awaited<ReturnType<typeof request>>['body'];

/**
 * Collects a body as text. Drops the connection as soon as the body exceeds the limit, so it is never held in full.
 * Chunks are decoded as they come. A joined buffer and its long text would be outside the heap, where each megabyte
 * triggers full garbage collections sooner.
 */
async function readLimited(
  body: AnswerBody,
  contentLength: string | string[] | undefined,
  maxBytes: number,
): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let size = 0;
  const tooBig = () => {
    // The stream reports its own destruction as an error. The destruction is intended.
    body.on('error', () => {});
    body.destroy();
    return new RpcUnavailable(`answer over ${maxBytes} bytes`);
  };
  if (contentLength !== undefined && Number(contentLength) > maxBytes) throw tooBig();
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw tooBig();
    text += decoder.write(chunk as Buffer);
  }
  return text + decoder.end();
}

/** Deeper than any real answer: a log's topics in a receipt in a batch are on the sixth level. */
const maxDepth = 32;
/** Shorter bodies do no harm at any depth. */
const shortBody = 100_000;

/**
 * Whether a body opens more than 32 levels of arrays and objects. A level costs the node one byte and the parser some
 * sixty. An answer within the size limit could otherwise take half a gigabyte.
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

/** The end of the text that begins at a quotation mark; -1 when it has none, which the parser then reports. */
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

/** Errors that mean "not now" rather than "no": another node may answer. */
const overloadCodes = new Set([-32005, -32097, 429]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readError(value: unknown): RpcError {
  if (!isRecord(value) || typeof value['message'] !== 'string' || !Number.isInteger(value['code'])) {
    throw new RpcUnavailable('malformed answer: an error without code or message');
  }
  const code = Number(value['code']);
  if (overloadCodes.has(code)) throw new RpcUnavailable(`overloaded: ${value['message'].slice(0, 200)}`);
  return new RpcError(code, value['message'].slice(0, 1000), value['data']);
}

/**
 * Reads the answers to `count` requests with ids from 1 on, in any order (JSON-RPC 2.0, section 6). Each id must
 * occur exactly once, with a result or an error. Every other answer is malformed and throws `RpcUnavailable`. A
 * single error in place of the array applies to every request.
 */
export function readBatchAnswer(body: unknown, count: number): readonly RpcOutcome[] {
  if (isRecord(body) && 'error' in body && body['error'] !== null) {
    const error = readError(body['error']);
    return Array.from({ length: count }, () => ({ error }));
  }
  if (!Array.isArray(body) || body.length !== count) {
    throw new RpcUnavailable(`malformed answer: not an array of ${count} answers`);
  }
  const outcomes = new Array<RpcOutcome | undefined>(count).fill(undefined);
  for (const entry of body) {
    const id = isRecord(entry) ? entry['id'] : undefined;
    if (
      typeof id !== 'number' ||
      !Number.isInteger(id) ||
      id < 1 ||
      id > count ||
      outcomes[id - 1] !== undefined
    ) {
      throw new RpcUnavailable('malformed answer: an id that was not asked for, or twice');
    }
    outcomes[id - 1] = readSingleAnswer(entry, id);
  }
  return outcomes.filter((outcome) => outcome !== undefined);
}

/** Reads the answer to the request with this id. Throws `RpcUnavailable` unless it is well-formed. */
export function readSingleAnswer(body: unknown, id: number): RpcOutcome {
  if (!isRecord(body) || body['jsonrpc'] !== '2.0')
    throw new RpcUnavailable('malformed answer: not JSON-RPC 2.0');
  const error = 'error' in body && body['error'] !== null ? readError(body['error']) : undefined;
  if (error !== undefined) return { error };
  if (body['id'] !== id) throw new RpcUnavailable('malformed answer: another id than asked for');
  if (!('result' in body)) throw new RpcUnavailable('malformed answer: neither result nor error');
  return { result: body['result'] };
}
