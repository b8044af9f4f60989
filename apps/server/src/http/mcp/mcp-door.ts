import { errorCatalogue, Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKeyIdentity, type ApiKeyLookup, authenticate } from '#merchants/api-key.ts';
import type { Clock } from '#outside/clock.ts';
import type { ParsedBody } from '../body.ts';
import { type Limits, type MerchantGuards, merchantGuards, networkOf } from '../rate-limit.ts';
import { jsonType } from '../route-handler.ts';
import type { Door } from '../server.ts';

export interface McpDoorOptions {
  /** The service's public origin: pages of other origins are refused. */
  readonly origin: string;
  readonly clock: Clock;
  readonly limits: Limits | undefined;
  readonly lookupApiKey: ApiKeyLookup;
}

/**
 * The Model Context Protocol over streamable HTTP at `/mcp`, without sessions: every POST is independent and answered
 * with JSON, so that any replica can answer it. Its tools call this server's own doors with the caller's key and
 * address. Without a key only the payers' tools exist, and with one those that it may use; a wrong key is always HTTP 401.
 */
export function mcpDoor(options: McpDoorOptions): Door {
  // What the key of a request may do, between its check and its answer.
  const keys = new WeakMap<FastifyRequest, ApiKeyIdentity>();
  return (server) => {
    const guards = merchantGuards(server, 'mcp', options.limits);
    for (const path of ['/mcp', '/aipay/mcp']) {
      server.post(path, {
        onRequest: async (request, reply) => {
          guards.publicRead(networkOf(request.ip), reply);
          const key = await checkKey(options, guards, request, reply);
          if (key !== undefined) keys.set(request, key);
        },
        handler: async (request, reply) => {
          const { value } = request.body as ParsedBody;
          // Browsers send it for every page, so it also stops DNS rebinding.
          const { origin } = request.headers;
          if (origin !== undefined && origin !== options.origin)
            return refuse(reply, { status: 403, code: -32_000, message: 'this origin may not call' });
          // A batch would be many calls for the price of one.
          if (Array.isArray(value))
            return refuse(reply, { status: 400, code: -32_600, message: 'send one message at a time' });
          // The library of the protocol is a tenth of the service's memory at rest: the first request loads it.
          const { answerMcp } = await import('./mcp-answer.ts');
          return answerMcp(server, options.origin, {
            request,
            key: keys.get(request),
            reply,
            message: value,
          });
        },
      });
    }
  };
}

/** Refuses a header without a valid key (200101, 200102). The answer's header tells clients to ask for one. */
async function checkKey(
  { lookupApiKey, clock }: McpDoorOptions,
  guards: MerchantGuards,
  { headers: { authorization, origin }, ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<ApiKeyIdentity | undefined> {
  if (authorization === undefined) return undefined;
  try {
    return await authenticate(lookupApiKey, authorization, clock.now(), { clientAddress: ip, origin });
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
