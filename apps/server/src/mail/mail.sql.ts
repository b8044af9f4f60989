import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';

// The unique fact makes a repetition store nothing. A payer's order knows the payer's language.
export const insertMail = statement({
  name: 'mail_insert',
  parameters: {
    merchantId: 'text?',
    fact: 'text',
    recipient: 'text',
    kind: 'text',
    orderId: 'text?',
    payer: 'text',
    sealedData: 'bytea',
    at: 'timestamptz',
    dueAt: 'timestamptz',
  },
  text: `insert into mails (merchant_id, fact, recipient, kind, payer, language, sealed_data, status, next_attempt_at, created_at)
   values (:merchantId, :fact, :recipient, :kind, :payer,
     coalesce((select payer_language from orders where order_id = :orderId), ''), :sealedData, 'pending', :dueAt, :at)
   on conflict (fact, recipient) do nothing`,
});

const leasedColumns = {
  mail_id: 'int8',
  merchant_id: 'text?',
  fact: 'text',
  recipient: 'text',
  kind: 'text',
  payer: 'text',
  language: 'text',
  sealed_data: 'bytea?',
  attempt_count: 'int4',
  created_at: 'timestamptz',
  is_bounced: 'bool',
} as const;
const leasedList = `m.mail_id, m.merchant_id, m.fact, m.recipient, m.kind, m.payer, m.language, m.sealed_data, m.attempt_count, m.created_at,
     exists (select from mail_bounces b where b.address = m.recipient) as is_bounced`;

// The lease is the time of the next attempt: a worker that dies lets another one send it then.
export const leaseMails = statement({
  name: 'mail_lease',
  parameters: { now: 'timestamptz', leasedUntil: 'timestamptz', limit: 'int8' },
  columns: leasedColumns,
  text: `update mails m set next_attempt_at = :leasedUntil, attempt_count = m.attempt_count + 1
   from (select mail_id from mails where status = 'pending' and next_attempt_at <= :now
     order by next_attempt_at limit :limit for update skip locked) due
   where m.mail_id = due.mail_id
   returning ${leasedList}`,
});
export type LeasedMail = Row<typeof leaseMails>;

// Of the e-mails before this one, so that those that are sent at the same time count as well, and none counts itself.
export const countPayerMails = statement({
  name: 'mail_count_to_payers',
  parameters: { mailId: 'int8', recipient: 'text', payer: 'text', merchantId: 'text', since: 'timestamptz' },
  columns: { to_address: 'int8', by_wallet: 'int8', of_merchant: 'int8' },
  text: `select
     (select count(*) from mails where recipient = :recipient and created_at > :since and mail_id < :mailId
       and kind in ('receipt', 'refund') and status <> 'suppressed') as to_address,
     (select count(*) from mails where payer = :payer and created_at > :since and mail_id < :mailId
       and kind in ('receipt', 'refund') and status <> 'suppressed') as by_wallet,
     (select count(*) from mails where merchant_id = :merchantId and created_at > :since and mail_id < :mailId
       and kind in ('receipt', 'refund') and status <> 'suppressed') as of_merchant`,
});

// The index of the facts has them.
export const countReceiptsAgain = statement({
  name: 'mail_count_receipts_again',
  parameters: { from: 'text', to: 'text', since: 'timestamptz' },
  columns: { sent: 'int8' },
  text: `select count(*) as sent from mails
   where fact collate "C" > :from and fact collate "C" < :to and created_at > :since`,
});

// The e-mails of one kind to one person about a merchant: when the last one was stored, and when the first that waits goes out.
export const latestAlike = statement({
  name: 'mail_latest_alike',
  parameters: {
    merchantId: 'text',
    recipient: 'text',
    kind: 'text',
    since: 'timestamptz',
    at: 'timestamptz',
  },
  columns: { stored_at: 'timestamptz?', due_at: 'timestamptz?' },
  text: `select max(created_at) as stored_at,
     min(next_attempt_at) filter (where status = 'pending' and attempt_count = 0 and next_attempt_at > :at) as due_at
   from mails where merchant_id = :merchantId and recipient = :recipient and kind = :kind and payer = ''
     and created_at > :since`,
});

