import { type OutboxEvent as AnyEvent, emit as emitAny } from '@florin/outbox';
import type { EventType } from '@florin/protocol/event.ts';

/** An event of one of the product's types. */
export type ProductEvent = AnyEvent & { readonly type: EventType };

/** Writes events in the transaction of their change. */
export const emit: (
  transaction: Parameters<typeof emitAny>[0],
  random: Parameters<typeof emitAny>[1],
  events: readonly ProductEvent[],
) => Promise<void> = emitAny;
