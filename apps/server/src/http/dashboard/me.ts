import type { Database } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import { findBounces, retryOwnAddress } from '#mail/bounce.ts';
import { type Actor, recordAct, recordPersonalAct } from '#members/audit.ts';
import type { MemberContext } from '#members/context.ts';
import { acceptanceAct, acceptInvitation } from '#members/invitation.ts';
import { listOwnMerchants } from '#members/membership.ts';
import { chooseNotification, listNotifications } from '#members/notification.ts';
import { listPaymentViews, removePaymentView, savePaymentView } from '#members/payment-view.ts';
import { cancelRecovery, findRecovery, type Recovery } from '#members/recovery.ts';
import { renewRecoveryCodes } from '#members/recovery-code.ts';
import type { SignIn } from '#members/sign-in-session.ts';
import {
  endOtherSessions,
  endSession,
  findOverview,
  isPassword,
  listSessions,
  noteProof,
  removeWallet,
} from '#members/user.ts';
import { type AddRoute, type RouteCall, success } from '../route-handler.ts';
import type { Attempts } from './attempts.ts';
import { answerAuditPage } from './audit-list.ts';
import { askLibrary, withCookies } from './sign-in.ts';
import type { Person } from './visitor.ts';

const { routes } = dashboardApi;

interface MeDeps extends MemberContext {
  readonly people: Database;
  readonly signIn: SignIn;
  readonly attempts: Attempts;
  readonly environment: 'local' | 'production';
}

export function shownRecovery({ status, effectiveAt }: Recovery) {
  return { status, effectiveAt: effectiveAt === undefined ? '' : formatTimestamp(effectiveAt) };
}

/** What a person sees and does about themselves. */
export function addMeRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people, signIn } = deps;

  add(routes.getMe, async ({ caller }) => {
    const { userId, name, email, sessionId, proof } = caller;
    const overview = await findOverview(people, userId);
    const sessions = await listSessions(people, deps, userId);
    const recovery = await findRecovery(people, deps, userId);
    return {
      ...overview,
      ...{ userId, name, email, sessionId, proof, isStrong: caller.isStrong, isFresh: caller.isFresh },
      wallets: [...overview.wallets],
      newDevices: sessions.filter((session) => session.isNewDevice && session.sessionId !== sessionId).length,
      recovery: recovery === undefined ? null : shownRecovery(recovery),
      merchants: [...(await listOwnMerchants(people, userId))],
    };
  });

  add(routes.signOut, async ({ caller }) => {
    const { cookies } = await askLibrary(signIn, '/sign-out', caller);
    return withCookies(success, cookies);
  });

  add(routes.prove, async ({ body, caller }) => {
    const { userId, sessionId, headers } = caller;
    deps.attempts.ofSession(sessionId);
    const { hasSecondFactor } = await findOverview(people, userId);
    if (!(await isPassword(people, userId, body.password)))
      throw new Refusal('sign_in_failed', 'wrong password');
    if (hasSecondFactor) {
      const code = { headers, body: { code: body.code ?? '' } };
      await askLibrary(signIn, '/two-factor/verify-totp', code);
      await askLibrary(signIn, '/code/use', code);
    } else if (deps.environment === 'production') {
      throw new Refusal('second_factor_required', 'sign in again with the passkey or the wallet');
    }
    await noteProof(people, deps, { sessionId, proof: hasSecondFactor ? 'second_factor' : 'password' });
    return success;
  });

  add(routes.acceptInvitation, async (call) => {
    const { body, caller } = call;
    const { userId } = caller;
    return people.transaction(async (transaction) => {
      const invitation = await acceptInvitation(transaction, deps, { ...body, userId });
      const { merchantId } = invitation;
      const actor = actorOf(call);
      const act = acceptanceAct(invitation, caller);
      await recordAct(transaction, deps, { merchantId, actor, act });
      return { merchantId: merchantId ?? '' };
    });
  });

  add(routes.listMySessions, async ({ caller }) => {
    const sessions = await listSessions(people, deps, caller.userId);
    return {
      sessions: sessions.map(({ createdAt, expiresAt, ...session }) => ({
        ...session,
        isThis: session.sessionId === caller.sessionId,
        createAt: formatTimestamp(createdAt),
        expiresAt: formatTimestamp(expiresAt),
      })),
    };
  });

  add(routes.revokeMySession, async (call) => {
    const { body, caller } = call;
    await endSession(people, { ...body, userId: caller.userId });
    await note(deps, call, 'revokeMySession', body.sessionId);
    return success;
  });

  add(routes.cancelMyRecovery, async (call) => {
    const { userId } = call.caller;
    await people.transaction((transaction) =>
      cancelRecovery(transaction, deps, { userId, actor: actorOf(call) }),
    );
    return success;
  });

  add(routes.listMyAudit, ({ query, caller: { userId: personId } }) =>
    answerAuditPage(people, { merchantId: undefined, personId }, query),
  );
}

/** What the person gets by e-mail. */
export function addNotificationRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people } = deps;
  add(routes.listMyNotifications, async ({ caller: { userId, email } }) => {
    const bounce = (await findBounces(people, [email])).get(email);
    return {
      isMailConfigured: deps.tellPerson !== undefined,
      bounce:
        bounce === undefined ? null : { bouncedAt: formatTimestamp(bounce.bouncedAt), reason: bounce.reason },
      merchants: await listNotifications(people, userId),
    };
  });

  add(routes.retryMyMail, async ({ caller: { email } }) => {
    await retryOwnAddress(people, email);
    return success;
  });

  add(routes.changeMyNotification, async ({ body, caller: { userId } }) => {
    await people.transaction((transaction) => chooseNotification(transaction, { ...body, userId }));
    return success;
  });
}

