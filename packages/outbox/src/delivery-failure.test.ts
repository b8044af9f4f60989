import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase, statement } from '@florin/pg';
import type { Clock, Post } from './context.ts';
import { everyPart } from './delivery-part.ts';
import { takeTurn } from './delivery-turn.ts';
import { emit } from './event.ts';
import {
  addWebhook,
  fastSettings,
  newOwner,
  openOutboxWorld,
  place,
  selectAttempts,
  selectEvents,
  systemClock,
  systemRandom,
  testOutbox,
  until,
} from './test-world.ts';
import { disableWebhook, enableWebhook, findWebhook } from './webhook.ts';
import { defaultDeliverySettings } from './worker.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

// proves W6.15
test("a crashed worker's lease ends, and the event is sent again with the same id", async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await raise(ownerId, ownerId);
  const available = { webhooks: new Map(), owners: new Map() };
  const limits = { leaseMs: 300, total: 64, perWebhook: 16, perOwner: 256, available, ...everyPart };
  const leasedAt = systemClock.now();
  const crashed = await takeTurn(world.worker(), [], limits);
  assert.equal(crashed.leases.length, 1);
  await withWorker(() => untilStatus(ownerId, 'succeeded'));
  const sentAt = receiver.requests[0]?.at ?? leasedAt;
  assert.ok(sentAt.getTime() - leasedAt.getTime() >= limits.leaseMs);
  assert.deepEqual(
    receiver.requests.map((request) => request.headers['webhook-id']),
    [crashed.leases[0]?.eventId],
  );
});

test('after a pause of its machine a worker does not send deliveries that another one has sent since', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await raise(ownerId, ownerId, ['order.paid', 'order.completed']);
  let time = systemClock.now().getTime();
  const clock: Clock = { ...systemClock, now: () => new Date(time) };
  let turns = 0;
  const pausing: Database = {
    ...db,
    async transaction(work) {
      const leased = await db.transaction(work);
      turns += 1;
      if (turns > 1) return leased;
      time += fastSettings.leaseMs;
      await withWorker(() => untilStatus(ownerId, 'succeeded'), { clock });
      return leased;
    },
  };
  await withWorker(
    async () => {
      await untilStatus(ownerId, 'succeeded');
      await raise(ownerId, `${ownerId}-2`);
      await until(() => receiver.requests.length > 2, 'the paused worker has gone on');
      await untilStatus(ownerId, 'succeeded');
    },
    { db: pausing, clock },
  );
  assert.deepEqual(
    receiver.requests.map((request) => place(request)),
    [
      { objectId: ownerId, sequence: 1 },
      { objectId: ownerId, sequence: 2 },
      { objectId: `${ownerId}-2`, sequence: 1 },
    ],
  );
});

test('four workers send each of 400 events once', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const run = (worker: string) =>
    withWorker(async () => {
      for (let index = 0; index < 100; index += 1) await raise(ownerId, `${ownerId}-${worker}-${index}`);
      await untilStatus(ownerId, 'succeeded');
    });
  await Promise.all(['a', 'b', 'c', 'd'].map(run));
  const ids = receiver.requests.map((request) => request.headers['webhook-id']);
  assert.deepEqual([ids.length, new Set(ids).size], [400, 400]);
});

const dropConnections = statement({
  name: 'fixture_drop_connections',
  columns: { dropped: 'int4' },
  text: `select count(pg_terminate_backend(pid))::int as dropped from pg_stat_activity
   where datname = current_database() and application_name = 'doomed'`,
});

test('a database that drops connections repeatedly delays events and loses none', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const worker = openDatabase({ url: `${world.url}?application_name=doomed`, onError: () => {} });
  await withWorker(
    async () => {
      for (let index = 0; index < 60; index += 1) {
        await raise(ownerId, `${ownerId}-${index}`);
        if (index % 20 === 10) await db.query(dropConnections);
      }
      await untilStatus(ownerId, 'succeeded');
    },
    { db: worker },
  );
  await worker.close();
  assert.equal(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size, 60);
});

