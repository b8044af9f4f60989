import { newId } from '@florin/protocol/id.ts';
import type { Transaction } from '#db/database.ts';
import { eventBody } from './event-body.ts';
import { insertTestEvent } from './test-event.sql.ts';
import { lockWebhook, type WebhookDeps, type WebhookRef } from './webhook.ts';

/**
 * Raises webhook.test for one webhook alone, whatever it subscribes to. While it is not active the delivery is skipped,
 * as all others are. Unknown: 100501.
 */
export async function sendTestEvent(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock' | 'random'>,
  ref: WebhookRef,
): Promise<{ eventId: string; deliveryId: string }> {
  const webhook = await lockWebhook(transaction, ref);
  const randomBytes = (size: number) => deps.random.bytes(size);
  const eventId = newId('event', randomBytes);
  const deliveryId = newId('delivery', randomBytes);
  const at = deps.clock.now();
  const dataJson = JSON.stringify({ message: `A test of the webhook ${webhook.webhook_name}` });
  const { head, tail } = eventBody({ eventId, type: 'webhook.test', at, dataJson });
  await transaction.query(insertTestEvent, [
    eventId,
    ref.merchantId,
    `${head}1${tail}`,
    deliveryId,
    ref.webhookId,
    webhook.status === 'active' ? 'pending' : 'skipped',
    at,
  ]);
  return { eventId, deliveryId };
}
