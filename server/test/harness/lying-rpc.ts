import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Ways in which nodes have failed, to be switched on and off by a test. */
export interface Faults {
  /** eth_getLogs answers []: a node that has not got the block yet. */
  emptyLogs: boolean;
  /** eth_getLogs answers only the first log. */
  firstLogOnly: boolean;
  /** eth_getBlockReceipts answers []. */
  emptyReceipts: boolean;
  /** eth_getBlockReceipts is an unknown method. */
  noBlockReceipts: boolean;
  /** Nothing is ever answered. */
  hang: boolean;
  /** HTTP 429 to everything. */
  tooManyRequests: boolean;
  /** The answer ends in the middle. */
  halfJson: boolean;
  /** Another chain's id. */
  wrongChainId: boolean;
  /** An answer of 100 MB, without a content length. */
  hugeBody: boolean;
  /** eth_sendRawTransaction answers the hash and forgets the transaction. */
  dropSent: boolean;
  /** eth_sendRawTransaction hands the transaction on and answers with an error. */
  errorAfterSending: boolean;
  /** The state of older blocks is gone: a node that is no archive, asked on a chain whose finality takes long. */
  prunedState: boolean;
}

/** An HTTP proxy in front of a node. */
export interface LyingRpc {
  readonly url: string;
  readonly faults: Faults;
  /** Changes what the node has answered, as each request of a batch is answered; undefined: the truth. */
  lie: Lie | undefined;
  /** Requests seen so far by method; a batch counts each of its requests. */
  readonly seen: Map<string, number>;
  /** Bytes written so far of huge bodies. */
  hugeBytes(): number;
  close(): Promise<void>;
}

/** What is told in place of the node's result. */
export type Lie = (method: string, params: readonly unknown[], result: unknown) => unknown;

interface Envelope {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Answer {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const hugeSize = 100_000_000;
const hugeChunk = Buffer.alloc(64 * 1024, 'a');

/** Starts a proxy that tells the truth until a fault is switched on. */
export async function startLyingRpc(target: string): Promise<LyingRpc> {
  const faults: Faults = {
    emptyLogs: false,
    firstLogOnly: false,
    emptyReceipts: false,
    noBlockReceipts: false,
    hang: false,
    tooManyRequests: false,
    halfJson: false,
    wrongChainId: false,
    hugeBody: false,
    dropSent: false,
    errorAfterSending: false,
    prunedState: false,
  };
  const seen = new Map<string, number>();
  let hugeBytes = 0;
  const server = createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      const parsed = JSON.parse(body) as Envelope | Envelope[];
      const envelopes = Array.isArray(parsed) ? parsed : [parsed];
      for (const { method } of envelopes) seen.set(method, (seen.get(method) ?? 0) + 1);
      if (faults.hang) return;
      if (faults.tooManyRequests) return void response.writeHead(429).end('slow down');
      if (faults.hugeBody) {
        await writeHuge(response, (size) => {
          hugeBytes += size;
        });
        return;
      }
      const answers = await Promise.all(
        envelopes.map(async (envelope) => {
          const answer = await answerTo(target, faults, envelope);
          if (proxy.lie === undefined || answer.error !== undefined) return answer;
          return { ...answer, result: proxy.lie(envelope.method, envelope.params, answer.result) };
        }),
      );
      const text = JSON.stringify(Array.isArray(parsed) ? answers : answers[0]);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(faults.halfJson ? text.slice(0, text.length >> 1) : text);
    } catch (error) {
      response.destroy(error instanceof Error ? error : undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: LyingRpc = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    lie: undefined,
    seen,
    hugeBytes: () => hugeBytes,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function writeHuge(response: ServerResponse, note: (size: number) => void): Promise<void> {
  response.setMaxListeners(0);
  response.writeHead(200, { 'content-type': 'application/json' });
  for (let written = 0; written < hugeSize && !response.destroyed; written += hugeChunk.length) {
    note(hugeChunk.length);
    if (!response.write(hugeChunk)) {
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  }
  response.end();
}

async function answerTo(target: string, faults: Faults, envelope: Envelope): Promise<Answer> {
  const { id, method } = envelope;
  const result = (value: unknown): Answer => ({ jsonrpc: '2.0', id, result: value });
  const refusal = (code: number, message: string): Answer => ({
    jsonrpc: '2.0',
    id,
    error: { code, message },
  });
  if (method === 'eth_chainId' && faults.wrongChainId) return result('0x1');
  if (method === 'eth_getLogs' && faults.emptyLogs) return result([]);
  if (method === 'eth_getBlockReceipts' && faults.emptyReceipts) return result([]);
  if (method === 'eth_getBlockReceipts' && faults.noBlockReceipts) return refusal(-32601, 'method not found');
  if (method === 'eth_sendRawTransaction' && faults.dropSent) return result(`0x${'ab'.repeat(32)}`);
  if (method === 'eth_getTransactionCount' && faults.prunedState && envelope.params[1] !== 'latest') {
    return refusal(-32000, 'missing trie node');
  }
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
  });
  const answer = (await response.json()) as Answer;
  if (method === 'eth_sendRawTransaction' && faults.errorAfterSending)
    return refusal(-32000, 'internal error');
  if (method === 'eth_getLogs' && faults.firstLogOnly && Array.isArray(answer.result)) {
    return result(answer.result.slice(0, 1));
  }
  return answer;
}
