import { setTimeout as delay } from 'node:timers/promises';
import { type DeliverySettings, defaultDeliverySettings, runDeliveries } from '@florin/outbox';
import type { Database, Row } from '@florin/pg';
import type { EventType } from '@florin/protocol/event.ts';
import { type Clock, systemClock } from '#outside/clock.ts';
import { createEgress, type Egress } from '#outside/egress.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { emit } from '#webhooks/outbox.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { makeCertificate } from './certificate.ts';
import { testDatabase } from './database.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts';
import { selectDeliveries, testSecrets } from './webhook-fixture.ts';

/** Ten attempts within a fraction of a second. */
export const fastSettings: DeliverySettings = {
  ...defaultDeliverySettings,
  pollMs: 20,
  retry: { ...defaultDeliverySettings.retry, delaysMs: [0, ...Array<number>(9).fill(10)], jitter: 0 },
};

export interface WorkerOptions {
  readonly db?: Database;
  readonly settings?: DeliverySettings;
  readonly clock?: Clock;
  readonly egress?: Egress;
}

/** A database, receivers on loopback and any number of delivery workers. */
export interface WebhookWorld {
  readonly url: string;
  readonly db: Database;
  /** The network access to the receivers. */
  readonly egress: Egress;
  openReceiver(): Promise<Receiver>;
  /** Runs a worker during `work`, with the settings `fastSettings` by default. */
  withWorker<T>(work: () => Promise<T>, options?: WorkerOptions): Promise<T>;
  /** Emits events of one object in one transaction; `place` reads them from a request. */
  raise(merchantId: string, objectId: string, types?: readonly EventType[], at?: Date): Promise<void>;
  deliveries(merchantId: string): Promise<Row<typeof selectDeliveries>[]>;
  /** Waits until all deliveries of the merchant have this status. */
  untilStatus(merchantId: string, status: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a world; close it in an `after` hook. */
export async function openWebhookWorld(): Promise<WebhookWorld> {
  const database = await testDatabase();
  const certificate = makeCertificate({ now: new Date() });
  const egress = createEgress({ addresses: { allowLoopback: true }, ca: certificate.ca });
  const receivers: Receiver[] = [];
  const deliveries = (merchantId: string) => database.db.query(selectDeliveries, { merchantId });
  return {
    url: database.url,
    db: database.db,
    egress,
    async openReceiver() {
      const receiver = await startReceiver({ certificate });
      receivers.push(receiver);
      return receiver;
    },
    withWorker: (work, options = {}) => withWorker({ db: database.db, egress, ...options }, work),
    async raise(merchantId, objectId, types = ['session.paid'], at = systemClock.now()) {
      const dataJson = JSON.stringify({ objectId, note: 'é' });
      const events = types.map((type) => ({ ownerId: merchantId, type, objectId, dataJson, at }));
      await database.db.transaction((transaction) => emit(transaction, { random: systemRandom }, events));
    },
    deliveries,
    untilStatus(merchantId, status) {
      const isDone = async () => (await deliveries(merchantId)).every((row) => row.status === status);
      return until(isDone, `all deliveries are ${status}`);
    },
    async close() {
      await egress.close();
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await database.close();
    },
  };
}

async function withWorker<T>(
  options: WorkerOptions & { readonly db: Database; readonly egress: Egress },
  work: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const worker = outboxWorker({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    secrets: testSecrets,
    settings: fastSettings,
    ...options,
  });
  const running = runDeliveries(worker, stop.signal);
  try {
    return await work();
  } finally {
    stop.abort();
    await running;
  }
}

/** How long a test waits for a condition: long enough for slow machines. */
const patienceMs = 120_000;

/** Checks every 10 ms until the condition holds. */
export async function until(isDone: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await delay(10);
  }
}

/** The object and the sequence number that a request of `raise` carries. */
export function place(request: ReceivedRequest): { objectId: string; sequence: number } {
  const body: { data: { objectId: string }; sequence: number } = JSON.parse(request.body);
  return { objectId: body.data.objectId, sequence: body.sequence };
}
