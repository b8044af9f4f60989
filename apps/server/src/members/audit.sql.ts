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
  columns: {},
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

export const auditPage = statement({
  name: 'audit_page',
  parameters: { merchantId: 'text', after: 'text?', limit: 'int8' },
  columns: pageColumns,
  text: `select ${pageColumnList}
   from audit_entries where merchant_id = :merchantId and entry_id < case when :after::text is null then ${above}
     else (select entry_id from audit_entries where merchant_id = :merchantId and audit_id = :after) end
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

/** The installation's log; of one person where an actor is given. */
export const installationAuditPage = statement({
  name: 'audit_page_of_installation',
  parameters: { actorId: 'text', after: 'text?', limit: 'int8' },
  columns: pageColumns,
  text: `select ${pageColumnList}
   from audit_entries where merchant_id is null and (:actorId = '' or actor_id = :actorId or subject = :actorId)
     and entry_id < case when :after::text is null then ${above}
     else (select entry_id from audit_entries where merchant_id is null and audit_id = :after) end
   order by entry_id desc limit :limit`,
});
