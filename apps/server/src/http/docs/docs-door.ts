import { fileURLToPath } from 'node:url';
import { Refusal } from '@florin/protocol/error.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { type Chains, finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { html } from '#outside/html.ts';
import { browserPagePolicy, isForBrowser, renderPage } from '../browser-page.ts';
import { type BuiltSite, type SiteFile, siteFinder } from '../built-site.ts';
import { chooseCoding } from '../compression.ts';
import type { Door } from '../server.ts';

export interface DocsOptions {
  /** Public origin of the installation. It takes the place of the example origin in every text. */
  readonly origin: string;
  readonly chains: Chains;
  /** The output folder of apps/docs; another folder in tests. */
  readonly folder?: string;
}

const builtFolder = fileURLToPath(new URL('../../../../docs/dist/', import.meta.url));
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
        if (site === undefined) return sayUnbuilt(request, reply);
        const name = nameOf(request);
        // The page for unknown addresses is itself at none.
        const isPage = name !== '404' && name !== '404.html';
        const file = isPage ? ((await site.find(name)) ?? (await site.find(`${name}.html`))) : undefined;
        if (file !== undefined) return send(request, reply, site, file);
        const notFound = isForBrowser(request) ? await site.find('404.html') : undefined;
        if (notFound === undefined) throw new Refusal('route_unknown', `GET /docs/${name.slice(0, 200)}`);
        reply.code(404);
        return send(request, reply, site, notFound);
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

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  site: BuiltSite,
  file: SiteFile,
): Promise<Buffer | undefined> {
  reply.type(file.type).headers({
    // An asset's name contains a hash of its content.
    'cache-control': request.url.startsWith('/docs/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'public, no-cache',
    etag: file.etag,
    vary: 'accept, accept-encoding',
    'content-security-policy': site.policy,
    // The pages are public, and tools on other origins read them.
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  });
  if (fresh(request.headers, { etag: file.etag })) {
    reply.code(304).send();
    return undefined;
  }
  const coding = chooseCoding(request.headers['accept-encoding']);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return file.bytesIn(coding);
}

/** The answer before the first build is complete. Browsers reload by themselves. */
function sayUnbuilt(request: FastifyRequest, reply: FastifyReply): string {
  const text = 'The documentation is being built. This takes up to a minute after the first start.';
  const advice = 'If it does not appear, run `npm run docs` in the checkout.';
  reply.code(503).headers({ 'retry-after': '5', 'cache-control': 'no-store' });
  if (!isForBrowser(request)) {
    reply.type('text/plain; charset=utf-8');
    return `${text} ${advice}\n`;
  }
  reply
    .type('text/html; charset=utf-8')
    .headers({ refresh: '3', 'content-security-policy': browserPagePolicy });
  return renderPage('The documentation is being built', html`<p>${text}</p><p>${advice}</p>`);
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
