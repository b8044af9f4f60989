import type { Transaction } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { findBounces, retryOwnAddress } from '#mail/bounce.ts';
import { type Act, recordAct, recordPersonalAct } from '#members/audit.ts';
import { assertHardToGuess } from '#members/common-password.ts';
import { acceptInvitation } from '#members/invitation.ts';
import { listOwnMerchants, namesOfPerson } from '#members/membership.ts';
import { chooseNotification, listNotifications } from '#members/notification.ts';
import { listPaymentViews, removePaymentView, savePaymentView } from '#members/payment-view.ts';
import { cancelRecovery, findRecovery, type Recovery } from '#members/recovery.ts';
import { renewRecoveryCodes } from '#members/recovery-code.ts';
import type { SignedIn } from '#members/sign-in-session.ts';
import {
  endOtherSessions,
  endSession,
  findOverview,
  forgetOtherDevices,
  isPassword,
  listSessions,
  noteProof,
  removeWallet,
} from '#members/user.ts';
import { addressInMessage } from '#members/verify-wallet.ts';
import { recordWrongProof } from '#members/wrong-proof.ts';
import { type AddRoute, type RouteCall, success } from '../route-handler.ts';
import { answerAuditPage } from './audit-list.ts';
import type { DashboardContext } from './context.ts';
import { askLibrary, type LibraryAnswer, newSessionOf, withCookies } from './sign-in.ts';
import { actorOf, type Person } from './visitor.ts';

const { routes } = dashboardApi;

export function shownRecovery({ status, effectiveAt }: Recovery) {
  return { status, effectiveAt: effectiveAt === undefined ? '' : formatTimestamp(effectiveAt) };
}

