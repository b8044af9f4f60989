import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AnvilRpcError } from './anvil-process.ts';
import type { ChainFaults } from './chain-faults.ts';
import type { ChainKeeper } from './chain-keeper.ts';
import { classifyMethod } from './chain-method.ts';
import { LOOPBACK } from './port.ts';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
/** Wallets and pages of any origin use a local chain, as they use anvil itself. */
const HEADERS = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST',
} as const;

const parseCall = (value: unknown): Call => {
  if (typeof value !== 'object' || value === null)
    throw new AnvilRpcError(-32600, 'A JSON-RPC call is wanted.');
  const { id = null, method, params = [] } = value as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== 'string') throw new AnvilRpcError(-32600, 'A JSON-RPC call names its method.');
  return { id, method, params: Array.isArray(params) ? params : [params] };
};

const describeError = (error: unknown): { code: number; message: string; data?: unknown } => {
  if (error instanceof AnvilRpcError) {
    const message = error.message.replace(/^\w+: /, '');
    return { code: error.code, message, ...(error.data === undefined ? {} : { data: error.data }) };
  }
  if (error instanceof TypeError) return { code: -32602, message: error.message };
  return { code: -32603, message: error instanceof Error ? error.message : String(error) };
};

/** A chain's node, and what its address does wrong. */
interface DoorParts {
  readonly keeper: ChainKeeper;
  readonly faults: ChainFaults;
}

const answerCall = async ({ keeper, faults }: DoorParts, value: unknown): Promise<unknown> => {
  let id: unknown = null;
  try {
    const call = parseCall(value);
    id = call.id;
    const result = await keeper.call(call.method, faults.changeParams(call.params));
    return { jsonrpc: '2.0', id, result: faults.changeAnswer(call.method, result) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: describeError(error) };
  }
};

const isRead = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'method' in value &&
  typeof value.method === 'string' &&
  classifyMethod(value.method) === 'read';

/** Answers a body. A body with only reads is forwarded byte for byte, unless a fault changes them. */
const answerBody = async (parts: DoorParts, body: Buffer): Promise<Buffer | string> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    return JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'The body is not JSON.' },
    });
  }
  const isOnlyReads = Array.isArray(parsed) ? parsed.length > 0 && parsed.every(isRead) : isRead(parsed);
  if (isOnlyReads && !parts.faults.areReadsChanged) return parts.keeper.forward(body);
  if (!Array.isArray(parsed)) return JSON.stringify(await answerCall(parts, parsed));
  return JSON.stringify(await Promise.all(parsed.map((value) => answerCall(parts, value))));
};

const readBody = async (incoming: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_LIMIT_BYTES) throw new AnvilRpcError(-32600, 'The body is too large.');
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const serve = async (
  parts: DoorParts,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  if (parts.faults.isUnreachable) {
    incoming.socket.destroy();
    return;
  }
  if (incoming.method !== 'POST') {
    outgoing.writeHead(incoming.method === 'OPTIONS' ? 204 : 405, HEADERS).end();
    return;
  }
  try {
    const answer = await answerBody(parts, await readBody(incoming));
    outgoing.writeHead(200, HEADERS).end(answer);
  } catch (error) {
    outgoing
      .writeHead(503, HEADERS)
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: describeError(error) }));
  }
};

/** Opens the JSON-RPC address of a kept chain, which clients call instead of anvil. */
export const openChainDoor = (keeper: ChainKeeper, faults: ChainFaults, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((incoming, outgoing) => void serve({ keeper, faults }, incoming, outgoing));
    server.keepAliveTimeout = 60_000;
    server.once('error', reject);
    server.listen({ port, host: LOOPBACK }, () => resolve(server));
  });

/** Closes the address and every connection to it. */
export const closeChainDoor = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
