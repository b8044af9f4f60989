import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId, randomBase62 } from '@florin/protocol/id.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import { systemClock } from '#outside/clock.ts';
import type { MemberContext } from './context.ts';
import { hashOfDevice } from './device.ts';
import { checkedEmail } from './email.ts';
import { hashPassword, verifyPassword } from './password.ts';
import type { Proof } from './proof.ts';
import {
  deleteOtherDevices,
  deleteOtherSessions,
  deleteSession,
  deleteWallet,
  emailOfUser,
  insertPassword,
  insertUser,
  passwordOfUser,
  renewProof,
  sessionsOfUser,
  userOverview,
} from './user.sql.ts';

interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly passwordHash: string;
}

/** Makes an account with a password. Refuses a malformed name or e-mail address, and an address that has one (400101). */
export async function createUser(
  transaction: Transaction,
  deps: MemberContext,
  request: NewUser,
): Promise<string> {
  const userId = await createUserIfNew(transaction, deps, request);
  if (userId === undefined) throw fieldRefusal('email', 'has an account already');
  return userId;
}

/** The same, but undefined for an address that has an account. */
export async function createUserIfNew(
  transaction: Transaction,
  deps: MemberContext,
  request: NewUser,
): Promise<string | undefined> {
  const userId = newId('user', deps.random.bytes);
  const email = checkedEmail(request.email);
  const name = request.name.normalize('NFC').trim();
  if (name === '' || !isVisibleLine(name)) {
    throw fieldRefusal('name', visibleLineRule);
  }
  const at = deps.clock.now();
  const rows = await transaction.query(insertUser, { userId, name, email, at });
  if (rows.length === 0) return undefined;
  const id = randomBase62(deps.random.bytes);
  await transaction.query(insertPassword, { id, userId, password: request.passwordHash, at });
  return userId;
}

/** The address of a person; undefined when there is none. */
export async function findEmail(queryable: Queryable, userId: string): Promise<string | undefined> {
  return (await queryable.query(emailOfUser, { userId }))[0]?.email;
}

/** How a person can sign in. */
export interface UserOverview {
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly passkeys: number;
  readonly wallets: readonly string[];
  /** How many are left. */
  readonly recoveryCodes: number;
  readonly isStaff: boolean;
}

export async function findOverview(queryable: Queryable, userId: string): Promise<UserOverview> {
  const [row] = await queryable.query(userOverview, { userId });
  if (row === undefined) throw new Error('the overview of a person always has one row');
  return {
    hasPassword: row.has_password,
    hasSecondFactor: row.has_second_factor,
    passkeys: Number(row.passkeys),
    wallets: row.wallets,
    recoveryCodes: Number(row.recovery_codes),
    isStaff: row.is_staff,
  };
}

/** Whether this is the person's password. */
export async function isPassword(queryable: Queryable, userId: string, password: string): Promise<boolean> {
  const [row] = await queryable.query(passwordOfUser, { userId });
  // As slow as a wrong password, so that the time does not tell whether there is one.
  if (row?.password == null) return (await hashPassword(password)) === '';
  return verifyPassword({ hash: row.password, password });
}

/** Where a person is signed in. */
export interface OpenSession {
  readonly sessionId: string;
  readonly proof: Proof;
  readonly isNewDevice: boolean;
  readonly clientAddress: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The person's sessions, newest first. The library ends them by the machine's time, which a local world may run ahead of. */
export async function listSessions(queryable: Queryable, userId: string): Promise<OpenSession[]> {
  const rows = await queryable.query(sessionsOfUser, { userId, now: systemClock.now() });
  return rows.map((row) => ({
    sessionId: row.id,
    proof: row.method as Proof,
    isNewDevice: row.is_new_device,
    clientAddress: row.client_address ?? '',
    userAgent: row.user_agent ?? '',
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

/** Ends one session of the person; false when it is not one of theirs. */
export async function endSession(
  queryable: Queryable,
  session: { readonly userId: string; readonly sessionId: string },
): Promise<boolean> {
  return (await queryable.query(deleteSession, session)).length > 0;
}

/** Ends all sessions of the person but this one. */
export async function endOtherSessions(
  queryable: Queryable,
  session: { readonly userId: string; readonly sessionId: string },
): Promise<void> {
  await queryable.query(deleteOtherSessions, session);
}

/** All devices of the person but this one count as new ones again. */
export async function forgetOtherDevices(
  queryable: Queryable,
  userId: string,
  device: string | undefined,
): Promise<void> {
  const deviceHash = device === undefined ? '' : hashOfDevice(device);
  await queryable.query(deleteOtherDevices, { userId, deviceHash });
}

/** Notes that the person has proven again who they are. Refuses a session that has ended meanwhile (200201). */
export async function noteProof(
  queryable: Queryable,
  deps: Pick<MemberContext, 'clock'>,
  { sessionId, proof: method }: { readonly sessionId: string; readonly proof: Proof },
): Promise<void> {
  const rows = await queryable.query(renewProof, { sessionId, method, at: deps.clock.now() });
  if (rows.length === 0) throw new Refusal('sign_in_required');
}

/** Takes a wallet from the ways to sign in; false when it is none of them. */
export async function removeWallet(
  queryable: Queryable,
  wallet: { readonly userId: string; readonly address: string },
): Promise<boolean> {
  return (await queryable.query(deleteWallet, wallet)).length > 0;
}
