import { hash } from 'node:crypto';
import type { Queryable, Row, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import type { MemberRole, Role } from '@florin/protocol/member-role.ts';
import { recordAct } from './audit.ts';
import type { Act, Actor, MemberContext } from './context.ts';
import { checkedEmail, parseEmail } from './email.ts';
import {
  bindAddress,
  insertInvitation,
  invitationByToken,
  lockInvitation,
  openInvitations,
  setAccepted,
  setRevoked,
} from './invitation.sql.ts';
import { mayGive } from './inviter.ts';
import { addMember } from './membership.ts';
import { addStaff } from './staff.ts';
import { createUserIfNew } from './user.ts';

/** An open invitation; its token is only in the link. */
export interface Invitation {
  readonly invitationId: string;
  /** Undefined: it makes staff of the operator. */
  readonly merchantId: string | undefined;
  readonly role: Role;
  /** Whose account alone accepts it. Empty when the inviter gave none: then the account of any address does. */
  readonly email: string;
  /** The inviting member's id; empty for the operator. */
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** How long a link works: a week, in milliseconds. */
const validForMs = 7 * 24 * 3_600_000;
/** 256 bits. */
const tokenBytes = 32;

function parseInvitation(row: Row<typeof openInvitations>): Invitation {
  return {
    invitationId: row.invitation_id,
    merchantId: row.merchant_id ?? undefined,
    role: row.role as Role,
    email: row.email,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/**
 * Makes an invitation and its token. The token is shown this once: only its SHA-256 is stored. The caller has checked that
 * the inviter may give the role. Refuses a malformed e-mail address (400101); empty is none.
 */
export async function invite(
  transaction: Transaction,
  deps: MemberContext,
  request: { email: string; invitedBy: string } & (
    | { merchantId: string; role: MemberRole }
    | { merchantId: undefined; role: 'staff' }
  ),
): Promise<{ readonly invitation: Invitation; readonly token: string }> {
  const token = Buffer.from(deps.random.bytes(tokenBytes)).toString('base64url');
  const createdAt = deps.clock.now();
  const [row] = await transaction.query(insertInvitation, {
    ...request,
    merchantId: request.merchantId ?? null,
    email: request.email === '' ? '' : checkedEmail(request.email),
    invitationId: newId('invitation', deps.random.bytes),
    tokenHash: hashOf(token),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + validForMs),
  });
  if (row === undefined) throw new Error('an insert of an invitation returned no row');
  return { invitation: parseInvitation(row), token };
}

/** Sends the link by e-mail as well. False when no e-mail goes out: then the inviter alone has the link. */
export async function mailInvitation(
  transaction: Transaction,
  deps: Pick<MemberContext, 'tellInvited'>,
  { invitation, url }: { readonly invitation: Invitation; readonly url: string },
): Promise<boolean> {
  const { email, createdAt: at } = invitation;
  if (deps.tellInvited === undefined || email === '') return false;
  return deps.tellInvited(transaction, { ...invitation, url, at });
}

/** Makes an invitation of the dashboard, sends its link by e-mail as well, and returns what the inviter sees. */
export async function inviteByLink(
  transaction: Transaction,
  deps: MemberContext & { readonly dashboardOrigin: string },
  request: { merchantId: string; role: MemberRole; email: string; invitedBy: string },
): Promise<{ readonly invitation: Invitation; readonly url: string; readonly isMailed: boolean }> {
  const { invitation, token } = await invite(transaction, deps, request);
  const url = invitationUrl(`${deps.dashboardOrigin}/dashboard`, token);
  return { invitation, url, isMailed: await mailInvitation(transaction, deps, { invitation, url }) };
}

/** The link for a token. The token is in the fragment, which browsers keep from servers and referrers. */
export function invitationUrl(dashboardUrl: string, token: string): string {
  return `${dashboardUrl}/invitation#${token}`;
}

/** The merchant's invitations that can still be accepted, newest first. */
export async function listInvitations(
  queryable: Queryable,
  deps: Pick<MemberContext, 'clock'>,
  merchantId: string,
): Promise<Invitation[]> {
  const rows = await queryable.query(openInvitations, { merchantId, now: deps.clock.now() });
  return rows.map(parseInvitation);
}

/**
 * The invitation of a token, locked until the transaction ends. Refuses (100803) one that is unknown, expired, revoked or
 * used, and one whose inviter may not give the role any more; callers cannot distinguish these.
 */
export async function openInvitation(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  token: string,
): Promise<Invitation & { readonly merchantName: string }> {
  const tokenHash = hashOf(token);
  const [made] = await transaction.query(invitationByToken, { tokenHash });
  // The inviter's membership is locked first, as a removal locks it: else the two could wait for each other.
  const isGiven = made !== undefined && (await isStillGiven(transaction, parseInvitation(made)));
  const [row] = await transaction.query(lockInvitation, { tokenHash });
  const isOpen =
    isGiven &&
    row !== undefined &&
    row.accepted_at === null &&
    row.revoked_at === null &&
    row.expires_at > deps.clock.now();
  if (!isOpen) {
    throw new Refusal('invitation_invalid', 'it is unknown, expired, revoked or used: ask for a new one');
  }
  return { ...parseInvitation(row), merchantName: row.merchant_name ?? '' };
}

/**
 * Makes an account for the person who holds an invitation. Refuses a malformed name or e-mail address (400101).
 *
 * Undefined where the invitation is for another address, or the address has an account: callers answer both alike. An
 * invitation without an address then takes this one, so that nobody looks for accounts by trying addresses.
 */
export async function createInvitedUser(
  transaction: Transaction,
  deps: MemberContext,
  { invitation, ...person }: { invitation: Invitation; name: string; email: string; passwordHash: string },
): Promise<string | undefined> {
  const email = checkedEmail(person.email);
  const { invitationId } = invitation;
  if (!isFor(invitation, email)) return undefined;
  const userId = await createUserIfNew(transaction, deps, person);
  if (userId === undefined) await transaction.query(bindAddress, { invitationId, email });
  return userId;
}

/** What {@link createInvitedUser} refuses without saying whether the address has an account. */
export function refuseNewAccount(): Refusal {
  return fieldRefusal(
    'email',
    'makes no new account with this invitation: sign in if you have one, or ask for an invitation to this address',
  );
}

function isFor({ email: invited }: Invitation, email: string): boolean {
  return invited === '' || invited === parseEmail(email);
}

/**
 * Makes the acting person a member, or staff, on the record, and uses the token up. Refuses an invalid token (100803), also
 * one for another address than the person's, and a member (100805).
 */
export async function acceptInvitation(
  transaction: Transaction,
  deps: MemberContext,
  { token, actor }: { readonly token: string; readonly actor: Actor },
): Promise<Invitation> {
  const userId = actor.id;
  const invitation = await openInvitation(transaction, deps, token);
  if (!isFor(invitation, actor.name)) {
    throw new Refusal('invitation_invalid', 'it is for another e-mail address than that of your account');
  }
  const { invitationId, merchantId, role } = invitation;
  if (merchantId === undefined || role === 'staff') await addStaff(transaction, deps, userId);
  else await addMember(transaction, deps, { merchantId, userId, role });
  await transaction.query(setAccepted, { invitationId, userId, at: deps.clock.now() });
  await recordAct(transaction, deps, { merchantId, actor, act: acceptanceAct(invitation, actor) });
  return invitation;
}

function acceptanceAct({ invitationId: subject, role }: Invitation, { id: userId, name: email }: Actor): Act {
  return { action: 'acceptInvitation', subject, after: JSON.stringify({ userId, email, role }) };
}

/** Makes the link of an invitation useless. Refuses one that is unknown, accepted or revoked (100804). */
export async function revokeInvitation(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  request: { merchantId: string; invitationId: string },
): Promise<void> {
  const rows = await transaction.query(setRevoked, { ...request, at: deps.clock.now() });
  if (rows.length === 0) throw new Refusal('invitation_not_found', request.invitationId);
}

/** The operator's invitations rest on no person. */
async function isStillGiven(
  transaction: Transaction,
  { merchantId, invitedBy: userId, role }: Invitation,
): Promise<boolean> {
  if (userId === '' || merchantId === undefined || role === 'staff') return userId === '';
  return mayGive(transaction, { merchantId, userId, role });
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
