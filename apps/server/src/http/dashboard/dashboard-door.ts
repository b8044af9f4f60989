import type { Database } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { proofRoutes } from '@florin/protocol/dashboard-sign-in.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { TellInvited, TellPerson } from '#members/context.ts';
import type { SignIn } from '#members/sign-in-session.ts';
import type { VerifyWallet } from '#members/verify-wallet.ts';
import { envelope } from '../envelope.ts';
import type { OperationContext } from '../operations/context.ts';
import { merchantRoutes } from '../operations/once.ts';
import { addSharedRoutes } from '../operations/shared.ts';
import { type Limits, merchantGuards } from '../rate-limit.ts';
import { routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { addWalletRoutes } from './accounts.ts';
import { signInAttempts } from './attempts.ts';
import { addAuditRoutes } from './audit-list.ts';
import { auditRecorder } from './audit-record.ts';
import { addInstallationRoutes, type Installation } from './installation.ts';
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

export interface DashboardDoorContext extends OperationContext {
  /** In the scope of the system: people are looked up before their merchant is known. */
  readonly people: Database;
  readonly signIn: SignIn;
  /** The origin of the dashboard's pages. */
  readonly dashboardOrigin: string;
  /** The name of the installation. */
  readonly displayName?: string | undefined;
  /** In the local environment a password alone opens the dashboard. */
  readonly environment: 'local' | 'production';
  readonly limits?: Limits | undefined;
  readonly verifyWallet: VerifyWallet;
  /** What the operator's screens show of the installation. */
  readonly installation: Installation;
  /** Absent where no e-mail is configured. */
  readonly tellPerson?: TellPerson | undefined;
  readonly tellInvited?: TellInvited | undefined;
  /** How long an added wallet waits that is not the merchant's first, in milliseconds. */
  readonly walletDelayMs: number;
}

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
  const deps = { ...given, db: { inScope: (merchantId: string) => given.people.inScope(merchantId) } };
  const attempts = signInAttempts(deps.limits);
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
    const places = ['florin', new URL(deps.dashboardOrigin).hostname, deps.displayName ?? ''];
    const personal = { ...deps, attempts, places };
    addSignInRoutes(addSignIn, personal);
    addVisitorLinkRoutes(addSignIn, personal);
    addMeRoutes(addPersonal, personal);
    addProofRoutes(addPersonal, personal);
    addNotificationRoutes(addPersonal, personal);
    addViewRoutes(addPersonal, personal);
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
    // A lost account waits as long as a wallet: both lead to the merchant's money.
    addRecoveryRoutes(addOfMerchant, { ...deps, recoveryDelayMs: deps.walletDelayMs });
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
