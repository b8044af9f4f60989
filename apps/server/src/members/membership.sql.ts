import { statement } from '@florin/pg';

const columns = {
  user_id: 'text',
  role: 'text',
  name: 'text',
  email: 'text',
  created_at: 'timestamptz',
} as const;

const members = `select m.user_id, m.role, u.name, u.email, m.created_at
   from memberships m join sign_in."user" u on u.id = m.user_id`;

export const membersOfMerchant = statement({
  name: 'members_of_merchant',
  parameters: { merchantId: 'text' },
  columns,
  text: `${members} where m.merchant_id = :merchantId order by m.created_at, m.user_id`,
});

export const memberById = statement({
  name: 'member_by_id',
  parameters: { merchantId: 'text', userId: 'text' },
  columns,
  text: `${members} where m.merchant_id = :merchantId and m.user_id = :userId`,
});

export const merchantsOfUser = statement({
  name: 'merchants_of_user',
  parameters: { userId: 'text' },
  columns: { merchant_id: 'text', merchant_name: 'text', role: 'text', is_suspended: 'bool' },
  text: `select merchant_id, merchant_name, role, suspended_at is not null as is_suspended from memberships join merchants using (merchant_id)
   where user_id = :userId order by merchant_name, merchant_id`,
});

// One row whether or not the person is a member, so that a request costs one round trip.
export const roleOfUser = statement({
  name: 'role_of_user',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { role: 'text?', is_staff: 'bool', is_merchant: 'bool' },
  text: `select (select role from memberships where merchant_id = :merchantId and user_id = :userId) as role,
     exists (select from staff where user_id = :userId) as is_staff,
     exists (select from merchants where merchant_id = :merchantId) as is_merchant`,
});

// A change or an end of the membership waits for what rests on it, and the other way round.
export const lockMemberRole = statement({
  name: 'membership_lock',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { role: 'text' },
  text: 'select role from memberships where merchant_id = :merchantId and user_id = :userId for share',
});

export const insertMembership = statement({
  name: 'membership_insert',
  parameters: { merchantId: 'text', userId: 'text', role: 'text', at: 'timestamptz' },
  columns: { user_id: 'text' },
  text: `insert into memberships (merchant_id, user_id, role, created_at, updated_at)
   values (:merchantId, :userId, :role, :at, :at) on conflict do nothing returning user_id`,
});

/** No row where the member has another role than `ifRole`. */
export const setRole = statement({
  name: 'membership_set_role',
  parameters: { merchantId: 'text', userId: 'text', role: 'text', ifRole: 'text?', at: 'timestamptz' },
  columns: { user_id: 'text' },
  text: `update memberships set role = :role, updated_at = :at
   where merchant_id = :merchantId and user_id = :userId and role = coalesce(:ifRole, role) returning user_id`,
});

export const deleteMembership = statement({
  name: 'membership_delete',
  parameters: { merchantId: 'text', userId: 'text' },
  text: 'delete from memberships where merchant_id = :merchantId and user_id = :userId',
});

// Locks the owners, so that two of them cannot remove each other at the same time.
export const lockOwners = statement({
  name: 'membership_lock_owners',
  parameters: { merchantId: 'text' },
  columns: { user_id: 'text' },
  text: `select user_id from memberships where merchant_id = :merchantId and role = 'owner'
   order by user_id for update`,
});
