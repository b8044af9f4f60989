/** The package's only entry. */
export { outboxLocks } from './advisory-lock.ts';
export type {
  Answer,
  Clock,
  Log,
  OutboxContext,
  Post,
  Random,
  RefusalCode,
  SecretBox,
} from './context.ts';
export {
  type DeliveryStatus,
  type DeliveryTrigger,
  deliveryMoves,
  deliveryStatuses,
} from './delivery.machine.ts';
export { runDeliveries } from './delivery.ts';
export {
  emit,
  firstEventColumns,
  firstEventValues,
  firstEventWrites,
  type OutboxEvent,
  outboxWake,
} from './event.ts';
export { maxBodyBytes } from './event-body.ts';
export { eventLifeDays, findEvent, oldestReadable } from './event-log.ts';
export { removeEventsBatch, runHousekeeping } from './housekeeping.ts';
export { resealWebhookKeys } from './reseal.ts';
export { maxResent, type ResendRequest, type Resent, resendDeliveries, resendDelivery } from './resend.ts';
export { defaultRetrySettings, nextAttemptAt } from './retry.ts';
export { plainHeaders, signWebhook } from './signature.ts';
export { sendTestEvent, type TestEvent } from './test-event.ts';
export { type WebhookTrigger, webhookMoves, webhookStatuses } from './webhook.machine.ts';
export {
  createWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  type KeylessWebhook,
  listWebhooks,
  lockedWebhook,
  maxWebhooks,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
  type Webhook,
  type WebhookFields,
  type WebhookRef,
} from './webhook.ts';
export {
  type DeliverySettings,
  defaultDeliverySettings,
  type FollowedAttempt,
  type OutboxWorker,
} from './worker.ts';
