import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type MemberRole, mayAssign, memberRoles } from '@florin/protocol/member-role.ts';
import { type Actor, recordAct } from './audit.ts';
import type { MemberContext } from './context.ts';
import { lockMerchantOfInvitation, revokeOfMember, revokeOfPerson } from './invitation.sql.ts';
import { lockMemberRole, lockOwners } from './membership.sql.ts';
import { lockStaff } from './staff.sql.ts';

/** A wish to give somebody a role at a merchant. */
export interface RoleGrant {
  readonly merchantId: string;
  /** Who gives it. */
  readonly userId: string;
  readonly role: MemberRole;
}

/**
 * Whether the person may give the role: a member by their own role, and staff while the merchant has no owner
 * (docs/decisions/0152). What the answer rests on stays locked until the transaction ends, so a removal waits for it.
 */
export async function mayGive(transaction: Transaction, grant: RoleGrant): Promise<boolean> {
  const [member] = await transaction.query(lockMemberRole, grant);
  if (member !== undefined && mayAssign(member.role as MemberRole, grant.role)) return true;
  return mayGiveAsStaff(transaction, grant);
}

/** Whether the person is staff and the merchant has no owner. Two first owners are not accepted at the same time. */
async function mayGiveAsStaff(
  transaction: Transaction,
  { merchantId, userId }: Omit<RoleGrant, 'role'>,
): Promise<boolean> {
  if ((await transaction.query(lockStaff, { userId })).length === 0) return false;
  await transaction.query(lockMerchantOfInvitation, { merchantId });
  return (await transaction.query(lockOwners, { merchantId })).length === 0;
}

/** Refuses (200205) a member who may not give the role, by the role that the member has now. */
export async function assertMayInvite(transaction: Transaction, grant: RoleGrant): Promise<void> {
  const [member] = await transaction.query(lockMemberRole, grant);
  const role = member?.role as MemberRole | undefined;
  if (role === undefined || !mayAssign(role, grant.role))
    throw new Refusal('role_forbidden', `${role ?? 'no member'} cannot give ${grant.role}`);
}

/** Refuses (200205) staff where the merchant has an owner: owners and admins invite there. */
export async function assertMayInviteAsStaff(
  transaction: Transaction,
  grant: Omit<RoleGrant, 'role'>,
): Promise<void> {
  if (await mayGiveAsStaff(transaction, grant)) return;
  throw new Refusal('role_forbidden', 'the merchant has an owner: owners and admins invite its members');
}

/** An invitation that ended with the authority of the person who made it. */
export interface EndedInvitation {
  readonly invitationId: string;
  readonly merchantId: string | undefined;
}

/** Revokes and returns a member's open invitations to roles that the member may not give any more. */
export async function revokeInvitationsOfMember(
  transaction: Transaction,
  { clock }: Pick<MemberContext, 'clock'>,
  member: {
    readonly merchantId: string;
    readonly userId: string;
    /** Undefined: none any more. */
    readonly role: MemberRole | undefined;
  },
): Promise<EndedInvitation[]> {
  const { role, merchantId, userId } = member;
  const stillGiven = role === undefined ? [] : memberRoles.filter((given) => mayAssign(role, given));
  const rows = await transaction.query(revokeOfMember, { merchantId, userId, stillGiven, at: clock.now() });
  return rows.map((row) => ({ invitationId: row.invitation_id, merchantId }));
}

/** Revokes and returns open invitations that a person made: every one, or those of merchants that the person does not lead. */
export async function revokeInvitationsOfPerson(
  transaction: Transaction,
  { clock }: Pick<MemberContext, 'clock'>,
  { userId, isEvery }: { readonly userId: string; readonly isEvery: boolean },
): Promise<EndedInvitation[]> {
  const rows = await transaction.query(revokeOfPerson, { userId, isEvery, at: clock.now() });
  return rows.map((row) => ({
    invitationId: row.invitation_id,
    merchantId: row.merchant_id ?? undefined,
  }));
}

/** Records the invitations that an act has ended besides. */
export async function recordEnded(
  transaction: Transaction,
  deps: MemberContext,
  { actor, ended }: { readonly actor: Actor; readonly ended: readonly EndedInvitation[] },
): Promise<void> {
  for (const { merchantId, invitationId: subject } of ended)
    await recordAct(transaction, deps, { merchantId, actor, act: { action: 'revokeInvitation', subject } });
}
