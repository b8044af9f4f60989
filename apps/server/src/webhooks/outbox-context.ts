import {
  type KeylessWebhook,
  maxWebhooks,
  type OutboxContext,
  type OutboxWorker,
  type Post,
} from '@florin/outbox';
import { Refusal } from '@florin/protocol/error.ts';
import type { AddressPolicy } from '#outside/address.ts';
import { type Egress, EgressFailure } from '#outside/egress.ts';
import { type EventContext, emit, type ProductEvent } from './outbox.ts';
import { urlWithoutValues, webhookView } from './webhook.ts';

/** What doors for webhooks need. */
export interface WebhookContext extends Omit<OutboxContext, 'refusal'> {
  readonly addresses: AddressPolicy;
}

/** The outbox with the errors of the catalogue, which has an entry of the same name for each refusal. */
export function outboxContext({ clock, random, secrets }: Omit<OutboxContext, 'refusal'>): OutboxContext {
  const refusal: OutboxContext['refusal'] = (code, detail, param) => {
    if (code === 'webhook_limit') return new Refusal(code, `a merchant has at most ${maxWebhooks}`);
    return new Refusal(code, param === undefined ? detail : { param, detail });
  };
  return { clock, random, secrets, refusal };
}

/** The outbox as the worker runs it. */
export function outboxWorker(
  deps: Omit<OutboxWorker, 'refusal' | 'post' | 'redact' | 'tellPaused' | 'tellFailing'> &
    EventContext & { readonly egress: Pick<Egress, 'post'> },
): OutboxWorker {
  const { db, log, settings, egress, onAttempt, follow } = deps;
  return {
    ...{ ...outboxContext(deps), db, log, settings, onAttempt, follow, post: postThrough(egress) },
    redact: withoutPayerEmail,
    tellPaused: (transaction, webhook) => emit(transaction, deps, [pausedEvent(webhook)]),
    // No event: other receivers need not know what may be over in a minute.
    tellFailing: async (transaction, { ownerId, webhookId: objectId, since: at }) =>
      deps.notify?.(transaction, [
        { type: 'webhook.failing', ownerId, objectId, dataJson: JSON.stringify({ webhookId: objectId }), at },
      ]),
  };
}

/**
 * The body of an event without the payer's e-mail address; every other byte stays. In a session's JSON the address stands
 * before everything that a merchant names, and quotes inside texts are escaped, so the first member of the name is it.
 */
export function withoutPayerEmail(body: string): string {
  return body.replace(/"payerEmail":"(?:[^"\\]|\\.)*"/, '"payerEmail":""');
}

function pausedEvent(webhook: KeylessWebhook): ProductEvent {
  const { ownerId, webhookId: objectId, updatedAt: at } = webhook;
  // Other receivers get the event, and readers of events who may not change webhooks.
  const webhookUrl = urlWithoutValues(webhook.webhookUrl);
  const dataJson = JSON.stringify({ webhook: { ...webhookView(webhook), webhookUrl } });
  return { type: 'webhook.paused', ownerId, objectId, dataJson, at };
}

function postThrough(egress: Pick<Egress, 'post'>): Post {
  return async (url, request) => {
    try {
      const { status, bodyText, headers } = await egress.post(url, request);
      return { status, bodyText, retryAfter: headers.retryAfter };
    } catch (error) {
      if (error instanceof EgressFailure) return { failure: error.reason };
      throw error;
    }
  };
}
