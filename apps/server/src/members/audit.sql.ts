import { statement } from '@florin/pg';

export const insertAuditEntry = statement({
  name: 'audit_insert',
  parameters: {
    auditId: 'text',
    merchantId: 'text?',
    at: 'timestamptz',
    actorKind: 'text',
    actorId: 'text',
    actorName: 'text',
    action: 'text',
    subject: 'text',
    before: 'text?',
    after: 'text?',
    clientAddress: 'text',
    userAgent: 'text',
    requestId: 'text',
  },
  text: `insert into audit_entries (audit_id, merchant_id, at, actor_kind, actor_id, actor_name, action, subject, before, after,
     client_address, user_agent, request_id)
   values (:auditId, :merchantId, :at, :actorKind, :actorId, :actorName, :action, :subject, :before, :after,
     :clientAddress, :userAgent, :requestId)`,
});

// As many rows as the person has merchants, and one of the installation.
export const placesOfPerson = statement({
  name: 'audit_places_of_person',
  parameters: { userId: 'text' },
  columns: { merchant_id: 'text' },
  text: 'select merchant_id from memberships where user_id = :userId order by merchant_id',
});

/** Above every entry. */
const above = '9223372036854775807';

// The numbers of entries count over all merchants, so they stay inside: clients see random ids.
const pageColumns = {
  audit_id: 'text',
  at: 'timestamptz',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  action: 'text',
  subject: 'text',
  before: 'text?',
  after: 'text?',
  client_address: 'text',
  user_agent: 'text',
  request_id: 'text',
} as const;
const pageColumnList = Object.keys(pageColumns).join(', ');

/** What a page is narrowed to; an empty text or null takes everything. */
const filters = {
  actor: 'text',
  action: 'text',
  subject: 'text',
  from: 'timestamptz?',
  before: 'timestamptz?',
} as const;
// People make few entries, so a filter reads those of its merchant in their order and needs no index of its own.
const isWanted = `(:actor = '' or actor_id = :actor or lower(actor_name) = lower(:actor))
     and (:action = '' or action = :action) and (:subject = '' or subject = :subject)
     and (:from::timestamptz is null or at >= :from) and (:before::timestamptz is null or at < :before)`;

export const auditPage = statement({
  name: 'audit_page',
  parameters: { merchantId: 'text', after: 'text?', limit: 'int8', ...filters },
  columns: pageColumns,
  text: `select ${pageColumnList}
   from audit_entries where merchant_id = :merchantId and entry_id < case when :after::text is null then ${above}
     else (select entry_id from audit_entries where merchant_id = :merchantId and audit_id = :after) end
     and ${isWanted}
   order by entry_id desc limit :limit`,
});

// Changes of wallets wait a day or so: their entries are among the merchant's newest.
export const actorOnSubject = statement({
  name: 'audit_actor_on_subject',
  parameters: { merchantId: 'text', subject: 'text' },
  columns: { actor_name: 'text', client_address: 'text', user_agent: 'text' },
  text: `select actor_name, client_address, user_agent from audit_entries
   where merchant_id = :merchantId and subject = :subject order by entry_id desc limit 1`,
});

/** The installation's log; only what one person did or suffered where one is given. */
export const installationAuditPage = statement({
  name: 'audit_page_of_installation',
  parameters: { personId: 'text', after: 'text?', limit: 'int8', ...filters },
  columns: pageColumns,
  text: `select ${pageColumnList}
   from audit_entries where merchant_id is null and (:personId = '' or actor_id = :personId or subject = :personId)
     and entry_id < case when :after::text is null then ${above}
     else (select entry_id from audit_entries where merchant_id is null and audit_id = :after) end
     and ${isWanted}
   order by entry_id desc limit :limit`,
});
