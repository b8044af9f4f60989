import type { Database } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import { recordAct } from '#members/audit.ts';
import type { MemberContext } from '#members/context.ts';
import { acceptInvitation } from '#members/invitation.ts';
import { listOwnMerchants } from '#members/membership.ts';
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
import { type AddRoute, success } from '../route-handler.ts';
import type { Attempts } from './attempts.ts';
import { askLibrary, withCookies } from './sign-in.ts';
import type { Person } from './visitor.ts';

const { routes } = dashboardApi;

interface MeDeps extends MemberContext {
  readonly people: Database;
  readonly signIn: SignIn;
  readonly attempts: Attempts;
  readonly environment: 'local' | 'production';
}

/** What a person sees and does about themselves. */
export function addMeRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people, signIn } = deps;

  add(routes.getMe, async ({ caller }) => {
    const { userId, name, email, sessionId, proof } = caller;
    const overview = await findOverview(people, userId);
    const sessions = await listSessions(people, deps, userId);
    return {
      ...overview,
      ...{ userId, name, email, sessionId, proof, isStrong: caller.isStrong, isFresh: caller.isFresh },
      wallets: [...overview.wallets],
      newDevices: sessions.filter((session) => session.isNewDevice && session.sessionId !== sessionId).length,
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
      await askLibrary(signIn, '/two-factor/verify-totp', { headers, body: { code: body.code ?? '' } });
    } else if (deps.environment === 'production') {
      throw new Refusal('second_factor_required', 'sign in again with the passkey or the wallet');
    }
    await noteProof(people, deps, { sessionId, proof: hasSecondFactor ? 'second_factor' : 'password' });
    return success;
  });

  add(routes.acceptInvitation, async ({ body, caller, requestId, clientAddress }) => {
    const { userId, email, headers } = caller;
    return people.transaction(async (transaction) => {
      const invitation = await acceptInvitation(transaction, deps, { ...body, userId });
      const { merchantId, role, invitationId } = invitation;
      const userAgent = headers.get('user-agent') ?? '';
      const actor = { kind: 'member', id: userId, name: email, clientAddress, userAgent, requestId } as const;
      const act = {
        action: 'acceptInvitation',
        subject: invitationId,
        after: JSON.stringify({ userId, role }),
      };
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

  add(routes.revokeMySession, async ({ body, caller: { userId } }) => {
    await endSession(people, { ...body, userId });
    return success;
  });
}

/** Changes of the ways to sign in. The door asks for a fresh proof before each of them. */
export function addProofRoutes(add: AddRoute<Person>, deps: MeDeps): void {
  const { people, signIn } = deps;

  add(routes.changePassword, async ({ body, caller }) => {
    const { headers } = caller;
    deps.attempts.ofSession(caller.sessionId);
    await askLibrary(signIn, '/change-password', { headers, body: { ...body, revokeOtherSessions: false } });
    await endOtherSessions(people, caller);
    return success;
  });

  add(routes.startPasskey, async ({ caller: { headers } }) => {
    const path = '/passkey/generate-register-options';
    const { data, cookies } = await askLibrary(signIn, path, { headers, method: 'GET' });
    return withCookies(data, cookies);
  });

  add(routes.addPasskey, async ({ body, caller: { headers } }) => {
    const { cookies } = await askLibrary(signIn, '/passkey/verify-registration', { headers, body });
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

  add(routes.removePasskey, async ({ body: { passkeyId: id }, caller: { headers } }) => {
    await askLibrary(signIn, '/passkey/delete-passkey', { headers, body: { id } });
    return success;
  });

  add(routes.startSecondFactor, async ({ body, caller: { sessionId, headers } }) => {
    deps.attempts.ofSession(sessionId);
    const { data } = await askLibrary(signIn, '/two-factor/enable', { headers, body });
    return { totpUri: String(data['totpURI']) };
  });

  add(routes.confirmSecondFactor, async ({ body, caller: { sessionId, headers } }) => {
    deps.attempts.ofSession(sessionId);
    const { cookies } = await askLibrary(signIn, '/two-factor/verify-totp', { headers, body });
    return withCookies(success, cookies);
  });

  add(routes.removeSecondFactor, async ({ body, caller: { sessionId, headers } }) => {
    deps.attempts.ofSession(sessionId);
    const { cookies } = await askLibrary(signIn, '/two-factor/disable', { headers, body });
    return withCookies(success, cookies);
  });

  add(routes.addWallet, async ({ body, caller: { headers } }) => {
    const { data } = await askLibrary(signIn, '/wallet/add', { headers, body });
    return { address: String(data['address']) };
  });

  add(routes.removeWallet, async ({ body: { address }, caller: { userId } }) => {
    await removeWallet(people, { userId, address });
    return success;
  });

  add(routes.renewRecoveryCodes, async ({ caller: { userId } }) => ({
    recoveryCodes: await people.transaction((transaction) => renewRecoveryCodes(transaction, deps, userId)),
  }));
}
