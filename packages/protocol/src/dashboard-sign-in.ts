import Type from 'typebox';
import { auditQuery, auditReply } from './audit-log.ts';
import { notificationRoutes } from './notification-api.ts';
import { paymentViewRoutes } from './payment-view-api.ts';
import { route } from './route.ts';
import { nameText, strictObject, text } from './schema.ts';

const email = text({ min: 3, max: 254, description: 'Names the person at sign-in' });
const password = text({ min: 1, max: 128 });
const newPassword = text({
  min: 12,
  max: 128,
  description:
    'Refused with 400101 if it is a common password, a run or a repetition, or little more than one common word or a name of ' +
    'the person, the merchant or the installation',
});
const code = text({ min: 1, max: 64 });
/** What a browser's WebAuthn calls take and return, as JSON. */
const webAuthn = Type.Object({}, { additionalProperties: true });

/** What the signature of a wallet is for. */
const walletPurposes = ['sign_in', 'prove', 'add_wallet'] as const;
export type WalletPurpose = (typeof walletPurposes)[number];

export function isWalletPurpose(text: string): text is WalletPurpose {
  return walletPurposes.some((purpose) => purpose === text);
}

const walletMessage = text({ min: 1, max: 2_000 });
const walletSignature = text({ min: 4, max: 20_000 });

/** Operations of a person, not of a merchant: they need no role. */
const personal = { method: 'POST', permissions: [], effect: 'update' } as const;
const signIn = { ...personal, tag: 'Sign-in', errors: ['sign_in_failed', 'rate_limited'] } as const;
const proof = { ...personal, tag: 'Ways to sign in', errors: ['sign_in_failed'] } as const;

/** How people sign in and out. These routes need no session. */
export const signInRoutes = {
  signInWithPassword: route({
    ...signIn,
    path: '/sign-in/password',
    summary: 'Sign in with a password',
    description: 'With a second factor the answer says so, and the code goes to `/sign-in/code`.',
    body: strictObject({ email, password }),
    reply: Type.Object({ isSignedIn: Type.Boolean(), needsCode: Type.Boolean() }),
  }),
  signInWithCode: route({
    ...signIn,
    path: '/sign-in/code',
    summary: 'Give the code of the second factor',
    body: strictObject({ code }),
  }),
  startPasskeySignIn: route({
    ...signIn,
    path: '/sign-in/passkey/start',
    summary: 'Options for the browser to find a passkey',
    reply: webAuthn,
  }),
  signInWithPasskey: route({
    ...signIn,
    path: '/sign-in/passkey',
    summary: 'Sign in with a passkey',
    body: strictObject({ response: webAuthn }),
  }),
  startWalletSignIn: route({
    ...signIn,
    path: '/sign-in/wallet/start',
    summary: 'What a message that a wallet signs must state (EIP-4361)',
    description: 'The message works once, in the browser that asked, and for its purpose alone.',
    body: strictObject({
      purpose: Type.Enum(walletPurposes, {
        description: 'To sign in, to prove again who acts, or to add the wallet',
      }),
    }),
    reply: Type.Object({
      nonce: Type.String(),
      statement: Type.String({ description: 'What the wallet shows' }),
      issuedAt: Type.String({ description: 'ISO 8601, like the next' }),
      expiresAt: Type.String(),
    }),
  }),
  signInWithWallet: route({
    ...signIn,
    path: '/sign-in/wallet',
    summary: 'Sign in with an Ethereum wallet',
    description:
      'The message follows EIP-4361: the URI is the origin of this page, and the message is at most ten minutes old. Smart ' +
      'accounts sign by ERC-1271 or ERC-6492. A person who is signed in proves again who acts with the purpose `prove`.',
    body: strictObject({
      message: walletMessage,
      signature: walletSignature,
      purpose: Type.Enum(['sign_in', 'prove'], { description: 'As the message was asked for' }),
    }),
  }),
  signInWithRecoveryCode: route({
    ...signIn,
    path: '/sign-in/recovery-code',
    summary: 'Sign in with a recovery code, which is used up',
    body: strictObject({ email, code }),
  }),
  completeRecovery: route({
    ...signIn,
    path: '/recovery/complete',
    summary: 'Use the link of a recovery: a new password, and every other way to sign in ends',
    description:
      'Refused with 200202 until the delay is over. Then sign in with the password and add a passkey.',
    body: strictObject({ token: text({ min: 1, max: 100 }), password: newPassword }),
    errors: ['sign_in_failed', 'field_invalid', 'rate_limited'],
    reply: Type.Object({
      email: Type.String({ description: 'Names the person at sign-in' }),
      recoveryCodes: Type.Array(Type.String(), { description: 'Shown this once' }),
    }),
  }),
  showInvitation: route({
    ...signIn,
    path: '/invitation/show',
    summary: 'What an invitation is for',
    body: strictObject({ token: text({ min: 1, max: 100 }) }),
    reply: Type.Object({
      merchantName: Type.String({ description: 'Empty: the operator’s staff' }),
      role: Type.String(),
      email: Type.String({
        description: 'Whose account alone accepts it; empty: the account of any address',
      }),
      expiresAt: Type.String(),
    }),
    errors: ['invitation_invalid', 'rate_limited'],
  }),
  acceptInvitationAsNew: route({
    ...signIn,
    path: '/invitation/accept-as-new',
    summary: 'Accept an invitation with a new account, and sign in',
    description:
      'An invitation with an address makes an account for that address alone. Refused with 400101, in the same words, for ' +
      'another address and for one that has an account. An invitation without an address then is for the refused one.',
    body: strictObject({
      token: text({ min: 1, max: 100 }),
      name: nameText({ max: 100 }),
      email,
      password: newPassword,
    }),
    reply: Type.Object({
      merchantId: Type.String(),
      recoveryCodes: Type.Array(Type.String(), { description: 'Shown this once' }),
    }),
    errors: ['invitation_invalid', 'rate_limited', 'field_invalid'],
  }),
} as const;

