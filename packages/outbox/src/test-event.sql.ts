import { statement } from '@florin/pg';

// The event goes to this webhook alone. Each test is an object of its own, so its sequence is 1.
export const insertTestEvent = statement({
  name: 'webhooks_insert_test_event',
  parameters: {
    eventId: 'text',
    merchantId: 'text',
    body: 'text',
    deliveryId: 'text',
    webhookId: 'text',
    status: 'text',
    createdAt: 'timestamptz',
    eventType: 'text',
  },
  columns: { status: 'text', woken: 'text?' },
  text: `with event as (
     insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
     values (:eventId, :merchantId, :eventType, :eventId, 1, :body, :createdAt)
   ), delivery as (
     insert into deliveries
       (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, next_attempt_at, created_at)
     values (:deliveryId, :eventId, :webhookId, :merchantId, :eventId, 1, :status, case when :status = 'pending' then :createdAt end, :createdAt)
     returning status
   )
   select status, (select pg_notify('florin_deliveries', '')::text where status = 'pending') as woken from delivery`,
});
