import { statement } from '@florin/pg';

// The e-mail waits before it is sent, and what is over by then is told to no one.
export const failingWebhookUrl = statement({
  name: 'chosen_mail_failing_webhook_url',
  parameters: { webhookId: 'text', since: 'timestamptz' },
  columns: { webhook_url: 'text' },
  text: `select webhook_url from webhooks
   where webhook_id = :webhookId and status = 'active' and first_failure_at = :since`,
});
