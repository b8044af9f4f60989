import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { jsonType } from './route-handler.ts';
import type { Door } from './server.ts';

/** GET /openapi.json: the document of the given interfaces, for anyone to read. */
export function openApiDoor(options: { origin: string; tables: readonly RouteTable[] }): Door {
  const text = JSON.stringify(openApiDocument(options));
  return (server) => {
    server.get('/openapi.json', async (_request, reply) => {
      reply.type(jsonType).headers({
        'cache-control': 'public, max-age=300',
        // Documentation viewers on other origins read it.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
      return text;
    });
  };
}
