import { merchantHeader } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { isId } from '@florin/protocol/id.ts';
import { needsFreshProof, type Role, rolePermissions } from '@florin/protocol/member-role.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#members/audit.ts';
import { findRole } from '#members/membership.ts';
import { freshSeconds, isStrong } from '#members/proof.ts';
import { clientAddressHeader, type SignedIn } from '#members/sign-in-session.ts';
import { isStaff } from '#members/staff.ts';
import { findOverview } from '#members/user.ts';
import { idempotencyKeyOf } from '#merchants/idempotency.ts';
import type { MerchantCaller } from '../operations/once.ts';
import type { VisitorContext } from './context.ts';

/** A person who is signed in. */
export interface Person extends SignedIn {
  /** The request's headers, for the library. */
  readonly headers: Headers;
  readonly isStrong: boolean;
  readonly isFresh: boolean;
  /** How long the person stays fresh. */
  readonly freshSeconds: number;
}

/** A member who acts for the merchant that the request names. */
export interface MemberCaller extends MerchantCaller {
  readonly role: Role;
  readonly actor: Actor;
}

/** A person of the operator's staff. */
export interface StaffCaller {
  readonly userId: string;
  readonly actor: Actor;
}

/** The member who calls. The door's routes of merchants have no other callers. */
export function memberOf(caller: MerchantCaller): MemberCaller {
  if (!('role' in caller)) throw new Error('a route of the dashboard was called by an API key');
  return caller as MemberCaller;
}

/**
 * Refuses (200206) a write that does not come from the dashboard's own pages. Browsers send the origin with every POST, so a
 * request without one is no page's. Sec-Fetch-Site, which newer browsers send, must agree.
 */
export function assertSameOrigin(request: FastifyRequest, dashboardOrigin: string): void {
  if (request.method === 'GET') return;
  const { origin, 'sec-fetch-site': site = 'same-origin' } = request.headers;
  if (origin !== dashboardOrigin || site !== 'same-origin') {
    throw new Refusal('origin_forbidden', `writes come from ${dashboardOrigin} alone`);
  }
}

/** The headers that the library reads: the cookie, the origin, the browser's name and the client's address. */
export function libraryHeaders(request: FastifyRequest): Headers {
  const headers = new Headers({ [clientAddressHeader]: request.ip });
  for (const name of ['cookie', 'origin', 'user-agent']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

/** The person of the request's session. Refuses a request without one (200201). */
export async function findPerson(deps: VisitorContext, request: FastifyRequest): Promise<Person> {
  assertSameOrigin(request, deps.dashboardOrigin);
  const headers = libraryHeaders(request);
  const session = await deps.signIn.findSession(headers);
  if (session === undefined) throw new Refusal('sign_in_required');
  const seconds = freshSeconds(session.provenAt, deps.clock.now());
  return {
    ...session,
    headers,
    isStrong: isStrong(session.proof, deps.environment),
    ...{ isFresh: seconds > 0, freshSeconds: seconds },
  };
}

/**
 * Refuses (200203) in production a session by a password alone where the person has a stronger way. A recovery code passes:
 * who has lost the stronger ways replaces them with it.
 */
export async function assertStrongest(
  { people }: Pick<VisitorContext, 'people'>,
  person: Person,
): Promise<void> {
  if (person.isStrong || person.proof === 'recovery') return;
  const { hasSecondFactor, passkeys, wallets } = await findOverview(people, person.userId);
  if (hasSecondFactor || passkeys > 0 || wallets.length > 0) {
    throw new Refusal('second_factor_required', 'sign in with the passkey, the second factor or the wallet');
  }
}

/** Refuses (200204) a sensitive act without a proof from the last five minutes of who acts. */
export function assertFresh(person: Pick<Person, 'isFresh'>): void {
  if (person.isFresh) return;
  throw new Refusal('fresh_proof_required', 'sensitive acts need a proof from the last five minutes');
}

/**
 * The member for whom the route is open. Refuses a weak session (200203), a merchant that the person does not act for or a
 * role without the permission (200205), and a sensitive act without a fresh proof (200204).
 * @param merchantId By default the one of the request's header, which a frame cannot send.
 */
export async function findMemberCaller(
  deps: VisitorContext,
  request: FastifyRequest,
  route: Route,
  merchantId: unknown = request.headers[merchantHeader],
): Promise<MemberCaller> {
  const person = await findStrongPerson(deps, request);
  if (typeof merchantId !== 'string' || !isId('merchant', merchantId)) {
    throw fieldRefusal('Florin-Merchant', 'must be the header with the id of a merchant');
  }
  const role = await findRole(deps.people, { merchantId, userId: person.userId });
  // Whether the merchant exists is not told.
  if (role === undefined) throw new Refusal('role_forbidden', `no member of ${merchantId}`);
  const held = rolePermissions[role];
  if (!route.permissions.some((permission) => held.has(permission))) {
    throw new Refusal('role_forbidden', `${role} lacks ${route.permissions.join(' or ')}`);
  }
  if (needsFreshProof(route)) assertFresh(person);
  const header = route.method === 'POST' ? request.headers['idempotency-key'] : undefined;
  return {
    callerId: person.userId,
    merchantId,
    kind: 'member',
    lacksProof: !person.isFresh,
    permissions: person.isFresh ? held : withoutSecrets(held),
    limits: { maxSessionAmount: undefined, maxDayAmount: undefined },
    idempotencyKey: idempotencyKeyOf(header),
    role,
    actor: actorOf(person, requestFacts(request, person), role === 'staff' ? 'staff' : 'member'),
  };
}

/**
 * The person of the staff for whom the route is open. Refuses a weak session (200203), everyone else (200205), and changes
 * without a fresh proof (200204).
 */
export async function findStaffCaller(
  deps: VisitorContext,
  request: FastifyRequest,
  route: Route,
): Promise<StaffCaller> {
  const person = await findStrongPerson(deps, request);
  if (!(await isStaff(deps.people, person.userId))) {
    throw new Refusal('role_forbidden', 'only the operator’s staff');
  }
  if (needsFreshProof(route)) assertFresh(person);
  return { userId: person.userId, actor: actorOf(person, requestFacts(request, person), 'staff') };
}

async function findStrongPerson(deps: VisitorContext, request: FastifyRequest): Promise<Person> {
  const person = await findPerson(deps, request);
  if (person.isStrong) return person;
  throw new Refusal('second_factor_required', 'add a passkey, a second factor or a wallet');
}

/** What an actor's request says of where it came from. */
interface RequestFacts {
  readonly caller: { readonly headers: Headers };
  readonly clientAddress: string;
  readonly requestId: string;
}

function requestFacts({ ip: clientAddress, id: requestId }: FastifyRequest, caller: Person): RequestFacts {
  return { caller, clientAddress, requestId };
}

/** A person as the audit log names who acts. */
export function actorOf(
  { userId: id, email: name }: Pick<SignedIn, 'userId' | 'email'>,
  { caller, clientAddress, requestId }: RequestFacts,
  kind: Actor['kind'] = 'member',
): Actor {
  return { kind, id, name, clientAddress, requestId, userAgent: caller.headers.get('user-agent') ?? '' };
}

/** Secrets of webhooks are masked until the person has proven again who they are. */
function withoutSecrets(held: ReadonlySet<MemberPermission>): ReadonlySet<MemberPermission> {
  return new Set([...held].filter((permission) => permission !== 'webhook_secrets:read'));
}
