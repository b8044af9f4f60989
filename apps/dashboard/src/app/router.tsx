import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  type AsyncRouteComponent,
  createRootRoute,
  createRoute,
  createRouter,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ApiFailure } from '../api/failure.ts';
import { lazyScreen } from './lazy-screen.ts';
import { meKey } from './me-key.ts';
import { firstMerchant, type Me } from './merchant.ts';
import { operatorBase } from './open-screens.ts';
import { NotFound, RouteFailure } from './route-failure.tsx';
import type { Screen } from './screen.ts';
import { operatorScreens, screens } from './screens.ts';
import { parseSearch, writeSearch } from './search-text.ts';
import { Shell } from './shell.tsx';
import { readMe } from './use-me.ts';

/** The person who is signed in; leads to the sign-in when there is none. */
async function findMe(queries: QueryClient, href: string): Promise<Me> {
  try {
    return await queries.ensureQueryData({
      queryKey: meKey,
      queryFn: readMe,
      revalidateIfStale: true,
    });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.slug !== 'sign_in_required') throw error;
    throw redirect({ to: '/sign-in', search: { next: href } });
  }
}

/** The routes: signing in, the person, the operator's screens, and below each merchant its own. */
export function makeRouter(queries: QueryClient) {
  const root = createRootRoute({
    component: Outlet,
    notFoundComponent: () => (
      <main>
        <NotFound />
      </main>
    ),
    errorComponent: RouteFailure,
  });
  const outside = (path: string, load: Parameters<typeof lazyScreen>[0]) =>
    createRoute({ getParentRoute: () => root, path, component: lazyScreen(load) });
  const signedIn = createRoute({
    getParentRoute: () => root,
    id: 'signed-in',
    beforeLoad: ({ location }) => findMe(queries, location.href).then((me) => ({ me })),
    component: Shell,
    errorComponent: RouteFailure,
  });
  const first = createRoute({
    getParentRoute: () => signedIn,
    path: '/',
    beforeLoad: async ({ location }) => {
      const me = await findMe(queries, location.href);
      const merchantId = firstMerchant(me);
      const without = me.isStaff ? `/${operatorBase}` : '/my-account';
      throw redirect({ to: merchantId === undefined ? without : `/${merchantId}`, replace: true });
    },
  });
  const myAccount = createRoute({
    getParentRoute: () => signedIn,
    path: 'my-account',
    component: lazyScreen(() => import('../my-account/my-account.tsx')),
  });
  const operator = createRoute({
    getParentRoute: () => signedIn,
    path: operatorBase,
    notFoundComponent: NotFound,
  });
  operator.addChildren(operatorScreens.flatMap((screen) => screenRoutes(() => operator, screen)));
  const merchant = createRoute({
    getParentRoute: () => signedIn,
    path: '$merchantId',
    notFoundComponent: NotFound,
    // A path without a merchant, as in an e-mail or a document, belongs to the merchant of the last visit.
    beforeLoad: async ({ params, location }) => {
      const { merchantId } = params as { merchantId: string };
      if (merchantId.startsWith('mer_')) return;
      const id = firstMerchant(await findMe(queries, location.href));
      if (id === undefined) throw notFound();
      throw redirect({ href: `/dashboard/${id}${location.href}`, replace: true });
    },
  });
  merchant.addChildren(screens.flatMap((screen) => screenRoutes(() => merchant, screen)));
  signedIn.addChildren([first, myAccount, operator, merchant]);
  root.addChildren([
    outside('sign-in', () => import('../sign-in/sign-in.tsx')),
    outside('invitation', () => import('../invitation/invitation.tsx')),
    outside('recovery', () => import('../recovery/recovery.tsx')),
    signedIn,
  ]);
  const router = createRouter({
    routeTree: root,
    basepath: '/dashboard',
    // The router's own would read numbers, and write `%22100%22` for a text that looks like one.
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
  // The file of the first screen is read while the service says who is signed in; the router would read it afterwards.
  const routes: Readonly<Record<string, AnyRoute>> = router.routesById;
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const component: AsyncRouteComponent<object> | undefined = routes[routeId]?.options.component;
    void component?.preload?.();
  }
  return router;
}

function screenRoutes(getParentRoute: () => AnyRoute, screen: Screen): AnyRoute[] {
  const own = createRoute({
    getParentRoute,
    path: screen.path === '' ? '/' : screen.path,
    component: lazyScreen(screen.load),
  });
  const pages = Object.entries(screen.pages ?? {}).map(([path, load]) =>
    createRoute({ getParentRoute, path: `${screen.path}/${path}`, component: lazyScreen(load) }),
  );
  return [own, ...pages];
}
