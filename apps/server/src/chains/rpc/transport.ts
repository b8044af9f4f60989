import { Agent, request } from 'undici';
import { type RpcCall, type RpcOutcome, RpcUnavailable } from './rpc.ts';
import { questionOf, readAnswer } from './wire.ts';

export interface ExchangeLimits {
  /** For connecting, sending and reading together. */
  readonly timeLimitMs: number;
  readonly maxAnswerBytes: number;
  /** Small, and somebody waits for it: asked over a WebSocket where there is one. */
  readonly isUrgent?: boolean;
}

/** One node, by its HTTP address and perhaps a WebSocket beside it. */
export interface NodeConnection {
  /** Host and port; the rest of a URL often holds a key and must not reach a log. */
  readonly name: string;
  /** Sends calls in one request: an envelope when there is one, an array otherwise. */
  exchange(
    calls: readonly RpcCall[],
    limits: ExchangeLimits,
    signal: AbortSignal | undefined,
  ): Promise<readonly RpcOutcome[]>;
  /** The node has failed, or what it said was of no use: whatever is quick and not needed is left alone for a while. */
  rest?(reason: string): void;
  close(): Promise<void>;
}

const maxConnections = 16;

/** Opens connections to a node as they are needed. Nothing is sent yet. */
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
  const response = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: questionOf(calls, 1),
    signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    headersTimeout: limits.timeLimitMs,
    bodyTimeout: limits.timeLimitMs,
  });
  const bytes = await readLimited(response.body, response.headers['content-length'], limits.maxAnswerBytes);
  // Below 500 some gateways wrap a proper JSON-RPC error in a 4xx.
  if (response.statusCode === 429 || response.statusCode >= 500) {
    throw new RpcUnavailable(`HTTP status ${response.statusCode}`);
  }
  return readAnswer(bytes, calls, 1, `HTTP status ${response.statusCode}`);
}

type AnswerBody = Awaited<ReturnType<typeof request>>['body'];

/** Collects a body, and drops the connection as soon as it grows over the limit: it is never held in full. */
async function readLimited(
  body: AnswerBody,
  contentLength: string | string[] | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const tooBig = () => {
    // The stream reports its own destruction as an error, which is what we want it to do.
    body.on('error', () => {});
    body.destroy();
    return new RpcUnavailable(`answer over ${maxBytes} bytes`);
  };
  if (contentLength !== undefined && Number(contentLength) > maxBytes) throw tooBig();
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw tooBig();
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
