import { statement } from '@florin/pg';

// The e-mails of these kinds wait before they are sent, and what is over by then is told to no one.

export const isSettlementDelayed = statement({
  name: 'chosen_mail_is_settlement_delayed',
  parameters: { sessionId: 'text' },
  columns: { is_delayed: 'bool' },
  text: `select exists (select from sessions where session_id = :sessionId and status = 'settlement_pending') as is_delayed`,
});

export const isRefundWaiting = statement({
  name: 'chosen_mail_is_refund_waiting',
  parameters: { refundId: 'text' },
  columns: { is_waiting: 'bool' },
  text: `select exists (select from refunds where refund_id = :refundId and status = 'requires_signature') as is_waiting`,
});

export const failingWebhookUrl = statement({
  name: 'chosen_mail_failing_webhook_url',
  parameters: { webhookId: 'text', since: 'timestamptz' },
  columns: { webhook_url: 'text' },
  text: `select webhook_url from webhooks
   where webhook_id = :webhookId and status = 'active' and first_failure_at = :since`,
});
