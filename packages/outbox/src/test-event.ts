import type { Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { eventBody } from './event-body.ts';
import { deliveryStemOf, newId } from './id.ts';
import { insertTestEvent } from './test-event.sql.ts';
import { lockWebhook, type WebhookRef } from './webhook.ts';

/** The content of a test event. */
export interface TestEvent {
  readonly type: string;
  readonly dataJson: string;
  /** The event is an example: its body says `fixture`. */
  readonly isFixture: boolean;
}

/**
 * Writes an event for one webhook alone, regardless of its subscriptions. If the webhook is not active, the delivery is
 * skipped. Refuses an unknown webhook (webhook_not_found).
 */
export async function sendTestEvent(
  transaction: Transaction,
  context: OutboxContext,
  options: WebhookRef & { readonly event: TestEvent },
): Promise<{ eventId: string; deliveryId: string }> {
  const { type, dataJson, isFixture } = options.event;
  const webhook = await lockWebhook(transaction, context, options);
  const eventId = newId('event', context.random);
  const deliveryId = `${deliveryStemOf(eventId)}1`;
  const at = context.clock.now();
  const { head, tail } = eventBody({ eventId, type, at, dataJson });
  const end = isFixture ? `${tail.slice(0, -1)},"fixture":true}` : tail;
  await transaction.query(insertTestEvent, {
    eventId,
    merchantId: options.ownerId,
    body: `${head}1${end}`,
    deliveryId,
    webhookId: options.webhookId,
    status: webhook.status === 'active' ? 'pending' : 'skipped',
    createdAt: at,
    eventType: type,
  });
  return { eventId, deliveryId };
}
