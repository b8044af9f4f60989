import type { Database, Transaction } from '@florin/pg';
import type { ConcurrencySettings } from './concurrency.ts';
import type { Log, OutboxContext, Post } from './context.ts';
import { defaultRetrySettings, type RetrySettings } from './retry.ts';
import type { FailingWebhook, KeylessWebhook } from './webhook.ts';

/** Limits of one worker. */
export interface DeliverySettings extends ConcurrencySettings {
  /** Attempts in flight in total. */
  readonly concurrency: number;
  /** After this time another worker may take the delivery. It is much longer than the time-out of an attempt. */
  readonly leaseMs: number;
  readonly attemptTimeoutMs: number;
  /** The interval between polls, for notifications that are lost. */
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

/** An attempt, as one who follows it sees it. */
export interface FollowedAttempt {
  readonly headers: Readonly<Record<string, string>>;
  readonly end: (isAccepted: boolean) => void;
}

/** What delivering and housekeeping need besides. */
export interface OutboxWorker extends OutboxContext {
  readonly db: Database;
  readonly log: Log;
  readonly post: Post;
  readonly settings: DeliverySettings;
  /** Called after each attempt, for measurements. */
  readonly onAttempt?: ((attempt: { readonly isAccepted: boolean; readonly ms: number }) => void) | undefined;
  /**
   * Called before each attempt with the id of the event's object. Its headers are sent too, and are not signed; `end` gets the
   * outcome. For traces.
   */
  readonly follow?: ((objectId: string) => FollowedAttempt) | undefined;
  /** The body of an event for a webhook whose maker may not read all of it. */
  readonly redact: (body: string) => string;
  /** Tells the owner of a paused webhook, in the transaction that paused it; by an event for their other webhooks, say. */
  readonly tellPaused: (transaction: Transaction, webhook: KeylessWebhook) => Promise<void>;
  /** Tells the owner once that a webhook fails, long before it is paused. A success ends the failures. */
  readonly tellFailing: (transaction: Transaction, failing: FailingWebhook) => Promise<void>;
}
