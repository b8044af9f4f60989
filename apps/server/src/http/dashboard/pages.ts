import { fileURLToPath } from 'node:url';
import { Refusal } from '@florin/protocol/error.ts';
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
        if (site === undefined) return sayUnbuilt(pages, request, reply);
        const name = (request.params as { '*'?: string })['*'] ?? '';
        const file = await site.find(name);
        if (file !== undefined) return sendBuilt(pages, request, reply, { site, file });
        const page = await site.find('index.html');
        const isScreen = isForBrowser(request) && !name.startsWith('assets/');
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
