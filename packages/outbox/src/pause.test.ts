import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everyPart } from './delivery-part.ts';
import { type AttemptResult, takeTurn } from './delivery-turn.ts';
import { emit } from './event.ts';
import { defaultRetrySettings } from './retry.ts';
import {
  addWebhook,
  newOwner,
  type OutboxWorld,
  openOutboxWorld,
  systemRandom,
  testOutbox,
} from './test-world.ts';
import { findWebhook } from './webhook.ts';
import { defaultDeliverySettings, type OutboxWorker } from './worker.ts';

let database: OutboxWorld;
before(async () => {
  database = await openOutboxWorld();
});
after(() => database.close());

const hourMs = 3_600_000;
const retry = { ...defaultRetrySettings, pauseAfterFailures: 3, pauseAfterMs: 4 * hourMs };

type Attempt = readonly [hours: number, status: 'succeeded' | 'failed'];

/** The status of a webhook after each of these attempts. Each attempt belongs to another event. */
async function statusesAfter(
  attempts: readonly Attempt[],
  tellFailing: OutboxWorker['tellFailing'] = async () => undefined,
): Promise<string[]> {
  const { db } = database;
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  const startMs = Date.UTC(2030, 0, 1);
  const statuses: string[] = [];
  for (const [index, [hours, status]] of attempts.entries()) {
    const at = new Date(startMs + hours * hourMs);
    const clock = { now: () => at, monotonicMs: () => 0, sleep: async () => {} };
    const settings = { ...defaultDeliverySettings, retry };
    const worker = { ...database.worker({ clock, settings }), tellFailing };
    const available = { webhooks: new Map(), owners: new Map() };
    const limits = { leaseMs: 60_000, total: 64, perWebhook: 16, perOwner: 64, available, ...everyPart };
    const event = { ownerId, type: 'order.paid', objectId: `${ownerId}-${index}`, at } as const;
    await db.transaction((transaction) => emit(transaction, systemRandom, [{ ...event, dataJson: '{}' }]));
    const [lease] = (await takeTurn(worker, [], limits)).leases;
    assert.ok(lease !== undefined);
    const result: AttemptResult = {
      lease,
      attemptedAt: at,
      endedAt: at,
      httpStatus: status === 'failed' ? 500 : 200,
      latencyMs: 1,
      error: status === 'failed' ? 'status 500' : '',
      responseBody: '',
      status,
      nextAttemptAt: undefined,
    };
    await takeTurn(worker, [result], { ...limits, total: 0 });
    const ref = { ownerId, webhookId };
    statuses.push((await findWebhook(db, testOutbox(), ref)).status);
  }
  return statuses;
}

// proves S3.10
test('a webhook is paused after enough consecutive failures over enough time, and not one failure or hour earlier', async () => {
  assert.deepEqual(
    await statusesAfter([
      [0, 'failed'],
      [4, 'failed'],
      [5, 'failed'],
    ]),
    ['active', 'active', 'paused'],
  );
  assert.deepEqual(
    await statusesAfter([
      [0, 'failed'],
      [1, 'failed'],
      [3, 'failed'],
      [4, 'failed'],
    ]),
    ['active', 'active', 'active', 'paused'],
  );
});

// proves S3.10
test('a success between failures resets their count and their time', async () => {
  assert.deepEqual(
    await statusesAfter([
      [0, 'failed'],
      [4, 'failed'],
      [5, 'succeeded'],
      [6, 'failed'],
      [7, 'failed'],
      [9, 'failed'],
      [10, 'failed'],
    ]),
    ['active', 'active', 'active', 'active', 'active', 'active', 'paused'],
  );
  assert.deepEqual(
    await statusesAfter([
      [0, 'failed'],
      [4, 'succeeded'],
      [5, 'failed'],
      [9, 'failed'],
      [10, 'failed'],
    ]),
    ['active', 'active', 'active', 'active', 'paused'],
  );
});

test('a webhook that fails three times in a row is told once, and again after a success', async () => {
  const told: string[] = [];
  const fails = async (_: unknown, { since }: { readonly since: Date }) =>
    void told.push(since.toISOString());
  const attempts = [0, 1, 2, 3, 4, 5, 6].map(
    (hours) => [hours, hours === 2 ? 'succeeded' : 'failed'] as const,
  );
  const patient = attempts.map(([hours, status]) => [hours / 10, status] as const);
  await statusesAfter(patient, fails);
  assert.deepEqual(told, ['2030-01-01T00:18:00.000Z']);
  await statusesAfter(patient.slice(0, 3), fails);
  assert.equal(told.length, 1);
});
