import { statement } from '@florin/pg';

// A merchant's scope shows its own members and the people whom it invited.
export const bouncesOf = statement({
  name: 'mail_bounces_of',
  parameters: { addresses: 'text[]' },
  columns: { address: 'text', reason: 'text', bounced_at: 'timestamptz' },
  text: 'select address, reason, bounced_at from mail_bounces where address = any(:addresses)',
});

export const forgetBounce = statement({
  name: 'mail_forget_bounce',
  parameters: { address: 'text' },
  columns: { is_person: 'bool' },
  text: `delete from mail_bounces where address = :address
   returning exists (select from sign_in."user" u where u.email = mail_bounces.address) as is_person`,
});

export const newestBounces = statement({
  name: 'mail_newest_bounces',
  parameters: { limit: 'int8' },
  columns: { address: 'text', reason: 'text', bounced_at: 'timestamptz', is_person: 'bool' },
  text: `select address, reason, bounced_at,
     exists (select from sign_in."user" u where u.email = b.address) as is_person
   from mail_bounces b order by bounced_at desc limit :limit`,
});

export const troubledMails = statement({
  name: 'mail_troubled',
  parameters: { limit: 'int8' },
  columns: {
    mail_id: 'int8',
    merchant_id: 'text?',
    recipient: 'text',
    kind: 'text',
    status: 'text',
    attempt_count: 'int4',
    last_error: 'text',
    next_attempt_at: 'timestamptz',
    created_at: 'timestamptz',
    is_person: 'bool',
  },
  text: `select mail_id, merchant_id, recipient, kind, status, attempt_count, last_error, next_attempt_at, created_at,
     exists (select from sign_in."user" u where u.email = m.recipient) as is_person
   from mails m where last_error <> '' order by mail_id desc limit :limit`,
});

// Only the last e-mail that went out is read of those that did.
export const mailProgress = statement({
  name: 'mail_progress',
  columns: { waiting: 'int8', oldest: 'timestamptz?', last_sent: 'timestamptz?' },
  text: `select count(*) as waiting, min(created_at) as oldest,
     (select finished_at from mails where status = 'sent' order by finished_at desc limit 1) as last_sent
   from mails where status = 'pending'`,
});

export const sessionMails = statement({
  name: 'mails_of_session',
  parameters: { sessionId: 'text' },
  columns: {
    kind: 'text',
    is_loss: 'bool',
    status: 'text',
    last_error: 'text',
    created_at: 'timestamptz',
    finished_at: 'timestamptz?',
  },
  // Facts end with the session, or go on after a colon: a semicolon is the next character. A loss that was over in time was told
  // to no payer.
  text: `select kind, is_loss, status, last_error, created_at, finished_at
   from (values ('session.paid:', false), ('session.refunded:', false), ('session.payment_lost:', true),
       ('session.refund_lost:', true)) as told (prefix, is_loss)
     join mails on fact collate "C" >= prefix || :sessionId::text and fact collate "C" < prefix || :sessionId || ';'
   where kind in ('receipt', 'refund') and not (is_loss and status = 'suppressed')
   order by mail_id`,
});
