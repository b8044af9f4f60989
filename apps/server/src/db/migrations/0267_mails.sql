-- E-mails that tell payers and members of facts. Each is written in the transaction of its fact (docs/decisions/0144).
create table mails (
  mail_id bigint generated always as identity primary key,
  merchant_id text references merchants,
  -- What the e-mail tells, such as `session.paid:ses_…`. It is told once to each recipient.
  fact text not null,
  recipient text not null,
  kind text not null,
  -- The recipient's language as a BCP 47 tag; empty when it is not known.
  language text not null,
  -- What the text is made from when it is sent, under the master key. Null once the e-mail is finished.
  sealed_data bytea,
  status text not null check (status in ('pending', 'sent', 'failed', 'bounced', 'suppressed')),
  attempt_count int not null default 0,
  -- While a worker sends it: when another worker may take it.
  next_attempt_at timestamptz not null,
  last_error text not null default '',
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((status = 'pending') = (sealed_data is not null)),
  unique (fact, recipient)
);
create index mails_due on mails (next_attempt_at) where status = 'pending';
create index mails_finished on mails (finished_at) where status <> 'pending';

-- Addresses that a mail server refused for good. Nothing is sent to them.
create table mail_bounces (
  address text primary key,
  reason text not null,
  bounced_at timestamptz not null
);

-- The language of the page on which the payer got the order; empty when it is not known.
alter table orders add column payer_language text not null default '';
