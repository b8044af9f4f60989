import { fileURLToPath } from 'node:url';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { html } from '#outside/html.ts';
import { browserPagePolicy, isForBrowser, renderPage } from '../browser-page.ts';
import { type BuiltSite, type SiteFile, siteFinder } from '../built-site.ts';
import { chooseCoding } from '../compression.ts';
import type { Door } from '../server.ts';

const builtFolder = fileURLToPath(new URL('../../../../dashboard/dist/', import.meta.url));

/**
 * The dashboard's pages, which apps/dashboard has built. Every path below `/dashboard` that names no file is a screen, so
 * it answers the one page; its script shows the screen.
 * @param folder The output folder of apps/dashboard; another folder in tests.
 */
export function dashboardPagesDoor(folder = builtFolder): Door {
  const findSite = siteFinder(folder, (text) => text);
  return (server) => {
    const serve = (path: string) => {
      server.get(path, { config: { query: 'any' } }, async (request, reply) => {
        const site = await findSite();
        if (site === undefined) return sayUnbuilt(request, reply);
        const name = (request.params as { '*'?: string })['*'] ?? '';
        const file = await site.find(name);
        if (file !== undefined) return send(request, reply, site, file);
        const page = await site.find('index.html');
        const isScreen = isForBrowser(request) && !name.startsWith('assets/');
        if (page === undefined || !isScreen) {
          throw new Refusal('route_unknown', `GET /dashboard/${name.slice(0, 200)}`);
        }
        return send(request, reply, site, page);
      });
    };
    serve('/dashboard');
    serve('/dashboard/*');
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
    'cache-control': request.url.startsWith('/dashboard/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'no-cache',
    etag: file.etag,
    vary: 'accept, accept-encoding',
    'content-security-policy': site.policy,
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
  const text = 'The dashboard is being built. This takes some seconds after the first start.';
  const advice = 'If it does not appear, run `npm run dashboard` in the checkout.';
  reply.code(503).headers({ 'retry-after': '2', 'cache-control': 'no-store' });
  if (!isForBrowser(request)) {
    reply.type('text/plain; charset=utf-8');
    return `${text} ${advice}\n`;
  }
  reply
    .type('text/html; charset=utf-8')
    .headers({ refresh: '1', 'content-security-policy': browserPagePolicy });
  return renderPage('The dashboard is being built', html`<p>${text}</p><p>${advice}</p>`);
}