// proves S3.11, S6.3, W6.3
test('410 pauses a webhook at once: other webhooks are notified, deliveries wait, enabling sends them', async () => {
  const [gone, other] = [openReceiver(), openReceiver()];
  gone.behave({ kind: 'answer', status: 410 });
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId, { webhookUrl: gone.url });
  await addWebhook(db, ownerId, { webhookUrl: other.url, subscribedEvents: ['webhook.*'] });
  const ref = { ownerId, webhookId };
  const shown = () => findWebhook(db, testOutbox(), ref);
  await withWorker(async () => {
    await raise(ownerId, ownerId);
    const [heard] = await other.waitFor(1);
    const { key: _key, ...keyless } = await shown();
    assert.equal(keyless.status, 'paused');
    const body = JSON.parse(heard?.body ?? '');
    assert.deepEqual(
      [body.type, body.data],
      ['webhook.paused', JSON.parse(JSON.stringify({ webhook: keyless }))],
    );
    await raise(ownerId, `${ownerId}-2`);
    await delay(100);
    assert.equal(gone.requests.length, 1);
    const own = (await deliveries(ownerId)).filter((row) => row.webhook_id === webhookId);
    assert.deepEqual(
      own.map((row) => [row.object_id, row.status, row.next_attempt_at]),
      [
        [ownerId, 'pending', null],
        [webhookId, 'skipped', null],
        [`${ownerId}-2`, 'skipped', null],
      ],
    );
    gone.behave({ kind: 'answer', status: 200 });
    await db.transaction((transaction) => enableWebhook(transaction, testOutbox(), ref));
    await until(() => gone.requests.length === 2, 'the paused delivery is sent');
    await delay(50);
    assert.equal(gone.requests.length, 2);
    assert.equal((await shown()).status, 'active');
  });
});

// proves W6.30
test('disabling stops retries; events raised meanwhile are sent only when replayed, with a new schedule', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 500 });
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const ref = { ownerId, webhookId };
  await withWorker(async () => {
    const since = systemClock.now();
    await raise(ownerId, `${ownerId}-failed`);
    await untilStatus(ownerId, 'failed');
    await db.transaction((transaction) => disableWebhook(transaction, testOutbox(), ref));
    const count = receiver.requests.length;
    await raise(ownerId, `${ownerId}-skipped`);
    await delay(100);
    assert.equal(receiver.requests.length, count);
    let failuresLeft = 4;
    receiver.behave(() => {
      failuresLeft -= 1;
      return { kind: 'answer', status: failuresLeft < 0 ? 200 : 500 };
    });
    await db.transaction((transaction) =>
      enableWebhook(transaction, testOutbox(), { ...ref, replaySince: since }),
    );
    await untilStatus(ownerId, 'succeeded');
  });
  const attempts = await db.query(selectAttempts, { merchantId: ownerId });
  assert.equal(attempts.length, 10 + 1 + 1 + 4);
});

test('an event committed just after its webhook was disabled is not sent before it is enabled', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const ref = { ownerId, webhookId };
  await withWorker(async () => {
    await db.transaction(async (transaction) => {
      await emit(transaction, systemRandom, [
        { ownerId, type: 'order.paid', objectId: ownerId, dataJson: '{}', at: systemClock.now() },
      ]);
      // Events travel with the next statement: this one has them written before the webhook is disabled.
      assert.equal((await transaction.query(selectEvents, { merchantId: ownerId })).length, 1);
      await db.transaction((other) => disableWebhook(other, testOutbox(), ref));
    });
    await until(
      async () => (await deliveries(ownerId))[0]?.next_attempt_at === null,
      'the delivery is paused',
    );
    await delay(50);
    assert.equal(receiver.requests.length, 0);
    await db.transaction((transaction) => enableWebhook(transaction, testOutbox(), ref));
    await untilStatus(ownerId, 'succeeded');
  });
  assert.equal(receiver.requests.length, 1);
});

// proves S3.10, S6.3
test('on the published schedule ten attempts take 75.6 hours, after which the webhook is paused', async () => {
  let now = new Date('2026-05-01T00:00:00Z');
  const clock: Clock = {
    now: () => now,
    monotonicMs: () => 0,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal),
  };
  const times: number[] = [];
  const dead: Post = async () => {
    times.push(now.getTime());
    return { failure: 'timed out' };
  };
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  const startedAt = now.getTime();
  const retry = { ...defaultDeliverySettings.retry, jitter: 0 };
  await raise(ownerId, ownerId, ['order.paid'], now);
  await withWorker(
    async () => {
      for (let attempts = 1; attempts <= 10; attempts += 1) {
        const isLogged = async () => (await deliveries(ownerId))[0]?.attempt_count === attempts;
        await until(isLogged, `attempt ${attempts} is logged`);
        const next = (await deliveries(ownerId))[0]?.next_attempt_at;
        if (!next) continue;
        now = new Date(next.getTime() - 1);
        await delay(30);
        assert.equal(times.length, attempts);
        now = next;
      }
    },
    { clock, post: dead, settings: { ...defaultDeliverySettings, retry } },
  );
  const elapsed = times.map((time) => time - startedAt);
  const planned = retry.delaysMs.map((_, index) =>
    retry.delaysMs.slice(0, index + 1).reduce((a, b) => a + b),
  );
  assert.deepEqual(elapsed, planned);
  const shown = await findWebhook(db, testOutbox(), { ownerId, webhookId });
  assert.equal(shown.status, 'paused');
  assert.deepEqual(
    (await deliveries(ownerId)).map((row) => [row.object_id, row.status]),
    [
      [ownerId, 'failed'],
      [webhookId, 'skipped'],
    ],
  );
});
