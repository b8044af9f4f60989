import type { WebhookRef } from './webhook.ts';

/** Limits of attempts in flight. */
export interface ConcurrencySettings {
  /** For one webhook: the first limit, and its bounds while the receiver's responses move it. */
  readonly perWebhook: { readonly start: number; readonly least: number; readonly most: number };
  /** For all webhooks of one owner. */
  readonly perOwner: number;
}

/** The result of an attempt, as far as it changes the limit. */
export interface AttemptOutcome {
  readonly isSuccess: boolean;
  readonly latencyMs: number;
  /** The worker has few attempts left, so a slow receiver must leave some to others. */
  readonly isCrowded: boolean;
}

/** How many more attempts may begin. Absent webhooks and owners have no attempts in flight, and the limits of the settings. */
export interface AvailableAttempts {
  readonly webhooks: ReadonlyMap<string, { readonly inFlight: number; readonly free: number }>;
  /** For all webhooks of an owner together. */
  readonly owners: ReadonlyMap<string, number>;
}

/** The limits that one worker applies to each webhook. */
export interface ReceiverConcurrency {
  begin(ref: WebhookRef): void;
  end(ref: WebhookRef, answer: AttemptOutcome): void;
  available(): AvailableAttempts;
}

interface ReceiverState {
  readonly ownerId: string;
  inFlight: number;
  /** A fraction: it grows by less than one at a time. */
  limit: number;
  /** The fastest recent response. */
  fastestMs: number;
}

/** Slower responses do not raise the limit. */
const fastMs = 1000;
/** Webhooks whose limits are cached. Beyond it, idle ones start again. */
const maxCached = 1024;
/** The fastest response ages by this factor, so that one exception does not stop growth for long. */
const aging = 1.02;
/** Responses that take this many times the fastest one show a queue, in the receiver or in this process. */
const queueFactor = 2;

/**
 * Limits attempts to each receiver as TCP limits packets. The limit halves with every failure: a failing receiver occupies few
 * attempts of the worker, and a recovering one is not overloaded. It grows by one per round of successes, while it is reached
 * and responses stay fast. More connections would only wait in a queue.
 */
export function receiverConcurrency(settings: ConcurrencySettings): ReceiverConcurrency {
  const { perWebhook } = settings;
  const receivers = new Map<string, ReceiverState>();
  const stateOf = ({ webhookId, ownerId }: WebhookRef): ReceiverState => {
    const known = receivers.get(webhookId);
    if (known !== undefined) return known;
    const state = { ownerId, inFlight: 0, limit: perWebhook.start, fastestMs: fastMs };
    receivers.set(webhookId, state);
    return state;
  };
  return {
    begin(ref) {
      stateOf(ref).inFlight += 1;
    },
    end(ref, { isSuccess, latencyMs, isCrowded }) {
      const state = stateOf(ref);
      const isUsedUp = state.inFlight >= Math.floor(state.limit);
      state.inFlight -= 1;
      if (!isSuccess) state.limit = Math.max(perWebhook.least, state.limit / 2);
      else if (latencyMs >= fastMs) {
        if (isCrowded) state.limit = Math.max(perWebhook.least, state.limit - 1);
      } else {
        state.fastestMs = Math.max(1, Math.min(latencyMs, state.fastestMs * aging));
        if (isUsedUp && latencyMs <= queueFactor * state.fastestMs)
          state.limit = Math.min(perWebhook.most, state.limit + 1 / state.limit);
      }
    },
    available() {
      dropIdle(receivers);
      const owners = new Map<string, number>();
      for (const { ownerId, inFlight } of receivers.values()) {
        if (inFlight > 0) owners.set(ownerId, (owners.get(ownerId) ?? settings.perOwner) - inFlight);
      }
      const webhooks = new Map<string, { inFlight: number; free: number }>();
      for (const [webhookId, { limit, inFlight }] of receivers)
        webhooks.set(webhookId, { inFlight, free: Math.max(0, Math.floor(limit) - inFlight) });
      return { webhooks, owners };
    },
  };
}

function dropIdle(receivers: Map<string, ReceiverState>): void {
  if (receivers.size <= maxCached) return;
  for (const [webhookId, state] of receivers) if (state.inFlight === 0) receivers.delete(webhookId);
}
