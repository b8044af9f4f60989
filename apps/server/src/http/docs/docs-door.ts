import { fileURLToPath } from 'node:url';
import { Refusal } from '@florin/protocol/error.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import type { FastifyRequest } from 'fastify';
import { type Chains, finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { isForBrowser } from '../browser-page.ts';
import { type BuiltPages, sayUnbuilt, sendBuilt } from '../built-pages.ts';
import { siteFinder } from '../built-site.ts';
import type { Door } from '../server.ts';

export interface DocsOptions {
  /** Public origin of the installation. It takes the place of the example origin in every text. */
  readonly origin: string;
  readonly chains: Chains;
  /** The output folder of apps/docs; another folder in tests. */
  readonly folder?: string;
}

const builtFolder = fileURLToPath(new URL('../../../../docs/dist/', import.meta.url));
const pages: BuiltPages = {
  path: '/docs',
  name: 'documentation',
  takes: 'a minute, and several on a slow machine',
  command: 'npm run docs',
  isPublic: true,
};
/** The row of `docs/reference/chains.md` that the chains of an installation replace. */
const chainRow = /^\| See \| .*\|$/m;

/**
 * The documentation that apps/docs has built: pages, the same pages as Markdown at the same path with `.md`, and the
 * indexes for language models. This door only serves files.
 */
export function docsDoor({ origin, chains, folder = builtFolder }: DocsOptions): Door {
  const findSite = siteFinder(folder, (text) =>
    text
      .replaceAll(exampleOrigin, origin)
      .replaceAll(new URL(exampleOrigin).host, new URL(origin).host)
      .replace(chainRow, chainRows(chains)),
  );
  return (server) => {
    const serve = (path: string, nameOf: (request: FastifyRequest) => string) => {
      server.get(path, { config: { query: 'any' } }, async (request, reply) => {
        const site = await findSite();
        if (site === undefined) return sayUnbuilt(pages, request, reply);
        const name = nameOf(request);
        // The page for unknown addresses is itself at none.
        const isPage = name !== '404' && name !== '404.html';
        const file = isPage ? ((await site.find(name)) ?? (await site.find(`${name}.html`))) : undefined;
        if (file !== undefined) return sendBuilt(pages, request, reply, { site, file });
        const notFound = isForBrowser(request) ? await site.find('404.html') : undefined;
        if (notFound === undefined) throw new Refusal('route_unknown', `GET /docs/${name.slice(0, 200)}`);
        reply.code(404);
        return sendBuilt(pages, request, reply, { site, file: notFound });
      });
    };
    server.get('/docs/chains.json', { config: { query: 'any' } }, async (_request, reply) => {
      reply.header('cache-control', 'no-cache');
      return chainList(chains);
    });
    serve('/docs', () => 'index');
    serve('/docs.md', () => 'index.md');
    serve('/docs/*', (request) => (request.params as { '*': string })['*'] || 'index');
    for (const base of ['', '/aipay']) {
      serve(`${base}/llms.txt`, () => 'llms.txt');
      serve(`${base}/llms-full.txt`, () => 'llms-full.txt');
    }
  };
}

function chainList(chains: Chains) {
  return chains.all.map((chain) => ({
    name: chain.name,
    chainId: chain.chainId,
    final: finalityText(chain.finality),
    usualSeconds: expectedSecondsToFinal(chain),
  }));
}

function chainRows(chains: Chains): string {
  return chainList(chains)
    .map(
      ({ name, chainId, final, usualSeconds }) => `| ${name} | ${chainId} | ${final} | ${usualSeconds} s |`,
    )
    .join('\n');
}
