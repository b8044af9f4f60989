import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { addMerchant, addWebhook, webhookDeps } from '../../test/harness/webhook-fixture.ts';
import { type AttemptResult, takeTurn } from './delivery-turn.ts';
import { emit } from './outbox.ts';
import { defaultRetrySettings } from './retry.ts';
import { webhookDetail } from './webhook.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const hourMs = 3_600_000;
const retry = { ...defaultRetrySettings, pauseAfterFailures: 3, pauseAfterMs: 4 * hourMs };

type Attempt = readonly [hours: number, status: 'succeeded' | 'failed'];

/** The status of a webhook after each of these attempts, each of an event of its own. */
async function statusesAfter(attempts: readonly Attempt[]): Promise<string[]> {
  const { db } = database;
  const merchantId = await addMerchant(db);
  const { webhookId } = await addWebhook(db, merchantId);
  const startMs = Date.UTC(2030, 0, 1);
  const statuses: string[] = [];
  for (const [index, [hours, status]] of attempts.entries()) {
    const at = new Date(startMs + hours * hourMs);
    const clock = { now: () => at, monotonicMs: () => 0, sleep: async () => {} };
    const deps = { db, clock, random: systemRandom, retry };
    const free = { webhooks: new Map(), merchants: new Map() };
    const limits = { leaseMs: 60_000, total: 64, perWebhook: 16, perMerchant: 64, free };
    const event = { merchantId, type: 'session.paid', objectId: `${merchantId}-${index}`, at } as const;
    await db.transaction((transaction) => emit(transaction, systemRandom, [{ ...event, dataJson: '{}' }]));
    const [claim] = (await takeTurn(deps, [], limits)).claims;
    assert.ok(claim !== undefined);
    const result: AttemptResult = {
      claim,
      attemptedAt: at,
      endedAt: at,
      httpStatus: status === 'failed' ? 500 : 200,
      latencyMs: 1,
      error: status === 'failed' ? 'status 500' : '',
      responseBody: '',
      status,
      nextAttemptAt: undefined,
    };
    await takeTurn(deps, [result], { ...limits, total: 0 });
    const ref = { merchantId, webhookId, showKey: false };
    statuses.push((await webhookDetail(db, webhookDeps(), ref)).status);
  }
  return statuses;
}

// proves S3.10
test('enough failures in a row over enough time pause a webhook, and not one failure or hour less', async () => {
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
test('a success between failures starts their count and their time again', async () => {
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
