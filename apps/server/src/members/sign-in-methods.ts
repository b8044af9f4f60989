import { hash, timingSafeEqual } from 'node:crypto';
import { isWalletPurpose, type WalletPurpose } from '@florin/protocol/dashboard-sign-in.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { randomBase62 } from '@florin/protocol/id.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { BetterAuthPlugin, GenericEndpointContext } from 'better-auth';
import { APIError, createAuthEndpoint, getSessionFromCtx, sessionMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { MemberContext } from './context.ts';
import { knownDevice, type MasterKeys } from './device.ts';
import { hashOfRecoveryCode } from './recovery-code.ts';
import { nonceInMessage, type VerifyWallet } from './verify-wallet.ts';
import { checkWalletMessage, messageForMs, walletStatements, walletUnknown } from './wallet-message.ts';

/** What the methods need besides the library. */
interface MethodOptions extends MemberContext {
  readonly masterKeys: MasterKeys;
  readonly dashboardOrigin: string;
  readonly verifyWallet: VerifyWallet;
}

/** PostgreSQL's code of a second row in a unique index. */
const uniqueViolation = '23505';
const id = { type: 'string', required: true } as const;
const ofUser = { ...id, references: { model: 'user', field: 'id' }, index: true } as const;

/**
 * Our own ways to sign in, as a plugin of the library: recovery codes, Ethereum wallets (EIP-4361), and the repeated proof
 * of a person who is signed in. The library's own plugin for wallets makes an account for every unknown wallet.
 */
export function ownMethods(options: MethodOptions) {
  return {
    id: 'florin',
    schema: {
      recoveryCode: { fields: { userId: ofUser, codeHash: id } },
      wallet: {
        fields: { userId: ofUser, address: { ...id, unique: true }, createdAt: { ...id, type: 'date' } },
      },
      device: {
        fields: { userId: ofUser, deviceHash: id, createdAt: { ...id, type: 'date' } },
        indexes: [{ fields: ['userId', 'deviceHash'], unique: true }],
      },
      usedCode: {
        fields: { userId: ofUser, code: id, usedAt: { ...id, type: 'date' } },
        indexes: [{ fields: ['userId', 'code'], unique: true }],
      },
    },
    endpoints: {
      signInWithRecoveryCode: createAuthEndpoint(
        '/sign-in/recovery-code',
        { method: 'POST' },
        async (context) => {
          const { email, code } = bodyOf(context, 'email', 'code');
          const found = await context.context.internalAdapter.findUserByEmail(email.toLowerCase());
          const used =
            found === null
              ? 0
              : await context.context.adapter.deleteMany({
                  model: 'recoveryCode',
                  where: [
                    { field: 'userId', value: found.user.id },
                    { field: 'codeHash', value: hashOfRecoveryCode(code) },
                  ],
                });
          if (found === null || used === 0) throw failed();
          return signedIn(context, found.user.id);
        },
      ),
      makeWalletNonce: createAuthEndpoint('/wallet/nonce', { method: 'POST' }, async (context) => {
        const purpose = purposeOf(bodyOf(context, 'purpose').purpose);
        const nonce = randomBase62(options.random.bytes);
        const issuedAt = options.clock.now();
        const expiresAt = new Date(issuedAt.getTime() + messageForMs);
        await context.context.internalAdapter.createVerificationValue({
          identifier: `wallet:${nonce}`,
          value: `${purpose} ${hash('sha256', noteBrowser(context, options))}`,
          expiresAt,
        });
        const statement = walletStatements[purpose];
        return context.json({ nonce, statement, issuedAt, expiresAt });
      }),
      signInWithWallet: createAuthEndpoint('/sign-in/wallet', { method: 'POST' }, async (context) => {
        const purpose = purposeOf(bodyOf(context, 'purpose').purpose);
        const address = await provenWallet(context, options, purpose);
        const wallet = await context.context.adapter.findOne<{ userId: string }>({
          model: 'wallet',
          where: [{ field: 'address', value: address }],
        });
        if (wallet === null) throw new APIError('UNAUTHORIZED', walletUnknown);
        if (purpose === 'prove' && (await getSessionFromCtx(context))?.user.id !== wallet.userId)
          throw failed();
        return signedIn(context, wallet.userId);
      }),
      findPendingCode: createAuthEndpoint('/code/pending', { method: 'POST' }, (context) =>
        findPendingCode(context, options),
      ),
      useCode: createAuthEndpoint(
        '/code/use',
        { method: 'POST', use: [sessionMiddleware] },
        async (context) => {
          await useUpCode(context, options, context.context.session.user.id);
          return context.json({});
        },
      ),
      addWallet: createAuthEndpoint(
        '/wallet/add',
        { method: 'POST', use: [sessionMiddleware] },
        async (context) => {
          const address = await provenWallet(context, options, 'add_wallet');
          const { adapter, session } = context.context;
          const where = [{ field: 'address', value: address }];
          if ((await adapter.findOne({ model: 'wallet', where })) !== null) {
            throw new APIError('BAD_REQUEST', { message: 'the wallet signs in a person already' });
          }
          const data = { userId: session.user.id, address, createdAt: options.clock.now() };
          await adapter.create({ model: 'wallet', data });
          return context.json({ address });
        },
      ),
    },
  } satisfies BetterAuthPlugin;
}

/** Whose sign-in waits for a code in this browser, and the device, if the person has used it before. */
async function findPendingCode(context: GenericEndpointContext, options: MethodOptions) {
  const { adapter, createAuthCookie, internalAdapter, secret } = context.context;
  const pending = await context.getSignedCookie(createAuthCookie('two_factor').name, secret);
  const made = pending ? await internalAdapter.findVerificationValue(pending) : null;
  if (made === null) throw failed();
  const userId = made.value;
  const { masterKeys } = options;
  const cookie = context.getCookie(createAuthCookie('device').name);
  return context.json({ userId, device: (await knownDevice({ adapter, masterKeys }, cookie, userId)) ?? '' });
}

/** The library takes a code of the time step before and after, so one is valid for 90 seconds at most. */
const codeForMs = 120_000;

/** Uses up the code of this request, which was right: each is accepted once (RFC 6238, section 5.2). */
export async function useUpCode(
  context: GenericEndpointContext,
  { clock }: Pick<MemberContext, 'clock'>,
  userId: string,
): Promise<void> {
  const { code } = bodyOf(context, 'code');
  const { adapter } = context.context;
  const usedAt = clock.now();
  const old = new Date(usedAt.getTime() - codeForMs);
  await adapter.deleteMany({
    model: 'usedCode',
    where: [
      { field: 'userId', value: userId },
      { field: 'usedAt', operator: 'lte', value: old },
    ],
  });
  try {
    // Of two uses at the same time, the unique index lets one pass.
    await adapter.create({ model: 'usedCode', data: { userId, code, usedAt } });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === uniqueViolation) throw failed();
    throw error;
  }
}

