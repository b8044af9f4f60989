import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { jsonType } from './route-handler.ts';
import type { Door } from './server.ts';

/** GET /openapi.json, and the same below /aipay: the public document of the given interfaces. */
export function openApiDoor(options: { origin: string; tables: readonly RouteTable[] }): Door {
  const text = JSON.stringify(openApiDocument(options));
  return (server) => {
    // The AI protocol's own host serves the first path; a single origin also serves the second.
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
