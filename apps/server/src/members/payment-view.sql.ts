import { statement } from '@florin/pg';

// The membership is locked: a removal at the same time takes the views with it, and two that are saved at once are counted.
export const lockMembership = statement({
  name: 'payment_view_lock_membership',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { role: 'text' },
  text: `select role from memberships where merchant_id = :merchantId and user_id = :userId for no key update`,
});

export const viewsOfMember = statement({
  name: 'payment_views_of_member',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { name: 'text', filters: 'text' },
  text: `select name, filters::text as filters from payment_views
   where merchant_id = :merchantId and user_id = :userId order by name`,
});

export const upsertView = statement({
  name: 'payment_view_save',
  parameters: { merchantId: 'text', userId: 'text', name: 'text', filters: 'text', createdAt: 'timestamptz' },
  text: `insert into payment_views (merchant_id, user_id, name, filters, created_at)
   values (:merchantId, :userId, :name, :filters::text::jsonb, :createdAt)
   on conflict (merchant_id, user_id, name) do update set filters = excluded.filters`,
});

export const deleteView = statement({
  name: 'payment_view_delete',
  parameters: { merchantId: 'text', userId: 'text', name: 'text' },
  columns: { name: 'text' },
  text: 'delete from payment_views where merchant_id = :merchantId and user_id = :userId and name = :name returning name',
});