// Those that are due, or wait for their first attempt. All others are leased, or keep to their own schedule of attempts.
export const leaseAlike = statement({
  name: 'mail_lease_alike',
  parameters: {
    merchantId: 'text',
    recipient: 'text',
    kind: 'text',
    now: 'timestamptz',
    leasedUntil: 'timestamptz',
    limit: 'int8',
  },
  columns: leasedColumns,
  text: `update mails m set next_attempt_at = :leasedUntil, attempt_count = m.attempt_count + 1
   from (select mail_id from mails
     where merchant_id = :merchantId and recipient = :recipient and kind = :kind and payer = '' and status = 'pending'
       and (next_attempt_at <= :now or attempt_count = 0)
     order by mail_id limit :limit for update skip locked) alike
   where m.mail_id = alike.mail_id
   returning ${leasedList}`,
});

// A worker whose lease has ended changes nothing: the attempt is no longer its own.
export const retryMail = statement({
  name: 'mail_retry',
  parameters: { mailId: 'int8', attempt: 'int4', nextAttemptAt: 'timestamptz', error: 'text' },
  text: `update mails set next_attempt_at = :nextAttemptAt, last_error = :error
   where mail_id = :mailId and status = 'pending' and attempt_count = :attempt`,
});

// What the server has taken is sent, even when a second attempt was leased meanwhile.
export const finishMails = statement({
  name: 'mail_finish',
  parameters: { mailIds: 'int8[]', status: 'text', error: 'text', at: 'timestamptz' },
  text: `update mails set status = :status, last_error = :error, finished_at = :at, sealed_data = null
   where mail_id = any (:mailIds) and status = 'pending'`,
});

export const recordBounce = statement({
  name: 'mail_record_bounce',
  parameters: { address: 'text', reason: 'text', at: 'timestamptz' },
  text: `insert into mail_bounces (address, reason, bounced_at) values (:address, :reason, :at)
   on conflict (address) do update set reason = excluded.reason, bounced_at = excluded.bounced_at`,
});

export const deleteOldMails = statement({
  name: 'mail_delete_old',
  parameters: { before: 'timestamptz', limit: 'int8' },
  columns: { mail_id: 'int8' },
  text: `delete from mails where mail_id in (
     select mail_id from mails where status <> 'pending' and finished_at < :before order by finished_at limit :limit)
   returning mail_id`,
});

export const deleteOldBounces = statement({
  name: 'mail_delete_old_bounces',
  parameters: { before: 'timestamptz', limit: 'int8' },
  columns: { address: 'text' },
  text: `delete from mail_bounces where address in (
     select address from mail_bounces where bounced_at < :before order by bounced_at limit :limit)
   returning address`,
});

// Held until the transaction ends: changes at the same time would all count the same e-mails, and none would be the last.
export const takeKeyMailTurn = statement({
  name: 'mail_take_key_turn',
  parameters: { merchantId: 'text' },
  columns: { locked: 'bool' },
  text: `select true as locked from ${awaitLockOf('keyMails', ':merchantId::text')}`,
});

// Changes by a key, which their facts say. Changes, not e-mails: each is told to several people.
export const countKeyWebhookChanges = countKeyChanges(
  'mail_count_key_webhook_changes',
  "'createWebhook', 'updateWebhook'",
);
export const countKeyPayerChanges = countKeyChanges(
  'mail_count_key_payer_changes',
  "'sendPayers', 'changeLegalName'",
);

function countKeyChanges(name: string, kinds: string) {
  return statement({
    name,
    parameters: { merchantId: 'text', keyId: 'text', since: 'timestamptz' },
    columns: { told: 'int8', is_last_told: 'bool' },
    text: `select count(distinct fact) as told, count(*) filter (where fact like '%:last') > 0 as is_last_told from mails
   where kind in (${kinds}) and merchant_id = :merchantId and created_at > :since
     and strpos(fact, ':key:' || :keyId || ':') > 0`,
  });
}

// Of facts that begin alike: the character after a colon is a semicolon.
export const countSentMails = statement({
  name: 'mail_count_sent',
  parameters: { factsFrom: 'text', factsTo: 'text' },
  columns: { sent: 'int8' },
  text: `select count(*) as sent from mails
   where fact collate "C" > :factsFrom and fact collate "C" < :factsTo and status = 'sent'`,
});

export const countInvitations = statement({
  name: 'mail_count_invitations',
  parameters: { merchantId: 'text', since: 'timestamptz' },
  columns: { sent: 'int8' },
  text: `select count(*) as sent from mails
   where kind = 'invitation' and merchant_id = :merchantId and created_at > :since`,
});
