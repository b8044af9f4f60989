import { type CallApi, mcpServer } from '@florin/mcp';
import { errorCatalogue, Refusal } from '@florin/protocol/error.ts';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKeyLookup, authenticate } from '#merchants/api-key.ts';
import type { Clock } from '#outside/clock.ts';
import type { ParsedBody } from '../body.ts';
import { type MerchantGuards, merchantGuards, networkOf, type RateLimits } from '../rate-limit.ts';
import { jsonType } from '../route-handler.ts';
import type { Door } from '../server.ts';

export interface McpDoorOptions {
  /** The service's public origin: pages of other origins are refused. */
  readonly origin: string;
  readonly clock: Clock;
  readonly rateLimits: RateLimits | undefined;
  readonly lookupApiKey: ApiKeyLookup;
}

/**
 * The Model Context Protocol over streamable HTTP at `/mcp`, without sessions: every POST stands alone and is answered
 * with JSON, so any replica can answer it. Its tools ask this server's own doors, with the caller's key and from the
 * caller's address. Without a key there are the tools of payers; a key that is wrong is HTTP 401, whatever was asked.
 */
export function mcpDoor(options: McpDoorOptions): Door {
  const guards = merchantGuards(options.rateLimits, options.clock);
  return (server) => {
    for (const path of ['/mcp', '/aipay/mcp']) {
      server.post(path, {
        onRequest: async (request, reply) => {
          guards.publicRead(networkOf(request.ip), reply);
          await checkKey(options, guards, request, reply);
        },
        handler: async (request, reply) => {
          const { value } = request.body as ParsedBody;
          // What a browser sends for any page, also after the page's name was bound to this address anew.
          const { origin } = request.headers;
          if (origin !== undefined && origin !== options.origin)
            return refuse(reply, { status: 403, code: -32_000, message: 'this origin may not call' });
          // A batch would be many calls for the price of one.
          if (Array.isArray(value))
            return refuse(reply, { status: 400, code: -32_600, message: 'send one message at a time' });
          return answer(server, options, request, reply, value);
        },
      });
    }
  };
}

/** Refuses a header that holds no key that works (200101, 200102); clients learn from the answer's header to ask for one. */
async function checkKey(
  { lookupApiKey, clock }: McpDoorOptions,
  guards: MerchantGuards,
  { headers: { authorization, origin }, ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (authorization === undefined) return;
  try {
    await authenticate(lookupApiKey, authorization, clock.now(), { clientAddress: ip, origin });
  } catch (error) {
    if (error instanceof Refusal && errorCatalogue[error.slug].http === 401) {
      guards.failedAuthentication(networkOf(ip), reply);
      reply.header('www-authenticate', 'Bearer realm="Florin", error="invalid_token"');
    }
    throw error;
  }
}

function refuse(reply: FastifyReply, why: { status: number; code: number; message: string }): string {
  const { status, code, message } = why;
  reply.code(status).type(jsonType);
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
}

async function answer(
  server: FastifyInstance,
  { origin }: McpDoorOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  message: unknown,
): Promise<string> {
  const { authorization } = request.headers;
  const mcp = mcpServer({ callApi: innerApi(server, request), hasKey: authorization !== undefined });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await mcp.connect(transport);
  try {
    const headers = new Headers();
    for (const name of ['accept', 'content-type', 'mcp-protocol-version']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const asked = new Request(`${origin}/mcp`, { method: 'POST', headers });
    const response = await transport.handleRequest(asked, { parsedBody: message });
    const type = response.headers.get('content-type');
    reply.code(response.status);
    if (type !== null) reply.type(type);
    return await response.text();
  } finally {
    await mcp.close();
  }
}

/** This server's own routes, asked as the caller would ask them: keys, permissions, limits and idempotency are theirs. */
function innerApi(server: FastifyInstance, request: FastifyRequest): CallApi {
  const { authorization } = request.headers;
  return async ({ method, path, body, headers = {} }) => {
    const response = await server.inject({
      method,
      url: path,
      remoteAddress: request.ip,
      headers: {
        ...headers,
        // The AI protocol takes no key, and is not shown one.
        ...(authorization === undefined || !path.startsWith('/payment/') ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return response.body;
  };
}
