import type { Transaction } from '@florin/pg';
import type { EventType } from '@florin/protocol/event.ts';
import { eventFixture } from '@florin/protocol/event-fixture.ts';
import { newId } from '@florin/protocol/id.ts';
import { eventBody } from './event-body.ts';
import { insertTestEvent } from './test-event.sql.ts';
import { lockWebhook, type WebhookDeps, type WebhookRef } from './webhook.ts';

/** The mark of an example event, at the end of its body. */
const fixtureMark = ',"fixture":true}';

/**
 * Raises webhook.test, or an example event of another type, for one webhook alone, whatever it subscribes to. While it is
 * not active the delivery is skipped, as all others are. Unknown: 100501.
 */
export async function sendTestEvent(
  transaction: Transaction,
  deps: Pick<WebhookDeps, 'clock' | 'random'>,
  ref: WebhookRef,
  fixture: { readonly type: EventType; readonly origin: string } = { type: 'webhook.test', origin: '' },
): Promise<{ eventId: string; deliveryId: string }> {
  const { type, origin } = fixture;
  const webhook = await lockWebhook(transaction, ref);
  const randomBytes = (size: number) => deps.random.bytes(size);
  const eventId = newId('event', randomBytes);
  const deliveryId = newId('delivery', randomBytes);
  const at = deps.clock.now();
  const isFixture = type !== 'webhook.test';
  const data = isFixture
    ? eventFixture(type, origin)
    : { message: `A test of the webhook ${webhook.webhook_name}` };
  const { head, tail } = eventBody({ eventId, type, at, dataJson: JSON.stringify(data) });
  const end = isFixture ? `${tail.slice(0, -1)}${fixtureMark}` : tail;
  await transaction.query(insertTestEvent, [
    eventId,
    ref.merchantId,
    `${head}1${end}`,
    deliveryId,
    ref.webhookId,
    webhook.status === 'active' ? 'pending' : 'skipped',
    at,
    type,
  ]);
  return { eventId, deliveryId };
}
