import { type OutboxEvent as AnyEvent, emit as emitAny, type Random } from '@florin/outbox';
import type { Transaction } from '@florin/pg';
import type { EventType } from '@florin/protocol/event.ts';

/** An event of one of the product's types. */
export type ProductEvent = AnyEvent & { readonly type: EventType };

/** Who caused a fact, and from where. */
export interface Doer {
  readonly name: string;
  /** Empty for the operator's command line, as is the next. */
  readonly clientAddress: string;
  readonly userAgent: string;
}

/** A fact that e-mails may tell: an event, money that went back to its payer, of which no session's event tells, or a failing webhook. */
export type Fact = Pick<ProductEvent, 'ownerId' | 'objectId' | 'dataJson' | 'at'> & {
  readonly type:
    | EventType
    | 'session.refunded'
    | 'session.refund_lost'
    | 'session.returned'
    | 'webhook.failing';
} & Cause;

/** What e-mails say of how a fact came about. */
export interface Cause {
  /** Absent where no person does it. */
  readonly doneBy?: Doer;
  /** The change of a wallet that takes effect with it. */
  readonly changeId?: string;
  /** The address that the wallet had before the fact. */
  readonly previousAddress?: string;
}

/** Stores the e-mails of facts in the transaction of the facts. */
export type Notify = (transaction: Transaction, facts: readonly Fact[]) => Promise<void>;

/** What writing events needs. */
export interface EventContext {
  readonly random: Pick<Random, 'bytes'>;
  /** Absent where no e-mail is configured. */
  readonly notify?: Notify | undefined;
}

/** The context whose facts have this cause. */
export function causedBy<Context extends Pick<EventContext, 'notify'>>(deps: Context, cause: Cause): Context {
  const { notify } = deps;
  if (notify === undefined) return deps;
  return {
    ...deps,
    notify: (transaction, facts) =>
      notify(
        transaction,
        facts.map((fact) => ({ ...fact, ...cause })),
      ),
  };
}

/** Writes events, and the e-mails that tell them, in the transaction of their change. */
export async function emit(
  transaction: Transaction,
  { random, notify }: EventContext,
  events: readonly ProductEvent[],
): Promise<void> {
  await emitAny(transaction, random, events);
  await notify?.(transaction, events);
}