/** A recovery that can still be cancelled. */
export const openRecovery = {
  status: Type.Enum(['asked', 'waiting']),
  effectiveAt: Type.String({ description: 'When the link works; empty until a second owner agrees' }),
};

const me = Type.Object({
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  isStaff: Type.Boolean(),
  sessionId: Type.String(),
  proof: Type.String({ description: 'How the person signed in' }),
  isStrong: Type.Boolean({ description: 'false: a passkey, a second factor or a wallet is missing' }),
  isFresh: Type.Boolean({ description: 'Whether sensitive acts are open' }),
  freshSeconds: Type.Integer({ description: 'How long sensitive acts stay open; 0 when they are not' }),
  hasPassword: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  passkeys: Type.Integer(),
  wallets: Type.Array(Type.String()),
  recoveryCodes: Type.Integer({ description: 'How many are left' }),
  recovery: Type.Union([Type.Object(openRecovery), Type.Null()], {
    description:
      'An open recovery, which replaces every way to sign in at `effectiveAt`; cancel it if it is not yours',
  }),
  newDevices: Type.Integer({ description: 'Other sessions that began on a device of their own' }),
  merchants: Type.Array(
    Type.Object({
      merchantId: Type.String(),
      merchantName: Type.String(),
      role: Type.String(),
      isSuspended: Type.Boolean({ description: 'Suspended by the operator: no new sessions' }),
    }),
  ),
});

