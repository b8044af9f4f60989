import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { recordPersonalAct } from '#members/audit.ts';
import { codeLockout, recordLockout, secondsLocked } from '#members/code-lockout.ts';
import { assertHardToGuess } from '#members/common-password.ts';
import {
  acceptInvitation,
  createInvitedUser,
  openInvitation,
  refuseNewAccount,
} from '#members/invitation.ts';
import { hashPassword } from '#members/password.ts';
import { completeRecovery } from '#members/recovery.ts';
import { renewRecoveryCodes } from '#members/recovery-code.ts';
import type { SignedIn, SignIn } from '#members/sign-in-session.ts';
import { endSession, findEmail } from '#members/user.ts';
import { walletUnknown } from '#members/wallet-message.ts';
import { envelope } from '../envelope.ts';
import { type AddRoute, FinishedReply, type RouteCall, success } from '../route-handler.ts';
import type { DashboardContext } from './context.ts';
import { actorOf } from './visitor.ts';

const { routes } = dashboardApi;

/** A visitor who is not known yet: what the library reads of the request, and the session that a new one replaces. */
export interface Visitor {
  readonly headers: Headers;
}

/** The answer of the library: the data and the cookies. Its refusals become the catalogue's, in our words. */
export interface LibraryAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly cookies: string[];
}

/** Asks the library. Refuses with 200202 what it refuses, and with 900101 an account that it has locked. */
export async function askLibrary(
  { handle }: Pick<SignIn, 'handle'>,
  path: string,
  request: { readonly headers: Headers; readonly body?: object; readonly method?: 'GET' },
): Promise<LibraryAnswer> {
  const headers = new Headers(request.headers);
  headers.set('content-type', 'application/json');
  const isRead = request.method === 'GET';
  const response = await handle(path, {
    method: isRead ? 'GET' : 'POST',
    headers,
    ...(isRead ? {} : { body: JSON.stringify(request.body ?? {}) }),
  });
  const text = await response.text();
  if (response.ok) {
    const data = text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
    return { data, cookies: response.headers.getSetCookie() };
  }
  // A passkey's answer that cannot be read is no outage, although the library calls it one.
  const isRefusal = response.status < 500 || text.includes('"FAILED_TO_VERIFY_REGISTRATION"');
  if (!isRefusal) throw new Error(`the sign-in failed with ${response.status} at ${path}`);
  if (response.status === 429) throw refuseCodes(codeLockout.durationSeconds);
  const isUnknownWallet = text.includes(`"${walletUnknown.code}"`);
  throw new Refusal(
    'sign_in_failed',
    isUnknownWallet ? strangeWallet : (refusals[path] ?? 'the proof was refused'),
  );
}

const strangeWallet =
  'no account signs in with this wallet: choose another account in the wallet, or sign in differently';

function refuseCodes(retryAfterSeconds: number): Refusal {
  const detail = 'too many wrong codes on new devices, try again later or on a device that you used before';
  return new Refusal('rate_limited', { detail, retryAfterSeconds });
}

const wrongPassword = 'wrong password';
/** What a refusal of the library means, by path. Its own words change between versions and may tell too much. */
const refusals: Readonly<Record<string, string>> = {
  '/sign-in/email': 'the e-mail address and the password do not belong together',
  '/sign-in/recovery-code': 'the e-mail address and the code do not belong together',
  '/sign-in/wallet':
    'the message is not for this site, browser and purpose, or too old, or the wallet is not yours',
  '/wallet/add':
    'the message is not for this site, browser and purpose, or too old, or the wallet signs in a person already',
  '/two-factor/verify-totp': 'the code is wrong or was used already, or the sign-in began too long ago',
  '/code/pending': 'the sign-in began too long ago: begin again with the password',
  '/code/use': 'the code was used already: wait for the next one',
  '/two-factor/enable': wrongPassword,
  '/two-factor/disable': wrongPassword,
  '/change-password': wrongPassword,
};

