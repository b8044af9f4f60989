import { statement } from '@florin/pg';

const columns = { user_id: 'text', name: 'text', email: 'text', created_at: 'timestamptz' } as const;

export const staffList = statement({
  name: 'staff_list',
  columns,
  text: `select s.user_id, u.name, u.email, s.created_at from staff s join sign_in."user" u on u.id = s.user_id
   order by s.created_at, s.user_id`,
});

export const insertStaff = statement({
  name: 'staff_insert',
  parameters: { userId: 'text', at: 'timestamptz' },
  columns: { user_id: 'text' },
  text: 'insert into staff (user_id, created_at) values (:userId, :at) on conflict do nothing returning user_id',
});

export const deleteStaff = statement({
  name: 'staff_delete',
  parameters: { userId: 'text' },
  columns: { user_id: 'text' },
  text: 'delete from staff where user_id = :userId returning user_id',
});

// A removal from the staff waits for what rests on it.
export const lockStaff = statement({
  name: 'staff_lock',
  parameters: { userId: 'text' },
  columns: { user_id: 'text' },
  text: 'select user_id from staff where user_id = :userId for key share',
});

export const isStaffMember = statement({
  name: 'staff_is_member',
  parameters: { userId: 'text' },
  columns: { is_staff: 'bool' },
  text: 'select exists (select from staff where user_id = :userId) as is_staff',
});
