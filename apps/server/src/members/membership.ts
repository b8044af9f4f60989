import type { Queryable, Row, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type MemberRole, mayAssign, type Role } from '@florin/protocol/member-role.ts';
import type { MemberContext } from './context.ts';
import { type EndedInvitation, revokeInvitationsOfMember } from './inviter.ts';
import {
  deleteMembership,
  insertMembership,
  lockOwners,
  memberById,
  membersOfMerchant,
  merchantsOfUser,
  roleOfUser,
  setRole,
} from './membership.sql.ts';
import { nameOfUser } from './user.sql.ts';

/** A person who acts for a merchant. */
export interface Member {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly since: Date;
}

function parseMember(row: Row<typeof memberById>): Member {
  const { user_id: userId, name, email, created_at: since } = row;
  return { userId, name, email, role: row.role as MemberRole, since };
}

/** The merchant's members, oldest first. */
export async function listMembers(queryable: Queryable, merchantId: string): Promise<Member[]> {
  return (await queryable.query(membersOfMerchant, { merchantId })).map(parseMember);
}

/** One member of the merchant; undefined when the person is none. */
export async function findMember(
  queryable: Queryable,
  request: { merchantId: string; userId: string },
): Promise<Member | undefined> {
  const [row] = await queryable.query(memberById, request);
  return row === undefined ? undefined : parseMember(row);
}

/** A merchant that a person acts for. */
export interface OwnMerchant {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly role: MemberRole;
  readonly isSuspended: boolean;
}

/** The merchants that a person is a member of, by name. */
export async function listOwnMerchants(queryable: Queryable, userId: string): Promise<OwnMerchant[]> {
  const rows = await queryable.query(merchantsOfUser, { userId });
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    merchantName: row.merchant_name,
    role: row.role as MemberRole,
    isSuspended: row.is_suspended,
  }));
}

/** What an attacker who knows of the person tries as a password: the names of the person, the address and the merchants. */
export async function namesOfPerson(queryable: Queryable, userId: string): Promise<string[]> {
  const [person] = await queryable.query(nameOfUser, { userId });
  const merchants = await listOwnMerchants(queryable, userId);
  return [person?.name ?? '', person?.email ?? '', ...merchants.map(({ merchantName }) => merchantName)];
}

/** A person's role at a merchant. Members of the staff have the role `staff` where they are no members. */
export async function findRole(
  queryable: Queryable,
  request: { merchantId: string; userId: string },
): Promise<Role | undefined> {
  const [row] = await queryable.query(roleOfUser, request);
  if (row === undefined) throw new Error('the look-up of a role always has one row');
  if (row.role !== null) return row.role as MemberRole;
  return row.is_staff && row.is_merchant ? 'staff' : undefined;
}

/** Makes a person a member. Refuses one who is (100805). */
export async function addMember(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  request: { merchantId: string; userId: string; role: MemberRole },
): Promise<void> {
  const rows = await transaction.query(insertMembership, { ...request, at: deps.clock.now() });
  if (rows.length === 0) throw new Refusal('member_exists');
}

/**
 * Changes a member's role. Revokes and returns the member's open invitations to roles that are now above them. Refuses an unknown member (100801), the last owner (100802), a member who has another role than
 * `ifRole` (100810), and roles above the actor's (200205).
 */
export async function changeRole(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  request: {
    merchantId: string;
    userId: string;
    role: MemberRole;
    actor: Role;
    ifRole?: MemberRole | undefined;
  },
): Promise<EndedInvitation[]> {
  const { merchantId, userId, role, actor, ifRole = null } = request;
  const member = await changeableMember(transaction, { merchantId, userId, actor });
  assertMayAssign(actor, role);
  if (member.role === 'owner' && role !== 'owner') await assertOtherOwner(transaction, merchantId, userId);
  const changed = await transaction.query(setRole, {
    ...{ merchantId, userId, role, ifRole },
    at: deps.clock.now(),
  });
  if (changed.length === 0) throw new Refusal('member_changed', `${userId} has another role meanwhile`);
  return revokeInvitationsOfMember(transaction, deps, { merchantId, userId, role });
}

/**
 * Ends a membership. Revokes and returns the member's open invitations. Refuses an unknown member (100801), the last owner
 * (100802), and roles above the actor's (200205).
 */
export async function removeMember(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  request: { merchantId: string; userId: string; actor: Role },
): Promise<EndedInvitation[]> {
  const { merchantId, userId } = request;
  const member = await changeableMember(transaction, request);
  if (member.role === 'owner') await assertOtherOwner(transaction, merchantId, userId);
  await transaction.query(deleteMembership, { merchantId, userId });
  return revokeInvitationsOfMember(transaction, deps, { merchantId, userId, role: undefined });
}

async function changeableMember(
  transaction: Transaction,
  { merchantId, userId, actor }: { merchantId: string; userId: string; actor: Role },
): Promise<Member> {
  const member = await findMember(transaction, { merchantId, userId });
  if (member === undefined) throw new Refusal('member_not_found', userId);
  assertMayAssign(actor, member.role);
  return member;
}

/** Refuses (200205) a role that the actor's role may neither give nor take away. */
export function assertMayAssign(actor: Role, role: MemberRole): void {
  if (!mayAssign(actor, role)) throw new Refusal('role_forbidden', `${actor} cannot give or take ${role}`);
}

async function assertOtherOwner(transaction: Transaction, merchantId: string, userId: string): Promise<void> {
  const owners = await transaction.query(lockOwners, { merchantId });
  if (!owners.some((owner) => owner.user_id !== userId)) throw new Refusal('last_owner');
}