/** An answer with the library's cookies. */
export function withCookies(data: unknown, cookies: string[]): FinishedReply {
  return new FinishedReply(envelope.success(data), cookies.length === 0 ? {} : { 'set-cookie': cookies });
}

type VisitorCall = Pick<RouteCall<Route, Visitor>, 'caller' | 'clientAddress' | 'requestId'>;

/** Asks the library to sign a person in by one of its paths. */
type Enter = (
  path: string,
  call: VisitorCall,
  body: object,
  library?: Pick<SignIn, 'handle'>,
) => Promise<LibraryAnswer>;

/** The session that the library's answer begins; undefined when it begins none. */
export async function newSessionOf(
  signIn: SignIn,
  { cookies }: Pick<LibraryAnswer, 'cookies'>,
): Promise<SignedIn | undefined> {
  const cookie = cookies.find((each) => /session_token=[^;]/.test(each) && !/max-age=0/i.test(each));
  if (cookie === undefined) return undefined;
  return signIn.findSession(new Headers({ cookie: cookie.split(';', 1)[0] ?? '' }));
}

/** A sign-in replaces the session that the browser had. One on a new device, or by a recovery code, is on the record. */
function entering(deps: DashboardContext): Enter {
  const { signIn } = deps;
  return async (path, call, body, library = signIn) => {
    const { caller: visitor } = call;
    const before = await signIn.findSession(visitor.headers);
    const answer = await askLibrary(library, path, { headers: visitor.headers, body });
    const person = await newSessionOf(signIn, answer);
    if (person === undefined) return answer;
    if (before !== undefined) await endSession(deps.people, before);
    if (person.isNewDevice || person.proof === 'recovery') {
      const { userId, proof } = person;
      const action = proof === 'recovery' ? 'signInWithRecoveryCode' : 'signInOnNewDevice';
      const act = { action, subject: userId, after: JSON.stringify({ proof }) };
      const actor = actorOf(person, call);
      // The other sessions go on: a thief with a code does not sign out the owner, who sees the new device and ends its session.
      await deps.people.transaction((transaction) =>
        recordPersonalAct(transaction, deps, { userId, actor, act }),
      );
    }
    return answer;
  };
}

/**
 * Takes the code of a sign-in that the password began. Wrong codes lock the account for new devices. A device that the person
 * used before has an allowance of its own. The person is told of either.
 */
