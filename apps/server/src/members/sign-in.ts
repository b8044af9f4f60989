import { createHmac, hash } from 'node:crypto';
import { passkey } from '@better-auth/passkey';
import { openPlainPool, type PlainPool, withSystemScope } from '@florin/pg';
import { newId, randomBase62 } from '@florin/protocol/id.ts';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { parseCookies } from 'better-auth/cookies';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { schema } from '#db/schema.ts';
import type { Log } from '#telemetry/log.ts';
import { codeLockout } from './code-lockout.ts';
import type { MemberContext } from './context.ts';
import { knownDevice, type MasterKeys, noteDevice } from './device.ts';
import { type Proof, proofOfPath } from './proof.ts';
import { ownMethods, useUpCode } from './sign-in-methods.ts';
import { clientAddressHeader, type SignIn } from './sign-in-session.ts';
import type { VerifyWallet } from './verify-wallet.ts';

export interface SignInOptions extends MemberContext {
  readonly databaseUrl: string;
  /** How long a request waits while the database is away; 0 when absent. */
  readonly databaseWaitSeconds?: number | undefined;
  /** The origin of the dashboard's pages, such as `https://pay.example.com`. */
  readonly dashboardOrigin: string;
  /** The first signs and seals; all verify. */
  readonly masterKeys: MasterKeys;
  readonly log: Log;
  readonly verifyWallet: VerifyWallet;
}

/** Nothing outside reaches the library by this path: the dashboard's door calls it. */
const basePath = '/dashboard/auth';
/** A session ends a week after the sign-in, used or not. */
const sessionSeconds = 7 * 24 * 3_600;
const minPasswordLength = 12;
const maxPasswordLength = 128;
/** The library asks little: a look-up of a session, rarely a sign-in. */
const connections = 4;
/** For known devices, whose codes the door limits. */
const noLockout = { enabled: false } as const;
/** Unqualified names are the library's tables. */
const searchPath = { setting: 'search_path', everything: 'sign_in', accepts: () => false };

/**
 * Opens the sign-in over the tables of the schema `sign_in`. better-auth checks passwords, passkeys and codes, and makes
 * sessions. Its time and its randomness are its own, but for ids and proofs (docs/decisions/0116).
 */
export function openSignIn(options: SignInOptions): SignIn {
  const { log, dashboardOrigin, databaseWaitSeconds = 0 } = options;
  const pool = openPlainPool({
    url: withSystemScope(options.databaseUrl, schema),
    schema: { applicationName: 'florin-sign-in', scope: searchPath },
    connections,
    outageWaitMs: databaseWaitSeconds * 1_000,
    onError: (error) => log.warn('sign_in.connection_lost', { message: error.message }),
  });
  const auth = betterAuth(signInConfiguration(options, pool));
  const withoutLockout = betterAuth(signInConfiguration(options, pool, noLockout));
  const requestOf = (path: string, request: RequestInit) =>
    new Request(`${dashboardOrigin}${basePath}${path}`, request);
  return {
    handle: (path, request) => auth.handler(requestOf(path, request)),
    handleOnKnownDevice: (path, request) => withoutLockout.handler(requestOf(path, request)),
    async findSession(headers) {
      const found = await auth.api.getSession({ headers });
      if (found === null) return undefined;
      const { user, session } = found;
      // The library's types do not have our columns.
      const { method, provenAt, isNewDevice } = session as typeof session & {
        method: Proof;
        provenAt: Date;
        isNewDevice: boolean;
      };
      const { id: userId, name, email } = user;
      return { userId, name, email, sessionId: session.id, proof: method, provenAt, isNewDevice };
    },
    async findDevice(headers, email) {
      const { createAuthCookie, internalAdapter, adapter } = await auth.$context;
      const cookie = parseCookies(headers.get('cookie') ?? '').get(createAuthCookie('device').name);
      if (cookie === undefined) return undefined;
      const found = await internalAdapter.findUserByEmail(email.trim().toLowerCase());
      return knownDevice({ adapter, masterKeys: options.masterKeys }, cookie, found?.user.id ?? '');
    },
    close: () => pool.end(),
  };
}

