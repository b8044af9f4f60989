import { statement } from '@florin/pg';

export const insertAuditEntry = statement({
  name: 'audit_insert',
  parameters: {
    merchantId: 'text',
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
  text: `insert into audit_entries (merchant_id, at, actor_kind, actor_id, actor_name, action, subject, before, after,
     client_address, user_agent, request_id)
   values (:merchantId, :at, :actorKind, :actorId, :actorName, :action, :subject, :before, :after,
     :clientAddress, :userAgent, :requestId)`,
});

export const auditPage = statement({
  name: 'audit_page',
  parameters: { merchantId: 'text', below: 'int8', limit: 'int8' },
  columns: {
    entry_id: 'int8',
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
  },
  text: `select entry_id, at, actor_kind, actor_id, actor_name, action, subject, before, after,
     client_address, user_agent, request_id
   from audit_entries where merchant_id = :merchantId and entry_id < :below
   order by entry_id desc limit :limit`,
});
