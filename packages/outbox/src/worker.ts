import type { Database } from '@florin/pg';
import type { Log, OutboxContext, Post } from './context.ts';
import type { OutboxEvent } from './event.ts';
import type { LaneSettings } from './lane.ts';
import { defaultRetrySettings, type RetrySettings } from './retry.ts';
import type { KeylessWebhook } from './webhook.ts';

/** Limits of one worker. */
export interface DeliverySettings extends LaneSettings {
  /** Attempts in flight in all. */
  readonly concurrency: number;
  /** A claim is another worker's after this time; well beyond the time-out of an attempt. */
  readonly leaseMs: number;
  readonly attemptTimeoutMs: number;
  /** How long due work waits at most when no notification comes. */
  readonly pollMs: number;
  /** How long a stopping worker waits for attempts in flight. */
  readonly drainMs: number;
  readonly retry: RetrySettings;
}

export const defaultDeliverySettings: DeliverySettings = {
  concurrency: 1024,
  perWebhook: { start: 16, least: 2, most: 128 },
  perOwner: 256,
  leaseMs: 60_000,
  attemptTimeoutMs: 15_000,
  pollMs: 1000,
  drainMs: 5000,
  retry: defaultRetrySettings,
};

/** What delivering and cleaning up need besides. */
export interface OutboxWorker extends OutboxContext {
  readonly db: Database;
  readonly log: Log;
  readonly post: Post;
  readonly settings: DeliverySettings;
  /** The event that tells an owner's other webhooks that one has been paused. */
  readonly pausedEvent: (webhook: KeylessWebhook) => Pick<OutboxEvent, 'type' | 'dataJson'>;
}
