import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { knownTokens, type PayLinkOptions } from '@florin/agent';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { privateKeyToAccount } from 'viem/accounts';
import { mcpServer } from './mcp-server.ts';
import { payTool } from './pay-tool.ts';
import type { CallApi } from './tool.ts';

const timeoutMs = 60_000;

export interface StdioOptions {
  /** Of the installation, such as `https://pay.example.com`. */
  readonly origin: string;
  /** The API key of a merchant; without it there are the tools of payers alone. */
  readonly apiKey?: string | undefined;
  /** An account of this machine that pays, and its limits. */
  readonly payer?:
    | ({ readonly privateKey: `0x${string}`; readonly maxAmount: bigint } & Pick<
        PayLinkOptions,
        'policy' | 'rpcUrls'
      >)
    | undefined;
  readonly input: Readable;
  readonly output: Writable;
  /** Called once it listens. */
  readonly onReady: () => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Speaks the Model Context Protocol over two streams until the input ends or the signal aborts. Throws for an API key that
 * the installation does not know, and for one that plain http would carry to another machine.
 */
export async function speakMcp(options: StdioOptions): Promise<void> {
  const { origin, apiKey, payer, input, output, onReady, signal } = options;
  if (apiKey !== undefined && !isPrivateWay(new URL(origin)))
    throw new Error(`http would show the API key to everyone on the way to ${origin}: give https`);
  const server = mcpServer({
    callApi: httpApi(origin, apiKey),
    hasKey: apiKey !== undefined,
    offered: apiKey === undefined ? undefined : await findOffered(origin, apiKey),
    extra: payer === undefined ? [] : [payToolOf(payer)],
  });
  const lines = createInterface({ input });
  const messages = Readable.from(messagesOf(lines[Symbol.asyncIterator](), output), { objectMode: false });
  const ended = new Promise<void>((resolve) => {
    messages.once('end', resolve);
    signal?.addEventListener('abort', () => resolve());
  });
  await server.connect(new StdioServerTransport(messages, output));
  onReady();
  await ended;
  await server.close();
  lines.close();
}

/** The lines that are JSON. The transport skips others silently, so they are answered here. */
async function* messagesOf(lines: AsyncIterable<string>, output: Writable): AsyncGenerator<string> {
  for await (const line of lines) {
    if (isJson(line)) yield `${line}\n`;
    else if (line.trim() !== '')
      output.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } })}\n`,
      );
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function isPrivateWay({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname);
}

function payToolOf({ privateKey, maxAmount, rpcUrls = {}, policy }: NonNullable<StdioOptions['payer']>) {
  const account = privateKeyToAccount(privateKey);
  return payTool({ account, maxAmount, rpcUrls, policy: { tokens: knownTokens, ...policy } });
}

/**
 * The tools that the installation offers to a key; undefined when it does not answer now: it refuses each call that the key
 * may not make.
 */
async function findOffered(origin: string, apiKey: string): Promise<ReadonlySet<string> | undefined> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined);
  if (response?.status === 401) throw new Error(`${origin} does not know the API key`);
  if (response?.ok !== true) return undefined;
  const { result } = (await response.json()) as { result: { tools: readonly { name: string }[] } };
  return new Set(result.tools.map(({ name }) => name));
}

function httpApi(origin: string, apiKey: string | undefined): CallApi {
  return async ({ method, path, body, headers = {} }) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...headers,
        // The AI protocol uses no key and does not receive one.
        ...(apiKey === undefined || !path.startsWith('/payment/')
          ? {}
          : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.text();
  };
}
