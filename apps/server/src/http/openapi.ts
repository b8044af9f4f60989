import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { jsonType } from './route-handler.ts';
import type { Door } from './server.ts';

/** GET /openapi.json, and the same below /aipay: the document of the given interfaces, for anyone to read. */
export function openApiDoor(options: { origin: string; tables: readonly RouteTable[] }): Door {
  const text = JSON.stringify(openApiDocument(options));
  return (server) => {
    // A host of its own for the AI protocol serves the first; one origin for everything also has the second.
    for (const path of ['/openapi.json', '/aipay/openapi.json']) {
      server.get(path, async (_request, reply) => {
        reply.type(jsonType).headers({
          'cache-control': 'public, max-age=300',
          // Documentation viewers on other origins read it.
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        });
        return text;
      });
    }
  };
}
