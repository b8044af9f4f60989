import { hash } from 'node:crypto';
import type { Queryable, Row, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import { type Actor, recordPersonalAct } from './audit.ts';
import { assertHardToGuess } from './common-password.ts';
import type { MemberContext } from './context.ts';
import { recordEnded, revokeInvitationsOfPerson } from './inviter.ts';
import { findMember, namesOfPerson } from './membership.ts';
import type { RecoveryStatus } from './recovery.machine.ts';
import {
  actsElsewhere,
  cancelOpen,
  insertRecovery,
  lockPerson,
  lockRecovery,
  openRecoveriesOfMerchant,
  openRecovery,
  ownersSince,
  resetSignIn,
  setUsed,
} from './recovery.sql.ts';
import { renewRecoveryCodes } from './recovery-code.ts';
import { findEmail } from './user.ts';

type RecoveryContext = MemberContext & {
  /** How long the link waits until it works, in milliseconds. */
  readonly recoveryDelayMs: number;
};

/** An open recovery of a person who lost every way to sign in. */
export interface Recovery {
  /** `asked`: a second owner must agree. */
  readonly status: Extract<RecoveryStatus, 'asked' | 'waiting'>;
  /** When the link works; undefined until a second owner agrees. */
  readonly effectiveAt: Date | undefined;
}

export type OpenRecovery = Recovery & {
  readonly userId: string;
  /** The owner who asked first; empty for the operator. */
  readonly askedBy: string;
};

/** A step towards a recovery; the token is shown this once, to the second owner or the operator. */
export type RecoveryStep = Recovery & { readonly token: string | undefined };

const weekMs = 7 * 24 * 3_600_000;
const tokenBytes = 32;

/** The link for a token, which is in the fragment like that of an invitation. */
export function recoveryUrl(dashboardUrl: string, token: string): string {
  return `${dashboardUrl}/recovery#${token}`;
}

/** The open recovery of a person. An owner's request that found no second owner within a week is none. */
export async function findRecovery(
  queryable: Queryable,
  { clock }: Pick<MemberContext, 'clock'>,
  userId: string,
): Promise<OpenRecovery | undefined> {
  const rows = await queryable.query(openRecovery, { userId });
  return livingOf(rows, clock)[0];
}

/** The open recoveries of a merchant's members. */
export async function listRecoveries(
  queryable: Queryable,
  { clock }: Pick<MemberContext, 'clock'>,
  merchantId: string,
): Promise<OpenRecovery[]> {
  return livingOf(await queryable.query(openRecoveriesOfMerchant, { merchantId }), clock);
}

function livingOf(rows: readonly Row<typeof openRecovery>[], clock: MemberContext['clock']): OpenRecovery[] {
  return rows
    .filter((row) => clock.now().getTime() - (row.effective_at ?? row.created_at).getTime() <= weekMs)
    .map((row) => ({
      userId: row.user_id,
      status: row.status as Recovery['status'],
      effectiveAt: row.effective_at ?? undefined,
      askedBy: row.asked_by,
    }));
}

/**
 * The operator recovers a person: the link works after the delay, for a week, and replaces an earlier one. Refuses an unknown
 * person (100801).
 */
export async function recoverByOperator(
  transaction: Transaction,
  deps: RecoveryContext,
  { userId, actor }: { readonly userId: string; readonly actor: Actor },
): Promise<RecoveryStep> {
  const people = await transaction.query(lockPerson, { userId });
  if (people.length === 0) throw new Refusal('member_not_found', userId);
  await transaction.query(cancelOpen, { userId });
  return start(transaction, deps, { userId, askedBy: '', actor });
}

/**
 * One owner asks for the recovery of a member, a second one agrees, which makes the link. Refuses a person who is no member
 * (100801) and, with 200205: others than owners of at least the delay, owners who recover themselves, and people who also act
 * for another merchant or the operator, because their owners did not agree. Those the operator recovers.
 */
export async function recoverByOwner(
  transaction: Transaction,
  deps: RecoveryContext,
  request: { readonly merchantId: string; readonly userId: string; readonly actor: Actor },
): Promise<RecoveryStep> {
  const { merchantId, userId, actor } = request;
  if ((await findMember(transaction, { merchantId, userId })) === undefined) {
    throw new Refusal('member_not_found', userId);
  }
  const since = new Date(deps.clock.now().getTime() - deps.recoveryDelayMs);
  const [owner] = await transaction.query(ownersSince, { merchantId, userId: actor.id, since });
  if (owner?.is_owner !== true || actor.id === userId) {
    throw new Refusal(
      'role_forbidden',
      'two other owners recover a member, who are owners for at least the delay',
    );
  }
  const [other] = await transaction.query(actsElsewhere, { merchantId, userId });
  if (other?.is_elsewhere !== false) {
    throw new Refusal('role_forbidden', 'the person also acts elsewhere: ask the operator');
  }
  await transaction.query(lockPerson, { userId });
  const open = await findRecovery(transaction, deps, userId);
  const isSecond = open?.status === 'asked' && open.askedBy !== actor.id;
  if (open !== undefined && !isSecond) return { ...open, token: undefined };
  await transaction.query(cancelOpen, { userId });
  if (isSecond) return start(transaction, deps, { userId, askedBy: open.askedBy, actor });
  await transaction.query(insertRecovery, {
    ...{ userId, askedBy: actor.id, tokenHash: null, effectiveAt: null, status: 'asked' },
    recoveryId: newId('recovery', deps.random.bytes),
    createdAt: deps.clock.now(),
  });
  await record(transaction, deps, { action: 'askRecovery', userId, actor });
  return { status: 'asked', effectiveAt: undefined, token: undefined };
}

async function start(
  transaction: Transaction,
  deps: RecoveryContext,
  { userId, askedBy, actor }: { readonly userId: string; readonly askedBy: string; readonly actor: Actor },
): Promise<RecoveryStep> {
  const token = Buffer.from(deps.random.bytes(tokenBytes)).toString('base64url');
  const createdAt = deps.clock.now();
  const effectiveAt = new Date(createdAt.getTime() + deps.recoveryDelayMs);
  await transaction.query(insertRecovery, {
    ...{ userId, askedBy, createdAt, effectiveAt, status: 'waiting' },
    recoveryId: newId('recovery', deps.random.bytes),
    tokenHash: hash('sha256', token, 'buffer'),
  });
  await record(transaction, deps, { action: 'startRecovery', userId, actor, effectiveAt });
  return { status: 'waiting', effectiveAt, token };
}

/** Ends a recovery before it is used, on the record. False: none was open. */
export async function cancelRecovery(
  transaction: Transaction,
  deps: MemberContext,
  { userId, actor }: { readonly userId: string; readonly actor: Actor },
): Promise<boolean> {
  const rows = await transaction.query(cancelOpen, { userId });
  if (rows.length === 0) return false;
  await record(transaction, deps, { action: 'cancelRecovery', userId, actor });
  return true;
}

/** Records a step. The person is told, and so are the owners and admins of each merchant that the person acts for. */
async function record(
  transaction: Transaction,
  deps: MemberContext,
  step: {
    readonly action: string;
    readonly userId: string;
    readonly actor: Actor;
    readonly effectiveAt?: Date;
  },
): Promise<void> {
  const { action, userId, actor, effectiveAt } = step;
  const email = await findEmail(transaction, userId);
  const act = { action, subject: userId, after: JSON.stringify({ email, effectiveAt }) };
  await recordPersonalAct(transaction, deps, { userId, actor, act });
}

/**
 * Gives the person a new password and new recovery codes, and ends every other way to sign in and all sessions. The
 * person's open invitations are revoked, because who had the account may have made them. Refuses (200202) a link that is
 * unknown, used, cancelled, a week too old, or that still waits, and (400101) a password that is easy to guess.
 */
export async function completeRecovery(
  transaction: Transaction,
  deps: MemberContext,
  request: {
    readonly token: string;
    readonly password: string;
    readonly passwordHash: string;
    /** What names the installation. */
    readonly places: readonly string[];
    readonly actorOf: (person: { readonly userId: string; readonly email: string }) => Actor;
  },
): Promise<{ readonly email: string; readonly recoveryCodes: string[] }> {
  const [row] = await transaction.query(lockRecovery, { tokenHash: hash('sha256', request.token, 'buffer') });
  const now = deps.clock.now();
  const ageMs = now.getTime() - (row?.effective_at?.getTime() ?? 0);
  if (row?.status !== 'waiting' || ageMs > weekMs) {
    throw new Refusal('sign_in_failed', 'the link is unknown, used, cancelled or too old');
  }
  if (ageMs < 0)
    throw new Refusal('sign_in_failed', `the link works from ${row.effective_at?.toISOString()} on`);
  const { user_id: userId, email } = row;
  const names = [...request.places, ...(await namesOfPerson(transaction, userId))];
  assertHardToGuess('password', request.password, names);
  await transaction.query(setUsed, { recoveryId: row.recovery_id });
  await transaction.query(resetSignIn, { userId, password: request.passwordHash, at: now });
  const actor = request.actorOf({ userId, email });
  await record(transaction, deps, { action: 'completeRecovery', userId, actor });
  const ended = await revokeInvitationsOfPerson(transaction, deps, { userId, isEvery: true });
  await recordEnded(transaction, deps, { actor, ended });
  return { email, recoveryCodes: await renewRecoveryCodes(transaction, deps, userId) };
}