/** The library's configuration. Every other way to sign in is off. */
export function signInConfiguration(
  options: SignInOptions,
  database: PlainPool,
  accountLockout: typeof codeLockout | typeof noLockout = codeLockout,
) {
  const { dashboardOrigin, random, log } = options;
  const isSecure = dashboardOrigin.startsWith('https:');
  const own = { type: 'string', required: true, input: false } as const;
  return {
    appName: 'Florin',
    baseURL: dashboardOrigin,
    basePath,
    secrets: secretsOf(options.masterKeys),
    database,
    telemetry: { enabled: false },
    // The door counts attempts, an IPv6 network as one client.
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, cause) =>
        log.warn('sign_in.library', { message, ...(cause instanceof Error ? { cause: cause.message } : {}) }),
    },
    emailAndPassword: {
      enabled: true,
      // Accounts are made by accepted invitations alone.
      disableSignUp: true,
      minPasswordLength,
      maxPasswordLength,
    },
    session: {
      expiresIn: sessionSeconds,
      disableSessionRefresh: true,
      // The door asks for fresh proofs itself, by the time of the proof.
      freshAge: 0,
      // A cached session would outlive its revocation, and once passed before the second factor.
      cookieCache: { enabled: false },
      additionalFields: {
        method: own,
        provenAt: { ...own, type: 'date' },
        isNewDevice: { ...own, type: 'boolean' },
      },
    },
    databaseHooks: {
      session: { create: { before: (session, context) => provenSession(options, session, context) } },
    },
    advanced: {
      // The prefix __Host- binds a cookie to this host and to https.
      useSecureCookies: false,
      cookiePrefix: isSecure ? '__Host-florin' : 'florin',
      defaultCookieAttributes: { secure: isSecure, sameSite: 'lax', httpOnly: true, path: '/' },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: {
        generateId: ({ model }) =>
          model === 'user' ? newId('user', random.bytes) : randomBase62(random.bytes),
      },
    },
    plugins: [
      passkey({
        rpID: new URL(dashboardOrigin).hostname,
        rpName: 'Florin',
        origin: dashboardOrigin,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: {
          afterVerification: async ({ ctx, verification: { registrationInfo } }) => {
            assertVerified(registrationInfo);
            // WebAuthn, section 7.1, step 26. A unique index decides between two at the same time.
            const where = [{ field: 'credentialID', value: registrationInfo?.credential.id ?? '' }];
            if ((await ctx.context.adapter.findOne({ model: 'passkey', where })) !== null)
              throw new APIError('BAD_REQUEST', { message: 'the passkey signs in a person already' });
          },
        },
        authentication: {
          afterVerification: async ({ verification }) => assertVerified(verification.authenticationInfo),
        },
      }),
      twoFactor({ issuer: 'Florin', accountLockout }),
      ownMethods(options),
    ],
  } satisfies BetterAuthOptions;
}

/** A passkey is two factors only if its device checked who holds it. The library itself does not ask for that. */
function assertVerified(info: { readonly userVerified: boolean } | undefined): void {
  if (info?.userVerified !== true)
    throw new APIError('UNAUTHORIZED', { message: 'the device did not check its holder' });
}

type BeforeSession = NonNullable<
  NonNullable<NonNullable<NonNullable<BetterAuthOptions['databaseHooks']>['session']>['create']>['before']
>;

/** A new session with its proof. A session that replaces another keeps the other's proof, unless the request proved more. */
async function provenSession(
  options: SignInOptions,
  session: Parameters<BeforeSession>[0] & Record<string, unknown>,
  context: Parameters<BeforeSession>[1],
) {
  const proof = proofOfPath(context?.path);
  if (proof === undefined || context === null) {
    const { method = 'password', provenAt = new Date(0), isNewDevice = false } = session;
    return { data: { ...session, method, provenAt, isNewDevice } };
  }
  if (proof === 'second_factor') await useUpCode(context, options, session.userId);
  // The library makes a session for the password, and drops it for the code. Only the code makes the device a known one.
  if (proof === 'password' && (await hasSecondFactor(context, session.userId)))
    return { data: { ...session, method: proof, provenAt: options.clock.now(), isNewDevice: false } };
  const isNewDevice = await noteDevice(context, options, session.userId);
  return { data: { ...session, method: proof, provenAt: options.clock.now(), isNewDevice } };
}

async function hasSecondFactor(
  { context: { internalAdapter } }: NonNullable<Parameters<BeforeSession>[1]>,
  userId: string,
): Promise<boolean> {
  const user = await internalAdapter.findUserById(userId);
  return user !== null && 'twoFactorEnabled' in user && user.twoFactorEnabled === true;
}

/** A secret for each master key, so that a master key can be replaced without signing people out of their second factor. */
function secretsOf(masterKeys: SignInOptions['masterKeys']): { version: number; value: string }[] {
  return masterKeys.map((key) => ({
    version: hash('sha256', key, 'buffer').readUInt32BE(),
    value: createHmac('sha256', key).update('dashboard sign-in').digest('hex'),
  }));
}
