import { type CallApi, mcpServer } from '@florin/mcp';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';

/** Answers one message by a server of its own, whose tools call this server's doors. */
export async function answerMcp(
  server: FastifyInstance,
  origin: string,
  {
    request,
    key,
    reply,
    message,
  }: {
    readonly request: FastifyRequest;
    readonly key: ApiKeyIdentity | undefined;
    readonly reply: FastifyReply;
    readonly message: unknown;
  },
): Promise<string> {
  const mcp = mcpServer({
    callApi: innerApi(server, request),
    hasKey: key !== undefined,
    permissions: key?.permissions,
  });
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

/** Calls this server's own routes on behalf of the caller, so that keys, permissions, limits and idempotency apply. */
function innerApi(server: FastifyInstance, request: FastifyRequest): CallApi {
  const { authorization } = request.headers;
  return async ({ method, path, body, headers = {} }) => {
    const response = await server.inject({
      method,
      url: path,
      remoteAddress: request.ip,
      headers: {
        ...headers,
        // The AI protocol uses no key and does not receive one.
        ...(authorization === undefined || !path.startsWith('/payment/') ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return response.body;
  };
}