/** The views of payments that the person keeps. */
export function addViewRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people } = deps;
  add(routes.listMyViews, async ({ params: { merchantId }, caller: { userId } }) => ({
    views: await listPaymentViews(people, { merchantId, userId }),
  }));

  add(routes.saveMyView, async ({ body, caller: { userId } }) => {
    await people.transaction((transaction) => savePaymentView(transaction, deps, { ...body, userId }));
    return success;
  });

  add(routes.removeMyView, async ({ body, caller: { userId } }) => {
    await removePaymentView(people, { ...body, userId });
    return success;
  });
}

/** A call of a person who is signed in. */
type PersonalCall = Pick<RouteCall<Route, Person>, 'caller' | 'requestId' | 'clientAddress'>;

function actorOf({
  caller: { userId: id, email: name, headers },
  requestId,
  clientAddress,
}: PersonalCall): Actor {
  return { kind: 'member', id, name, clientAddress, userAgent: headers.get('user-agent') ?? '', requestId };
}

/** Records an act about the own account after it was done: the library has transactions of its own. */
async function note(
  deps: MeDeps,
  call: PersonalCall,
  action: keyof typeof routes,
  subject: string = call.caller.userId,
): Promise<void> {
  const { userId } = call.caller;
  await deps.people.transaction((transaction) =>
    recordPersonalAct(transaction, deps, { userId, actor: actorOf(call), act: { action, subject } }),
  );
}

/** Changes of the ways to sign in. The door asks for a fresh proof before each of them. */
export function addProofRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people, signIn } = deps;

  add(routes.changePassword, async (call) => {
    const { body, caller } = call;
    const { headers } = caller;
    deps.attempts.ofSession(caller.sessionId);
    await askLibrary(signIn, '/change-password', { headers, body: { ...body, revokeOtherSessions: false } });
    await endOtherSessions(people, caller);
    await note(deps, call, 'changePassword');
    return success;
  });

  add(routes.startPasskey, async ({ caller: { headers } }) => {
    const path = '/passkey/generate-register-options';
    const { data, cookies } = await askLibrary(signIn, path, { headers, method: 'GET' });
    return withCookies(data, cookies);
  });

  add(routes.addPasskey, async (call) => {
    const { body, caller } = call;
    const { headers } = caller;
    const { cookies } = await askLibrary(signIn, '/passkey/verify-registration', { headers, body });
    await note(deps, call, 'addPasskey');
    return withCookies(success, cookies);
  });

  add(routes.listPasskeys, async ({ caller: { headers } }) => {
    const path = '/passkey/list-user-passkeys';
    const { data } = await askLibrary(signIn, path, { headers, method: 'GET' });
    const passkeys = data as unknown as readonly { id: string; name?: string; createdAt?: string }[];
    return {
      passkeys: passkeys.map(({ id, name = '', createdAt = 0 }) => ({
        passkeyId: id,
        name,
        createAt: formatTimestamp(new Date(createdAt)),
      })),
    };
  });

  add(routes.removePasskey, async (call) => {
    const { passkeyId: id } = call.body;
    await askLibrary(signIn, '/passkey/delete-passkey', { headers: call.caller.headers, body: { id } });
    await note(deps, call, 'removePasskey', id);
    return success;
  });

  add(routes.startSecondFactor, async ({ body, caller: { sessionId, headers } }) => {
    deps.attempts.ofSession(sessionId);
    const { data } = await askLibrary(signIn, '/two-factor/enable', { headers, body });
    return { totpUri: String(data['totpURI']) };
  });

  add(routes.confirmSecondFactor, async (call) => {
    const { body, caller } = call;
    const { sessionId, headers } = caller;
    deps.attempts.ofSession(sessionId);
    const { cookies } = await askLibrary(signIn, '/two-factor/verify-totp', { headers, body });
    await note(deps, call, 'confirmSecondFactor');
    return withCookies(success, cookies);
  });

  add(routes.removeSecondFactor, async (call) => {
    const { body, caller } = call;
    const { sessionId, headers } = caller;
    deps.attempts.ofSession(sessionId);
    const { cookies } = await askLibrary(signIn, '/two-factor/disable', { headers, body });
    await note(deps, call, 'removeSecondFactor');
    return withCookies(success, cookies);
  });

  add(routes.addWallet, async (call) => {
    const { body, caller } = call;
    const { data } = await askLibrary(signIn, '/wallet/add', { headers: caller.headers, body });
    const address = String(data['address']);
    await note(deps, call, 'addWallet', address);
    return { address };
  });

  add(routes.removeWallet, async (call) => {
    const { address } = call.body;
    await removeWallet(people, { userId: call.caller.userId, address });
    await note(deps, call, 'removeWallet', address);
    return success;
  });

  add(routes.renewRecoveryCodes, async (call) => {
    const { userId } = call.caller;
    const recoveryCodes = await people.transaction((transaction) =>
      renewRecoveryCodes(transaction, deps, userId),
    );
    await note(deps, call, 'renewRecoveryCodes');
    return { recoveryCodes };
  });
}
