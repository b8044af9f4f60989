import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { MemberContext } from './context.ts';
import { type EndedInvitation, revokeInvitationsOfPerson } from './inviter.ts';
import { deleteStaff, insertStaff, isStaffMember, staffList } from './staff.sql.ts';

/** A person of the operator's staff. */
export interface StaffMember {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly since: Date;
}

/** The operator's staff, oldest first. */
export async function listStaff(queryable: Queryable): Promise<StaffMember[]> {
  return (await queryable.query(staffList)).map((row) => ({
    userId: row.user_id,
    name: row.name,
    email: row.email,
    since: row.created_at,
  }));
}

/** Whether the person is of the operator's staff. */
export async function isStaff(queryable: Queryable, userId: string): Promise<boolean> {
  const [row] = await queryable.query(isStaffMember, { userId });
  return row?.is_staff === true;
}

/** Makes a person staff. Refuses one who is (100805). */
export async function addStaff(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  userId: string,
): Promise<void> {
  const rows = await transaction.query(insertStaff, { userId, at: deps.clock.now() });
  if (rows.length === 0) throw new Refusal('member_exists');
}

/**
 * Takes a person from the staff; memberships stay. Revokes and returns the person's open invitations, but those of merchants
 * whose owner or admin the person is. Refuses one who is no staff (100801).
 */
export async function removeStaff(
  transaction: Transaction,
  deps: Pick<MemberContext, 'clock'>,
  userId: string,
): Promise<EndedInvitation[]> {
  const rows = await transaction.query(deleteStaff, { userId });
  if (rows.length === 0) throw new Refusal('member_not_found', userId);
  return revokeInvitationsOfPerson(transaction, deps, { userId, isEvery: false });
}