/** What a person sees and does about themselves. */
export function addMeRoutes(add: AddRoute<Person>, deps: DashboardContext): void {
  const { people, signIn } = deps;

  add(routes.getMe, async ({ caller }) => {
    const { userId, name, email, sessionId, proof, isStrong, isFresh, freshSeconds } = caller;
    const overview = await findOverview(people, userId);
    const sessions = await listSessions(people, userId);
    const recovery = await findRecovery(people, deps, userId);
    return {
      ...overview,
      ...{ userId, name, email, sessionId, proof, isStrong, isFresh, freshSeconds },
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

  add(routes.prove, async (call) => {
    const { body, caller } = call;
    const { userId, sessionId, headers } = caller;
    const { hasSecondFactor } = await findOverview(people, userId);
    await guessing(deps, call, async () => {
      if (!(await isPassword(people, userId, body.password)))
        throw new Refusal('sign_in_failed', 'wrong password');
      if (hasSecondFactor) {
        const code = { headers, body: { code: body.code ?? '' } };
        await askLibrary(signIn, '/two-factor/verify-totp', code);
        await askLibrary(signIn, '/code/use', code);
      } else if (deps.environment === 'production') {
        throw new Refusal('second_factor_required', 'sign in again with the passkey or the wallet');
      }
    });
    await noteProof(people, deps, { sessionId, proof: hasSecondFactor ? 'second_factor' : 'password' });
    return success;
  });

  add(routes.acceptInvitation, async (call) => {
    const actor = actorOf(call.caller, call);
    const { merchantId = '' } = await people.transaction((transaction) =>
      acceptInvitation(transaction, deps, { ...call.body, actor }),
    );
    return { merchantId };
  });

  add(routes.listMySessions, async ({ caller }) => {
    const sessions = await listSessions(people, caller.userId);
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
    const { sessionId } = call.body;
    const act = { action: 'revokeMySession', subject: sessionId } as const;
    await recordedIfChanged(deps, call, act, (transaction) =>
      endSession(transaction, { sessionId, userId: call.caller.userId }),
    );
    return success;
  });

  add(routes.cancelMyRecovery, async (call) => {
    const { userId } = call.caller;
    const actor = actorOf(call.caller, call);
    await people.transaction((transaction) => cancelRecovery(transaction, deps, { userId, actor }));
    return success;
  });

  add(routes.listMyAudit, ({ query, caller: { userId: personId } }) =>
    answerAuditPage(people, { merchantId: undefined, personId }, query),
  );
}

/** What the person gets by e-mail. */
export function addNotificationRoutes(add: AddRoute<Person>, deps: DashboardContext): void {
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

  add(routes.retryMyMail, async (call) => {
    const { email, userId } = call.caller;
    const act = { action: 'retryMyMail', subject: userId } as const;
    await recordedIfChanged(deps, call, act, (transaction) => retryOwnAddress(transaction, email));
    return success;
  });

  add(routes.changeMyNotification, async (call) => {
    const { merchantId, ...choice } = call.body;
    const { userId } = call.caller;
    const act = { action: 'changeMyNotification', subject: userId, after: JSON.stringify(choice) };
    await people.transaction(async (transaction) => {
      await chooseNotification(transaction, { ...choice, merchantId, userId });
      await recordOfMerchant(transaction, deps, call, { merchantId, act });
    });
    return success;
  });
}

/** The views of payments that the person keeps. */
export function addViewRoutes(add: AddRoute<Person>, deps: DashboardContext): void {
  const { people } = deps;
  add(routes.listMyViews, async ({ params: { merchantId }, caller: { userId } }) => ({
    views: await listPaymentViews(people, { merchantId, userId }),
  }));

  // Only names are recorded: filters hold addresses of payers.
  add(routes.saveMyView, async (call) => {
    const { merchantId, name, filters } = call.body;
    const { userId } = call.caller;
    const act = { action: 'saveMyView', subject: userId, after: JSON.stringify({ name }) };
    await people.transaction(async (transaction) => {
      await savePaymentView(transaction, deps, { merchantId, userId, name, filters });
      await recordOfMerchant(transaction, deps, call, { merchantId, act });
    });
    return success;
  });

  add(routes.removeMyView, async (call) => {
    const { merchantId, name } = call.body;
    const { userId } = call.caller;
    const act = { action: 'removeMyView', subject: userId, before: JSON.stringify({ name }) };
    await people.transaction(async (transaction) => {
      if (await removePaymentView(transaction, { merchantId, userId, name }))
        await recordOfMerchant(transaction, deps, call, { merchantId, act });
    });
    return success;
  });
}

/** A call of a person who is signed in. */
type PersonalCall = Pick<RouteCall<Route, Person>, 'caller' | 'requestId' | 'clientAddress'>;

/** Checks a password or code that may be a guess: it is counted before, and is on the record when it is wrong. */
async function guessing<T>(deps: DashboardContext, call: PersonalCall, check: () => Promise<T>): Promise<T> {
  const { caller, clientAddress } = call;
  const { sessionId, headers, email } = caller;
  const device = await deps.signIn.findDevice(headers, email);
  await deps.attempts.ofSession({ sessionId, device, clientAddress });
  try {
    return await check();
  } catch (error) {
    if (error instanceof Refusal && error.slug === 'sign_in_failed')
      await deps.people.transaction((transaction) =>
        recordWrongProof(transaction, deps, actorOf(caller, call)),
      );
    throw error;
  }
}

/** Records what a person did for themselves as a member of a merchant. */
function recordOfMerchant(
  transaction: Transaction,
  deps: DashboardContext,
  call: PersonalCall,
  { merchantId, act }: { readonly merchantId: string; readonly act: Act },
): Promise<void> {
  return recordAct(transaction, deps, { merchantId, actor: actorOf(call.caller, call), act });
}

function recordOwn(
  transaction: Transaction,
  deps: DashboardContext,
  call: PersonalCall,
  act: Act,
): Promise<void> {
  const { caller } = call;
  return recordPersonalAct(transaction, deps, { userId: caller.userId, actor: actorOf(caller, call), act });
}

/** Makes a change of our own tables, and records it in the same transaction when there was something to change. */
function recordedIfChanged(
  deps: DashboardContext,
  call: PersonalCall,
  act: Act,
  make: (transaction: Transaction) => Promise<boolean>,
): Promise<void> {
  return deps.people.transaction(async (transaction) => {
    if (await make(transaction)) await recordOwn(transaction, deps, call, act);
  });
}

/**
 * Makes a change of the own account in the transaction of its entry. The entry comes first: the library changes over
 * connections of its own, so its change must not be made when the entry cannot be written.
 */
function recorded<T>(
  deps: DashboardContext,
  call: PersonalCall,
  {
    action,
    subject = call.caller.userId,
  }: { readonly action: keyof typeof routes; readonly subject?: string },
  make: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return deps.people.transaction(async (transaction) => {
    await recordOwn(transaction, deps, call, { action, subject });
    return make(transaction);
  });
}

/**
 * The same for a change that shuts out who else has entered the account, such as the finder of a lost phone. It ends the
 * person's other sessions, and their other devices count as new ones again.
 */
function recordedAndAlone(
  deps: DashboardContext,
  call: PersonalCall,
  { path, body, ...entry }: Parameters<typeof recorded>[2] & { readonly path: string; readonly body: object },
): Promise<LibraryAnswer> {
  const { headers } = call.caller;
  return recorded(deps, call, entry, async (transaction) => {
    const answer = await askLibrary(deps.signIn, path, { headers, body });
    await shutOthersOut(transaction, deps, call, await newSessionOf(deps.signIn, answer));
    return answer;
  });
}

/** @param replaced The session that the library made in place of the caller's, if it did. */
async function shutOthersOut(
  transaction: Transaction,
  { signIn }: DashboardContext,
  { caller }: PersonalCall,
  replaced?: SignedIn,
): Promise<void> {
  await endOtherSessions(transaction, replaced ?? caller);
  await forgetOtherDevices(transaction, caller.userId, await signIn.findDevice(caller.headers, caller.email));
}

/** Changes of the ways to sign in. The door asks for a fresh proof before each of them. */
export function addProofRoutes(add: AddRoute<Person>, deps: DashboardContext): void {
  const { signIn } = deps;
  addSecondFactorRoutes(add, deps);

  add(routes.changePassword, async (call) => {
    const { body, caller } = call;
    const names = [...deps.places, ...(await namesOfPerson(deps.people, caller.userId))];
    assertHardToGuess('newPassword', body.newPassword, names);
    const change = { action: 'changePassword', path: '/change-password' } as const;
    await guessing(deps, call, () =>
      recordedAndAlone(deps, call, { ...change, body: { ...body, revokeOtherSessions: false } }),
    );
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
    const { cookies } = await recorded(deps, call, { action: 'addPasskey' }, () =>
      askLibrary(signIn, '/passkey/verify-registration', { headers, body }),
    );
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
    const change = { action: 'removePasskey', path: '/passkey/delete-passkey' } as const;
    await recordedAndAlone(deps, call, { ...change, subject: id, body: { id } });
    return success;
  });

  add(routes.addWallet, async (call) => {
    const { body, caller } = call;
    const address = addressInMessage(body.message);
    await recorded(deps, call, { action: 'addWallet', subject: address }, () =>
      askLibrary(signIn, '/wallet/add', { headers: caller.headers, body }),
    );
    return { address };
  });

  add(routes.removeWallet, async (call) => {
    const { address } = call.body;
    const act = { action: 'removeWallet', subject: address } as const;
    await recordedIfChanged(deps, call, act, async (transaction) => {
      const isRemoved = await removeWallet(transaction, { userId: call.caller.userId, address });
      if (isRemoved) await shutOthersOut(transaction, deps, call);
      return isRemoved;
    });
    return success;
  });

  add(routes.renewRecoveryCodes, async (call) => {
    const recoveryCodes = await recorded(deps, call, { action: 'renewRecoveryCodes' }, (transaction) =>
      renewRecoveryCodes(transaction, deps, call.caller.userId),
    );
    return { recoveryCodes };
  });
}

function addSecondFactorRoutes(add: AddRoute<Person>, deps: DashboardContext): void {
  const { signIn } = deps;

  add(routes.startSecondFactor, async (call) => {
    const { body, caller } = call;
    const { headers } = caller;
    const { data } = await guessing(deps, call, () =>
      askLibrary(signIn, '/two-factor/enable', { headers, body }),
    );
    return { totpUri: String(data['totpURI']) };
  });

  add(routes.confirmSecondFactor, async (call) => {
    const { body } = call;
    const change = { action: 'confirmSecondFactor', path: '/two-factor/verify-totp' } as const;
    const { cookies } = await guessing(deps, call, () => recordedAndAlone(deps, call, { ...change, body }));
    return withCookies(success, cookies);
  });

  add(routes.removeSecondFactor, async (call) => {
    const { body } = call;
    const change = { action: 'removeSecondFactor', path: '/two-factor/disable' } as const;
    const { cookies } = await guessing(deps, call, () => recordedAndAlone(deps, call, { ...change, body }));
    return withCookies(success, cookies);
  });
}