async function enterByCode(
  deps: DashboardContext,
  enter: Enter,
  call: VisitorCall & { readonly body: { readonly code: string } },
): Promise<LibraryAnswer> {
  const { signIn, attempts, people } = deps;
  const { headers } = call.caller;
  const { data } = await askLibrary(signIn, '/code/pending', { headers });
  const { userId, device } = data as { readonly userId: string; readonly device: string };
  const ofDevice = device === '' ? undefined : attempts.ofCode;
  const handle = ofDevice === undefined ? signIn.handle : signIn.handleOnKnownDevice;
  try {
    await ofDevice?.(device);
    return await enter('/two-factor/verify-totp', call, call.body, {
      handle: (path, request) => handle(path, { ...request, headers: withoutSession(request.headers) }),
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const seconds = ofDevice === undefined ? await secondsLocked(people, userId) : undefined;
    const isDeviceExhausted = ofDevice !== undefined && error.slug === 'rate_limited';
    if (seconds === undefined && !isDeviceExhausted) throw error;
    const actor = actorOf({ userId, email: (await findEmail(people, userId)) ?? '' }, call);
    const action = isDeviceExhausted ? 'exhaustCodesOfDevice' : 'lockSecondFactor';
    await people.transaction((transaction) => recordLockout(transaction, deps, { actor, action }));
    throw seconds === undefined ? error : refuseCodes(seconds);
  }
}

/** The library counts no codes of a person who is signed in. So a session must not come along to a sign-in. */
function withoutSession(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  const cookies = (headers.get('cookie') ?? '')
    .split(/; */)
    .filter((each) => !/^[^=]*session_token=/.test(each));
  headers.set('cookie', cookies.join('; '));
  return headers;
}

/** Signing in, by every way. */
export function addSignInRoutes(add: AddRoute<Visitor>, deps: DashboardContext): void {
  const { signIn, attempts } = deps;
  const enter = entering(deps);
  const admit = async (
    way: 'password' | 'recovery',
    email: string,
    { caller: { headers }, clientAddress }: VisitorCall,
  ): Promise<void> => {
    const device = await signIn.findDevice(headers, email);
    await attempts.ofAccount({ way, email, device, clientAddress });
  };
  add(routes.signInWithPassword, async (call) => {
    const { body } = call;
    await admit('password', body.email, call);
    const { data, cookies } = await enter('/sign-in/email', call, body);
    const needsCode = data['twoFactorRedirect'] === true;
    return withCookies({ isSignedIn: !needsCode, needsCode }, cookies);
  });

  add(routes.signInWithCode, async (call) => {
    const { cookies } = await enterByCode(deps, enter, call);
    return withCookies(success, cookies);
  });

  add(routes.startPasskeySignIn, async ({ caller: { headers } }) => {
    const path = '/passkey/generate-authenticate-options';
    const { data, cookies } = await askLibrary(signIn, path, { headers, method: 'GET' });
    return withCookies(data, cookies);
  });

  add(routes.signInWithPasskey, async (call) => {
    const { cookies } = await enter('/passkey/verify-authentication', call, call.body);
    return withCookies(success, cookies);
  });

  add(routes.startWalletSignIn, async ({ body, caller: { headers } }) => {
    const { data, cookies } = await askLibrary(signIn, '/wallet/nonce', { headers, body });
    return withCookies(data, cookies);
  });

  add(routes.signInWithWallet, async (call) => {
    const { cookies } = await enter('/sign-in/wallet', call, call.body);
    return withCookies(success, cookies);
  });

  add(routes.signInWithRecoveryCode, async (call) => {
    const { body } = call;
    await admit('recovery', body.email, call);
    const { cookies } = await enter('/sign-in/recovery-code', call, body);
    return withCookies(success, cookies);
  });
}

/** What links open without a session: a recovery, and an invitation for a person without an account. */
export function addVisitorLinkRoutes(add: AddRoute<Visitor>, deps: DashboardContext): void {
  const enter = entering(deps);
  add(routes.completeRecovery, async (call) => {
    const { token, password } = call.body;
    const passwordHash = await hashPassword(password);
    return deps.people.transaction((transaction) =>
      completeRecovery(transaction, deps, {
        ...{ token, password, passwordHash, places: deps.places },
        actorOf: (person) => actorOf(person, call),
      }),
    );
  });

  add(routes.showInvitation, async ({ body }) => {
    const { merchantName, role, email, expiresAt } = await deps.people.transaction((transaction) =>
      openInvitation(transaction, deps, body.token),
    );
    return { merchantName, role, email, expiresAt: formatTimestamp(expiresAt) };
  });

  add(routes.acceptInvitationAsNew, async (call) => {
    const { token, name, email, password } = call.body;
    const passwordHash = await hashPassword(password);
    const accepted = await deps.people.transaction(async (transaction) => {
      // First the token: without a valid one nothing is told of accounts.
      const invitation = await openInvitation(transaction, deps, token);
      assertHardToGuess('password', password, [...deps.places, invitation.merchantName, name, email]);
      const person = { invitation, name, email, passwordHash };
      const userId = await createInvitedUser(transaction, deps, person);
      if (userId === undefined) return undefined;
      const actor = actorOf({ userId, email }, call);
      const { merchantId } = await acceptInvitation(transaction, deps, { token, actor });
      return {
        merchantId: merchantId ?? '',
        recoveryCodes: await renewRecoveryCodes(transaction, deps, userId),
      };
    });
    // Not before the transaction has ended, which keeps what the invitation is for now.
    if (accepted === undefined) throw refuseNewAccount();
    const { cookies } = await enter('/sign-in/email', call, { email, password });
    return withCookies(accepted, cookies);
  });
}
