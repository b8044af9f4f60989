import { openApiDocument } from '@florin/protocol/openapi.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { jsonType } from './route-handler.ts';
import type { Door } from './server.ts';

/** GET /openapi.json, and the same below /aipay: the public document of the given interfaces. */
export function openApiDoor(options: { origin: string; tables: readonly RouteTable[] }): Door {
  return publicDocument('/openapi.json', openApiDocument(options));
}

/** Serves a document at a path, and the same below /aipay for a single origin; the AI protocol's own host has the first. */
export function publicDocument(path: string, document: object): Door {
  const text = JSON.stringify(document);
  return (server) => {
    for (const base of ['', '/aipay']) {
      server.get(base + path, async (_request, reply) => {
        reply.type(jsonType).headers({
          'cache-control': 'public, max-age=300',
          // Agents in browsers and documentation viewers on other origins read it.
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        });
        return text;
      });
    }
  };
}
