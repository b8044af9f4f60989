import { statement } from '@florin/pg';

export const choicesOfUser = statement({
  name: 'notification_choices_of_user',
  parameters: { userId: 'text' },
  columns: {
    merchant_id: 'text',
    merchant_name: 'text',
    role: 'text',
    wanted: 'text[]',
    unwanted: 'text[]',
  },
  text: `select m.merchant_id, merchant_name, m.role,
     array(select kind from notification_choices c
       where c.merchant_id = m.merchant_id and c.user_id = m.user_id and is_wanted) as wanted,
     array(select kind from notification_choices c
       where c.merchant_id = m.merchant_id and c.user_id = m.user_id and not is_wanted) as unwanted
   from memberships m join merchants using (merchant_id)
   where m.user_id = :userId order by merchant_name, m.merchant_id`,
});

// The membership is locked, so that a removal at the same time takes the choice with it.
export const lockRole = statement({
  name: 'notification_lock_role',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { role: 'text' },
  text: `select role from memberships where merchant_id = :merchantId and user_id = :userId for key share`,
});

export const setChoice = statement({
  name: 'notification_choice_set',
  parameters: { merchantId: 'text', userId: 'text', kind: 'text', isWanted: 'bool' },
  text: `insert into notification_choices (merchant_id, user_id, kind, is_wanted)
   values (:merchantId, :userId, :kind, :isWanted)
   on conflict (merchant_id, user_id, kind) do update set is_wanted = excluded.is_wanted`,
});

export const recipientsOf = statement({
  name: 'notification_recipients',
  parameters: { merchantId: 'text', kind: 'text', alwaysRoles: 'text[]', defaultRoles: 'text[]' },
  columns: { user_id: 'text', email: 'text', role: 'text' },
  text: `select m.user_id, u.email, m.role from memberships m join sign_in."user" u on u.id = m.user_id
     left join notification_choices c
       on c.merchant_id = m.merchant_id and c.user_id = m.user_id and c.kind = :kind
   where m.merchant_id = :merchantId
     and (m.role = any(:alwaysRoles) or coalesce(c.is_wanted, m.role = any(:defaultRoles)))
   order by m.created_at, m.user_id`,
});

// The merchants lie in this order in the key of the choices.
export const merchantsChosenFor = statement({
  name: 'notification_merchants',
  parameters: { kind: 'text', after: 'text', limit: 'int8' },
  columns: { merchant_id: 'text' },
  text: `select merchant_id from notification_choices
   where kind = :kind and is_wanted and merchant_id > :after group by merchant_id order by merchant_id limit :limit`,
});
