import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase, type Row, statement, throwAwayDatabase } from '@florin/pg';
import pg from 'pg';
import type { Clock, OutboxContext, Post, RefusalCode } from './context.ts';
import { runDeliveries } from './delivery.ts';
import { emit } from './event.ts';
import { type ReceivedRequest, type Receiver, testNetwork } from './test-receiver.ts';
import { createWebhook, type Webhook, type WebhookFields } from './webhook.ts';
import { type DeliverySettings, defaultDeliverySettings, type OutboxWorker } from './worker.ts';

export const selectEvents = statement({
  name: 'outbox_test_events',
  parameters: { merchantId: 'text' },
  columns: { event_id: 'text', event_type: 'text', object_id: 'text', sequence: 'int8', body: 'text' },
  text: 'select event_id, event_type, object_id, sequence, body from events where merchant_id = :merchantId order by ordinal',
});

export const selectDeliveries = statement({
  name: 'outbox_test_deliveries',
  parameters: { merchantId: 'text' },
  columns: {
    delivery_id: 'text',
    webhook_id: 'text',
    object_id: 'text',
    sequence: 'int8',
    status: 'text',
    attempt_count: 'int4',
    next_attempt_at: 'timestamptz?',
  },
  text: `select delivery_id, webhook_id, object_id, sequence, status, attempt_count, next_attempt_at
   from deliveries where merchant_id = :merchantId order by ordinal`,
});

export const selectAttempts = statement({
  name: 'outbox_test_attempts',
  parameters: { merchantId: 'text' },
  columns: {
    delivery_id: 'text',
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    error: 'text',
    response_body: 'text',
  },
  text: `select delivery_id, attempt, attempted_at, http_status, error, response_body
   from delivery_attempts join deliveries using (delivery_id)
   where merchant_id = :merchantId order by attempted_at, attempt`,
});

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};

export const systemRandom = {
  bytes: (size: number): Uint8Array => randomBytes(size),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};

/** The error of a refused call in these tests. */
export class TestRefusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** The outbox with unencrypted keys. */
export function testOutbox(clock: Clock = systemClock): OutboxContext {
  const secrets = {
    seal: (_random: unknown, secret: Uint8Array) => secret,
    open: (sealed: Uint8Array) => sealed,
    isCurrent: () => true,
  };
  const refusal = (code: RefusalCode, detail: string) => new TestRefusal(code, detail);
  return { clock, random: systemRandom, secrets, refusal };
}

/** A new owner, so that tests can share a database. */
export function newOwner(): string {
  return `owner_${randomBytes(8).toString('hex')}`;
}

/** A webhook that takes every event by default. */
export function addWebhook(
  db: Database,
  ownerId: string,
  fields: Partial<WebhookFields> = {},
  outbox: OutboxContext = testOutbox(),
): Promise<Webhook> {
  const defaults = { webhookName: 'Shop', webhookUrl: 'https://shop.example/hook', subscribedEvents: ['*'] };
  return db.transaction((transaction) =>
    createWebhook(transaction, outbox, { ownerId, fields: { ...defaults, ...fields } }),
  );
}

/** Ten attempts within a fraction of a second. */
export const fastSettings: DeliverySettings = {
  ...defaultDeliverySettings,
  pollMs: 20,
  retry: { ...defaultDeliverySettings.retry, delaysMs: [0, ...Array<number>(9).fill(10)], jitter: 0 },
};

/** For receivers that hang: their attempts last as long as the test. */
export const endless: DeliverySettings = { ...fastSettings, leaseMs: 3_600_000, drainMs: 0 };

export interface WorkerOptions {
  readonly db?: Database;
  readonly settings?: DeliverySettings;
  readonly clock?: Clock;
  readonly post?: Post;
}

/** A database with the outbox's tables, and any number of receivers and delivery workers. */
export interface OutboxWorld {
  readonly url: string;
  readonly db: Database;
  openReceiver(): Receiver;
  worker(options?: WorkerOptions): OutboxWorker;
  /** Runs a worker during `work`; fastSettings by default. */
  withWorker<T>(work: () => Promise<T>, options?: WorkerOptions): Promise<T>;
  /** Emits events of one object in a transaction of their own; `place` reads them back from a request. */
  raise(ownerId: string, objectId: string, types?: readonly string[], at?: Date): Promise<void>;
  deliveries(ownerId: string): Promise<Row<typeof selectDeliveries>[]>;
  /** Waits until all deliveries of the owner have this status. */
  untilStatus(ownerId: string, status: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a world; close it in an `after` hook. */
export async function openOutboxWorld(): Promise<OutboxWorld> {
  const serverUrl = process.env['FLORIN_TEST_POSTGRES'];
  if (serverUrl === undefined) throw new Error('start this test with npm test, which starts PostgreSQL');
  const database = await throwAwayDatabase(serverUrl);
  await runSchema(database.url);
  const db = openDatabase({ url: database.url });
  const { post, openReceiver } = testNetwork();
  const receivers: Receiver[] = [];
  const deliveries = (ownerId: string) => db.query(selectDeliveries, { merchantId: ownerId });
  const worker = ({ clock, ...options }: WorkerOptions = {}): OutboxWorker => ({
    ...testOutbox(clock),
    db,
    post,
    settings: fastSettings,
    redact: () => '{"redacted":true}',
    log: { error: (event, error) => process.stderr.write(`${event}: ${error}\n`) },
    tellPaused: (transaction, webhook) => {
      const { ownerId, webhookId: objectId, updatedAt: at } = webhook;
      const dataJson = JSON.stringify({ webhook });
      return emit(transaction, systemRandom, [{ type: 'webhook.paused', ownerId, objectId, dataJson, at }]);
    },
    tellFailing: async () => undefined,
    ...options,
  });
  return {
    url: database.url,
    db,
    worker,
    openReceiver() {
      const receiver = openReceiver();
      receivers.push(receiver);
      return receiver;
    },
    async withWorker(work, options) {
      const stop = new AbortController();
      const running = runDeliveries(worker(options), stop.signal);
      try {
        return await work();
      } finally {
        stop.abort();
        await running;
      }
    },
    async raise(ownerId, objectId, types = ['order.paid'], at = systemClock.now()) {
      const dataJson = JSON.stringify({ objectId, note: 'é' });
      const events = types.map((type) => ({ ownerId, type, objectId, dataJson, at }));
      await db.transaction((transaction) => emit(transaction, systemRandom, events));
    },
    deliveries,
    untilStatus(ownerId, status) {
      const isDone = async () => (await deliveries(ownerId)).every((row) => row.status === status);
      return until(isDone, `all deliveries are ${status}`);
    },
    async close() {
      for (const receiver of receivers) receiver.close();
      await db.close();
      await database.close();
    },
  };
}

async function runSchema(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'));
  } finally {
    await client.end();
  }
}

/** How long a test waits for a condition: generous, for slow machines. */
const waitLimitMs = 120_000;

/** Checks every 10 ms until the condition holds. */
export async function until(isDone: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const end = performance.now() + waitLimitMs;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(`not true in time: ${what}`);
    await delay(10);
  }
}

/** Which event of which object a request of `raise` carries. */
export function place(request: ReceivedRequest): { objectId: string; sequence: number } {
  const body: { data: { objectId: string }; sequence: number } = JSON.parse(request.body);
  return { objectId: body.data.objectId, sequence: body.sequence };
}