function failed(): APIError {
  return new APIError('UNAUTHORIZED', { message: 'name and proof do not belong together' });
}

/** Text members of the body. The door has checked them already. */
function bodyOf<Name extends string>(
  context: { readonly body?: unknown },
  ...names: readonly Name[]
): Record<Name, string> {
  const body = context.body as Partial<Record<Name, unknown>> | undefined;
  const values = names.map((name) => [name, body?.[name]]);
  if (values.some(([, value]) => typeof value !== 'string')) throw new APIError('BAD_REQUEST');
  return Object.fromEntries(values) as Record<Name, string>;
}

function purposeOf(text: string): WalletPurpose {
  if (!isWalletPurpose(text)) throw new APIError('BAD_REQUEST');
  return text;
}

const browserCookie = 'wallet';
const browserPattern = /^[0-9A-Za-z]{22}$/;

/** The browser that asks for a nonce, by a cookie. Its tabs have one, so that the wallet may sign for each of them. */
function noteBrowser(context: GenericEndpointContext, { random }: MethodOptions): string {
  const cookie = context.context.createAuthCookie(browserCookie, { maxAge: messageForMs / 1_000 });
  const sent = context.getCookie(cookie.name) ?? '';
  const browser = browserPattern.test(sent) ? sent : randomBase62(random.bytes);
  context.setCookie(cookie.name, browser, cookie.attributes);
  return browser;
}

/** Whether a nonce was made for this purpose and for the browser of the request. */
function isNonceFor(context: GenericEndpointContext, value: string, purpose: WalletPurpose): boolean {
  const browser = context.getCookie(context.context.createAuthCookie(browserCookie).name) ?? '';
  const own = Buffer.from(`${purpose} ${hash('sha256', browser)}`);
  return own.length === value.length && timingSafeEqual(own, Buffer.from(value));
}

/**
 * The address that signed the message of this request: for this site, browser and purpose, with a nonce of ours that is used
 * up by the attempt, and on a configured chain.
 */
async function provenWallet(
  context: GenericEndpointContext,
  { clock, dashboardOrigin: origin, verifyWallet }: MethodOptions,
  purpose: WalletPurpose,
): Promise<Hex> {
  const { message, signature } = bodyOf(context, 'message', 'signature');
  const nonce = nonceInMessage(message);
  const made =
    nonce === undefined
      ? null
      : await context.context.internalAdapter.consumeVerificationValue(`wallet:${nonce}`);
  if (nonce === undefined || made === null || !isNonceFor(context, made.value, purpose)) throw failed();
  const signed = checkWalletMessage(message, { origin, nonce, purpose, now: clock.now() });
  if (signed === undefined) throw failed();
  const claim = { ...signed, message, signature: signature.toLowerCase() as Hex };
  if (!(await isSignedByWallet(verifyWallet, claim))) throw failed();
  return signed.address;
}

/** A chain that is not configured, or does not answer, proves nothing. */
async function isSignedByWallet(
  verifyWallet: VerifyWallet,
  claim: Parameters<VerifyWallet>[0],
): Promise<boolean> {
  try {
    return /^0x([0-9a-f]{2})+$/.test(claim.signature) && (await verifyWallet(claim));
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

async function signedIn(context: GenericEndpointContext, userId: string) {
  const { internalAdapter } = context.context;
  const user = await internalAdapter.findUserById(userId);
  if (user === null) throw failed();
  const session = await internalAdapter.createSession(userId);
  await setSessionCookie(context, { session, user });
  return context.json({ isSignedIn: true });
}
