import { type Egress, EgressFailure, type EgressResponse } from '@florin/server/parts';
import type { Faults } from './faults.ts';
import type { ModelProcess } from './process-model.ts';

/** One event as the webhook receiver got it. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly objectId: string;
  readonly sequence: number;
  readonly atMs: number;
}

/** The merchant's receiver: accepts events, and fails in the ways that real receivers do. */
export class ReceiverModel {
  /** Every received event, including repetitions. */
  readonly received: ReceivedEvent[] = [];
  readonly bodies = new Map<string, string>();
  /** Called with each received event. */
  onEvent: (event: ReceivedEvent) => void = () => {};
  readonly #faults: Faults;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** The network path from a process to the receiver. */
  egressOf(process: ModelProcess): Egress {
    const { random } = this.#faults;
    return {
      post: (_url, { body }) =>
        new Promise<EgressResponse>((resolve, reject) => {
          process.io(random.between(5, 200), 'webhook sent', () => {
            const isFailing = this.#faults.occurs('receiver');
            const isLostBefore = isFailing && random.chance(0.4);
            if (!isLostBefore) this.#record(body, process.scheduler.nowMs);
            const status = isFailing ? random.pick([500, 302, 429]) : 200;
            const isSilent = isLostBefore || (isFailing && random.chance(0.5));
            process.io(isSilent ? 15_000 : random.between(5, 200), 'webhook answered', () => {
              if (isSilent) reject(new EgressFailure('timed out'));
              else resolve({ status, headers: { retryAfter: undefined }, bodyText: '', latencyMs: 10 });
            });
          });
        }),
      close: async () => {},
    };
  }

  #record(body: string, atMs: number): void {
    const { id, type, sequence, data } = JSON.parse(body) as {
      id: string;
      type: string;
      sequence: number;
      data: { session?: { sessionId: string }; refund?: { refundId: string } };
    };
    const objectId = type.startsWith('refund.') ? data.refund?.refundId : data.session?.sessionId;
    const event = { eventId: id, type, objectId: objectId ?? '', sequence, atMs };
    this.received.push(event);
    this.bodies.set(id, body);
    this.onEvent(event);
  }
}
