import { fileURLToPath } from 'node:url';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyRequest } from 'fastify';
import { isForBrowser } from '../browser-page.ts';
import { type BuiltPages, sayUnbuilt, sendBuilt } from '../built-pages.ts';
import { siteFinder } from '../built-site.ts';
import type { Door } from '../server.ts';

const builtFolder = fileURLToPath(new URL('../../../../dashboard/dist/', import.meta.url));

const pages: BuiltPages = {
  path: '/dashboard',
  name: 'dashboard',
  takes: 'some seconds',
  command: 'npm run dashboard',
  isPublic: false,
};

/** The origins of the service and of the dashboard, which differ in the local world alone. */
interface PagesOptions {
  readonly origin?: string;
  readonly dashboardOrigin?: string;
  /** The output folder of apps/dashboard; another folder in tests. */
  readonly folder?: string | undefined;
}

/**
 * The dashboard's pages, which apps/dashboard has built. Every path below `/dashboard` that names no file is a screen, so
 * it answers the one page; its script shows the screen. In the local world, whose service is at an address, visitors are
 * led to the name of the same place: passkeys need one, and writes are taken from there alone.
 */
export function dashboardPagesDoor(options: PagesOptions = {}): Door {
  const { origin, dashboardOrigin = origin, folder = builtFolder } = options;
  const unnamedHost = origin === undefined || dashboardOrigin === origin ? undefined : new URL(origin).host;
  const findSite = siteFinder(folder, (text) => text);
  return (server) => {
    const serve = (path: string) => {
      server.get(path, { config: { query: 'any' } }, async (request, reply) => {
        if (unnamedHost !== undefined && request.headers.host === unnamedHost)
          return reply.redirect(`${dashboardOrigin}${request.url}`);
        const site = await findSite();
        if (site === undefined) return sayUnbuilt(pages, request, reply);
        const name = (request.params as { '*'?: string })['*'] ?? '';
        const file = await site.find(name);
        if (file !== undefined) return sendBuilt(pages, request, reply, { site, file });
        const page = await site.find('index.html');
        const isScreen = isForBrowser(whoTakesAnything(request)) && !name.startsWith('assets/');
        if (page === undefined || !isScreen) {
          throw new Refusal('route_unknown', `GET /dashboard/${name.slice(0, 200)}`);
        }
        return sendBuilt(pages, request, reply, { site, file: page });
      });
    };
    serve('/dashboard');
    serve('/dashboard/*');
  };
}

/** The request; one of a tool that takes any type, such as curl, as a browser's. */
function whoTakesAnything({ url, headers }: FastifyRequest): Pick<FastifyRequest, 'url' | 'headers'> {
  const { accept = '*/*' } = headers;
  return { url, headers: accept === '*/*' ? { ...headers, accept: 'text/html' } : headers };
}
