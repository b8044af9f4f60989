import { statement } from '@florin/pg';

// skip locked in all of these: a later round erases what is in use now.
export const eraseOldSessions = statement({
  name: 'erasure_old_sessions',
  parameters: { before: 'timestamptz', limit: 'int8' },
  columns: { session_id: 'text' },
  text: `update sessions set payer_email = '' where session_id in (
     select session_id from sessions where payer_email <> '' and updated_at < :before
       and status in ('expired', 'cancelled', 'completed')
     order by updated_at limit :limit for update skip locked)
   returning session_id`,
});

export const eraseOldOrders = statement({
  name: 'erasure_old_orders',
  parameters: { before: 'timestamptz', limit: 'int8' },
  columns: { order_id: 'text' },
  text: `update orders set payer_email = '' where order_id in (
     select order_id from orders where payer_email <> '' and created_at < :before
     order by created_at limit :limit for update skip locked)
   returning order_id`,
});

export const eraseOldNetworks = statement({
  name: 'erasure_old_networks',
  parameters: { before: 'timestamptz', limit: 'int8' },
  columns: { order_id: 'text' },
  text: `with sent as (
     update submissions set network = '' where order_id in (
       select order_id from submissions where network <> '' and created_at < :before
       order by created_at limit :limit for update skip locked)
     returning order_id
   ), signed as (
     update orders set network = '' where order_id in (
       select order_id from orders where network <> '' and created_at < :before
       order by created_at limit :limit for update skip locked)
     returning order_id
   )
   select order_id from sent union all select order_id from signed`,
});

// A payer may have given other addresses at other payments of a session: only this one goes.
export const sessionsOfPayer = statement({
  name: 'erasure_sessions_of_payer',
  parameters: { email: 'text', limit: 'int8' },
  columns: { session_id: 'text', payer_email: 'text' },
  text: `(select session_id, payer_email from sessions
      where lower(payer_email) = lower(:email) and payer_email <> '' limit :limit)
   union (select session_id, payer_email from orders
      where lower(payer_email) = lower(:email) and payer_email <> '' limit :limit)`,
});

export const eraseSessionsOfPayer = statement({
  name: 'erasure_of_payer_in_sessions',
  parameters: { emails: 'text[]', sessionIds: 'text[]' },
  text: `update sessions set payer_email = '' where session_id = any (:sessionIds) and payer_email = any (:emails)`,
});

export const eraseOrdersOfPayer = statement({
  name: 'erasure_of_payer_in_orders',
  parameters: { emails: 'text[]', sessionIds: 'text[]' },
  text: `update orders set payer_email = '' where session_id = any (:sessionIds) and payer_email = any (:emails)`,
});

// Bodies are JSON text that webhooks repeat byte for byte: only the member's value goes.
export const eraseEventsOfPayer = statement({
  name: 'erasure_of_payer_in_events',
  parameters: { member: 'text', emptied: 'text', sessionIds: 'text[]' },
  text: `update events set body = replace(body, :member, :emptied)
   where object_id = any (:sessionIds) and strpos(body, :member) > 0`,
});

// E-mails go to the address in lower case. Whoever signs in with it, or is invited, keeps the e-mails that are not to payers.
export const eraseMailsOfPayer = statement({
  name: 'erasure_of_payer_in_mails',
  parameters: { email: 'text' },
  text: `with bounced as (
     delete from mail_bounces b where b.address = lower(:email) and not ${isOfMember('b.address')}
   )
   delete from mails m where m.recipient = lower(:email)
     and (m.kind in ('receipt', 'refund') or not ${isOfMember('m.recipient')})`,
});

function isOfMember(address: string): string {
  return `(exists (select from sign_in."user" u where u.email = ${address})
     or exists (select from invitations i where i.email = ${address}))`;
}