/** What a person who is signed in does about themselves. Also open to a session without a strong proof. */
export const meRoutes = {
  getMe: route({
    ...personal,
    method: 'GET',
    path: '/me',
    summary: 'Who is signed in, and for which merchants',
    tag: 'Sign-in',
    reply: me,
    effect: 'query',
  }),
  signOut: route({
    ...personal,
    path: '/me/sign-out',
    summary: 'End this session',
    tag: 'Sign-in',
  }),
  prove: route({
    ...proof,
    path: '/me/prove',
    summary: 'Prove again who acts, by password and second factor',
    description: 'Opens sensitive acts for five minutes. With a passkey or a wallet, sign in again instead.',
    body: strictObject({ password, code: Type.Optional(code) }),
    errors: ['sign_in_failed', 'second_factor_required', 'rate_limited'],
  }),
  acceptInvitation: route({
    ...personal,
    path: '/me/invitation/accept',
    summary: 'Accept an invitation',
    description: 'An invitation with an address is accepted by the account of that address alone.',
    tag: 'Invitations',
    body: strictObject({ token: text({ min: 1, max: 100 }) }),
    reply: Type.Object({ merchantId: Type.String({ description: 'Empty: the operator’s staff' }) }),
    errors: ['invitation_invalid', 'member_exists'],
  }),
  listMySessions: route({
    ...personal,
    method: 'GET',
    path: '/me/session/list',
    summary: 'Where this person is signed in',
    tag: 'Sign-in',
    reply: Type.Object({
      sessions: Type.Array(
        Type.Object({
          sessionId: Type.String(),
          isThis: Type.Boolean(),
          proof: Type.String(),
          isNewDevice: Type.Boolean({ description: 'The first sign-in on its device' }),
          clientAddress: Type.String(),
          userAgent: Type.String(),
          createAt: Type.String(),
          expiresAt: Type.String(),
        }),
      ),
    }),
    effect: 'query',
  }),
  cancelMyRecovery: route({
    ...personal,
    path: '/me/recovery/cancel',
    summary: 'Cancel the recovery of this person, which someone else asked for',
    tag: 'Sign-in',
  }),
  listMyAudit: route({
    ...personal,
    method: 'GET',
    path: '/me/audit/list',
    summary: 'What this person did about the own account, newest first: JSON or CSV',
    tag: 'Audit log',
    query: auditQuery,
    reply: auditReply,
    effect: 'query',
    errors: ['field_invalid'],
  }),
  ...paymentViewRoutes,
  ...notificationRoutes,
  revokeMySession: route({
    ...personal,
    path: '/me/session/revoke',
    summary: 'End one session',
    tag: 'Sign-in',
    body: strictObject({ sessionId: text({ min: 1, max: 64 }) }),
  }),
} as const;

/** Changes of how a person signs in. They need a fresh proof, so that a stolen session cannot make itself at home. */
export const proofRoutes = {
  changePassword: route({
    ...proof,
    path: '/me/password/change',
    summary: 'Change the password, and end all other sessions',
    body: strictObject({ currentPassword: password, newPassword }),
    errors: ['sign_in_failed', 'field_invalid', 'rate_limited'],
  }),
  startPasskey: route({
    ...proof,
    path: '/me/passkey/start',
    summary: 'Options for the browser to make a passkey',
    reply: webAuthn,
  }),
  addPasskey: route({
    ...proof,
    path: '/me/passkey/add',
    summary: 'Add a passkey',
    body: strictObject({ response: webAuthn, name: nameText({ max: 100 }) }),
  }),
  listPasskeys: route({
    ...proof,
    method: 'GET',
    path: '/me/passkey/list',
    summary: 'List the own passkeys',
    reply: Type.Object({
      passkeys: Type.Array(
        Type.Object({ passkeyId: Type.String(), name: Type.String(), createAt: Type.String() }),
      ),
    }),
    effect: 'query',
    errors: [],
  }),
  removePasskey: route({
    ...proof,
    path: '/me/passkey/remove',
    summary: 'Remove a passkey',
    body: strictObject({ passkeyId: text({ min: 1, max: 64 }) }),
  }),
  startSecondFactor: route({
    ...proof,
    path: '/me/second-factor/start',
    summary: 'Begin a second factor: codes of an authenticator',
    body: strictObject({ password }),
    reply: Type.Object({ totpUri: Type.String({ description: 'For the QR code' }) }),
  }),
  confirmSecondFactor: route({
    ...proof,
    path: '/me/second-factor/confirm',
    summary: 'Confirm the second factor with its first code',
    body: strictObject({ code }),
  }),
  removeSecondFactor: route({
    ...proof,
    path: '/me/second-factor/remove',
    summary: 'Remove the second factor',
    body: strictObject({ password }),
  }),
  addWallet: route({
    ...proof,
    path: '/me/wallet/add',
    summary: 'Add an Ethereum wallet to sign in with (EIP-4361)',
    body: strictObject({ message: walletMessage, signature: walletSignature }),
    reply: Type.Object({ address: Type.String() }),
  }),
  removeWallet: route({
    ...proof,
    path: '/me/wallet/remove',
    summary: 'Remove a wallet',
    body: strictObject({ address: text({ min: 42, max: 42 }) }),
  }),
  renewRecoveryCodes: route({
    ...proof,
    path: '/me/recovery-codes/renew',
    summary: 'Replace the recovery codes',
    reply: Type.Object({ recoveryCodes: Type.Array(Type.String(), { description: 'Shown this once' }) }),
  }),
} as const;
