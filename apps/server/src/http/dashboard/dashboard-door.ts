import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { proofRoutes } from '@florin/protocol/dashboard-sign-in.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import { envelope } from '../envelope.ts';
import { merchantRoutes } from '../operations/once.ts';
import { addSharedRoutes } from '../operations/shared.ts';
import { merchantGuards } from '../rate-limit.ts';
import { routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { addWalletRoutes } from './accounts.ts';
import { signInAttempts } from './attempts.ts';
import { addAuditRoutes } from './audit-list.ts';
import { auditRecorder } from './audit-record.ts';
import type { DashboardDoorContext } from './context.ts';
import { addInstallationRoutes } from './installation.ts';
import { addKeyRoutes } from './keys.ts';
import { addOwnLinkRoutes } from './links.ts';
import { addMeRoutes, addNotificationRoutes, addProofRoutes, addViewRoutes } from './me.ts';
import { addMemberRoutes, addRecoveryRoutes } from './members.ts';
import { addOwnMerchantRoutes } from './merchant.ts';
import { addRefundSigningRoutes } from './refund-signing.ts';
import { addSessionHistoryRoutes } from './session-history.ts';
import { addSignInRoutes, addVisitorLinkRoutes, type Visitor } from './sign-in.ts';
import { addStaffRoutes } from './staff.ts';
import { addSummaryRoutes } from './summary.ts';
import {
  assertFresh,
  assertSameOrigin,
  assertStrongest,
  findMemberCaller,
  findPerson,
  findStaffCaller,
  libraryHeaders,
  type MemberCaller,
  type Person,
  type StaffCaller,
} from './visitor.ts';

/** Routes that change how a person signs in; reading needs no fresh proof. */
const proofWrites: ReadonlySet<Route> = new Set(
  Object.values<Route>(proofRoutes).filter(({ method }) => method === 'POST'),
);

/** What a person does with a password alone who has a stronger way to sign in: see that it is needed, prove it, and leave. */
const openToWeak: ReadonlySet<Route> = new Set<Route>([
  dashboardApi.routes.getMe,
  dashboardApi.routes.prove,
  dashboardApi.routes.signOut,
]);

/**
 * What the dashboard's pages call: signing in, the person, and the merchant's operations, which are the merchant API's and
 * a few more. The caller is a member with the cookie of a session, and every change is recorded in the audit log.
 */
export function dashboardDoor(given: DashboardDoorContext): Door {
  // Only the narrowing is passed on: routes of a merchant never see more.
  const db = { inScope: (merchantId: string) => given.people.inScope(merchantId) };
  const attempts = signInAttempts(given.limits);
  const places = ['florin', new URL(given.dashboardOrigin).hostname, given.displayName ?? ''];
  const deps = { ...given, db, attempts, places };
  return (server) => {
    const guards = merchantGuards(server, 'dashboard', deps.limits);
    // The service's time, which the local world moves: the pages tell times by it.
    server.addHook('onRequest', (_request, reply, done) => {
      reply.header('date', deps.clock.now().toUTCString());
      done();
    });
    const shape = { basePath: dashboardApi.basePath, shape: envelope, addresses: deps.addresses };
    const addSignIn = routesOf<Visitor>(server, {
      ...shape,
      authorize: async (request) => {
        assertSameOrigin(request, deps.dashboardOrigin);
        await attempts.ofNetwork(request.ip);
        return { headers: libraryHeaders(request) };
      },
    });
    const addPersonal = routesOf<Person>(server, {
      ...shape,
      authorize: async (request, route, reply) => {
        const person = await findPerson(deps, request);
        guards.ofKey(route, person.userId, reply);
        if (proofWrites.has(route)) assertFresh(person);
        if (!openToWeak.has(route)) await assertStrongest(deps, person);
        return person;
      },
    });
    const addOfMerchant = routesOf<MemberCaller>(server, {
      ...shape,
      authorize: async (request, route, reply) => {
        const caller = await findMemberCaller(deps, request, route);
        guards.ofKey(route, caller.callerId, reply);
        return caller;
      },
    });
    addSignInRoutes(addSignIn, deps);
    addVisitorLinkRoutes(addSignIn, deps);
    addMeRoutes(addPersonal, deps);
    addProofRoutes(addPersonal, deps);
    addNotificationRoutes(addPersonal, deps);
    addViewRoutes(addPersonal, deps);
    const addOfStaff = routesOf<StaffCaller>(server, {
      ...shape,
      authorize: async (request, route, reply) => {
        const caller = await findStaffCaller(deps, request, route);
        guards.ofKey(route, caller.userId, reply);
        return caller;
      },
    });
    addStaffRoutes(addOfStaff, deps);
    addInstallationRoutes(addOfStaff, deps);
    const add = merchantRoutes(addOfMerchant, deps, auditRecorder(deps));
    addSharedRoutes(add, deps);
    addOwnMerchantRoutes(add);
    addWalletRoutes(add, deps);
    addOwnLinkRoutes(add, deps);
    addSummaryRoutes(add, deps);
    addMemberRoutes(add, deps);
    addRecoveryRoutes(addOfMerchant, deps);
    addKeyRoutes(add, deps);
    addAuditRoutes(add);
    addSessionHistoryRoutes(add, deps);
    addRefundSigningRoutes(add, { ...deps, rpcOf: deps.installation.rpcOf });
    // Before the pages, which answer every other path below /dashboard.
    server.route({
      method: ['GET', 'POST'],
      url: `${dashboardApi.basePath}/*`,
      config: { query: 'any' },
      handler: async ({ method, url }) => {
        throw new Refusal('route_unknown', `${method} ${url.split('?', 1)[0]?.slice(0, 200)}`);
      },
    });
  };
}
