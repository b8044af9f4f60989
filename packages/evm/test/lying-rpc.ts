import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'undici';
import { frameHeader, type ServedSocket, serveSockets } from './socket-server.ts';

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
  /** The connection ends when the answer is due. */
  cutOff: boolean;
  /** The answer has ids that were not asked for. */
  otherIds: boolean;
}

/** A proxy in front of a node. Requests come over HTTP; over WebSockets it passes on what the node announces. */
export interface LyingRpc {
  readonly url: string;
  readonly wsUrl: string;
  readonly faults: Faults;
  /** Those of WebSockets alone: announcements hang, are cut off, huge or half JSON. */
  readonly socketFaults: Faults;
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

const noFaults = (): Faults => ({
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
  cutOff: false,
  otherIds: false,
});

/** Starts a proxy that tells the truth until a fault is switched on. */
export async function startLyingRpc(target: string): Promise<LyingRpc> {
  const faults = noFaults();
  const socketFaults = noFaults();
  const seen = new Map<string, number>();
  let hugeBytes = 0;
  const noteHuge = (size: number) => {
    hugeBytes += size;
  };
  const server = createServer(async (request, response) => {
    try {
      const { parsed, envelopes } = readQuestion(await readBody(request));
      for (const { method } of envelopes) seen.set(method, (seen.get(method) ?? 0) + 1);
      if (faults.hang) return;
      if (faults.cutOff) return void response.destroy();
      if (faults.tooManyRequests) return void response.writeHead(429).end('slow down');
      if (faults.hugeBody) return await writeHuge(response, noteHuge);
      const text = await answerText(target, faults, parsed, proxy.lie);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(text);
    } catch (error) {
      response.destroy(error instanceof Error ? error : undefined);
    }
  });
  const announce = (socket: ServedSocket, message: string) => {
    const has = (name: keyof Faults) => faults[name] || socketFaults[name];
    if (has('hang')) return;
    if (has('cutOff')) return socket.cut();
    if (has('hugeBody')) return void sayHuge(socket, noteHuge).catch(() => socket.cut());
    socket.say(has('halfJson') ? message.slice(0, message.length >> 1) : message);
  };
  const { cutAll } = serveSockets(server, (socket) => {
    const upstream = new WebSocket(target.replace('http', 'ws'));
    const ready = new Promise<void>((resolve) => {
      upstream.addEventListener('open', () => resolve());
      upstream.addEventListener('close', () => {
        socket.cut();
        resolve();
      });
    });
    upstream.addEventListener('error', () => socket.cut());
    upstream.addEventListener('message', ({ data }) => announce(socket, String(data)));
    return {
      heard: (text) => void ready.then(() => upstream.send(text)).catch(() => socket.cut()),
      ended: () => upstream.close(),
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: LyingRpc = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    ...{ faults, socketFaults, seen, lie: undefined },
    hugeBytes: () => hugeBytes,
    async close() {
      cutAll();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

function readQuestion(text: string) {
  const parsed = JSON.parse(text) as Envelope | Envelope[];
  return { parsed, envelopes: Array.isArray(parsed) ? parsed : [parsed] };
}

/** The answer as it is sent, with what the faults and the lie make of it. */
async function answerText(
  target: string,
  faults: Faults,
  parsed: Envelope | Envelope[],
  lie: Lie | undefined,
): Promise<string> {
  const answerOne = async (envelope: Envelope): Promise<Answer> => {
    const answer = await answerTo(target, faults, envelope);
    const told =
      lie === undefined || answer.error !== undefined
        ? answer
        : { ...answer, result: lie(envelope.method, envelope.params, answer.result) };
    return faults.otherIds ? { ...told, id: told.id + 1 } : told;
  };
  const answers = Array.isArray(parsed) ? await Promise.all(parsed.map(answerOne)) : await answerOne(parsed);
  const text = JSON.stringify(answers);
  return faults.halfJson ? text.slice(0, text.length >> 1) : text;
}

/** A message whose header tells its length truly. */
async function sayHuge(socket: ServedSocket, note: (size: number) => void): Promise<void> {
  await socket.write(frameHeader(hugeSize));
  for (let written = 0; written < hugeSize; written += hugeChunk.length) {
    note(hugeChunk.length);
    if (!(await socket.write(hugeChunk))) return;
  }
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
