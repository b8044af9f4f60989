import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@florin/pg';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Clock, Post } from './context.ts';
import { emit } from './event.ts';
import { runHousekeeping } from './housekeeping.ts';
import type { ReceivedRequest } from './test-receiver.ts';
import {
  addWebhook,
  endless,
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
import {
  createWebhook,
  findWebhook,
  lockQueuesOf,
  refreshWebhookKey,
  removeWebhook,
  updateWebhook,
} from './webhook.ts';
import { defaultDeliverySettings, type OutboxWorker } from './worker.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

test('a redacted webhook gets what its maker may read, signed, until others set its URL or events', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  const fields = { webhookName: 'Shop', webhookUrl: receiver.url, subscribedEvents: ['*'] };
  const outbox = testOutbox();
  const { key, webhookId } = await db.transaction((transaction) =>
    createWebhook(transaction, outbox, { ownerId, fields, isRedacted: true }),
  );
  const change = (subscribedEvents: string[]) =>
    db.transaction((transaction) =>
      updateWebhook(transaction, outbox, { ownerId, webhookId, fields: { ...fields, subscribedEvents } }),
    );
  const next = async () => {
    await withWorker(async () => {
      await raise(ownerId, ownerId);
      await untilStatus(ownerId, 'succeeded');
    });
    return receiver.requests.at(-1);
  };
  await change(['*']);
  const request = await next();
  assert.deepEqual(new Verifier(key).verify(request?.body ?? '', request?.headers ?? {}), { redacted: true });
  await change(['*', 'product.*']);
  assert.equal(JSON.parse((await next())?.body ?? '').redacted, undefined);
});

test('while one owner is locked, those of other parts are served, also with housekeeping; afterwards that one, too', async () => {
  const receiver = openReceiver();
  const owners = Array.from({ length: 30 }, newOwner);
  const [locked = '', ...others] = owners;
  for (const ownerId of owners) await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const stop = new AbortController();
  const failures: string[] = [];
  let rounds = 0;
  const housekeeper: OutboxWorker = {
    ...world.worker(),
    log: { error: (event) => failures.push(event) },
    clock: {
      ...systemClock,
      sleep(ms, signal) {
        rounds += 1;
        return systemClock.sleep(ms, signal);
      },
    },
  };
  let housekeeping: Promise<void> | undefined;
  await withWorker(async () => {
    await db.transaction(async (transaction) => {
      await lockQueuesOf(transaction, locked);
      housekeeping = runHousekeeping(housekeeper, stop.signal);
      await until(() => rounds >= 3, 'housekeeping has made rounds');
      for (const ownerId of owners) await raise(ownerId, ownerId);
      const isSent = async (ownerId: string) => (await deliveries(ownerId))[0]?.status === 'succeeded';
      const countSent = async () => (await Promise.all(others.map(isSent))).filter(Boolean).length;
      // Some of the others share the part. That all 29 do has a probability of 1 to 8 to the 29th.
      await until(async () => (await countSent()) > 0, 'others are served');
      assert.equal(await isSent(locked), false);
      assert.deepEqual(failures, []);
    });
    for (const ownerId of owners) await untilStatus(ownerId, 'succeeded');
  });
  stop.abort();
  await housekeeping;
  assert.equal(receiver.requests.length, owners.length);
});

test('two workers take turns at the same time, send each event once and in order, and serve each owner', async () => {
  const receiver = openReceiver();
  const owners = Array.from({ length: 40 }, newOwner);
  for (const ownerId of owners) await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  let open = 0;
  let mostOpen = 0;
  /** Holds the locks of each turn for a while, as a busy database does. */
  const slow: Database = {
    ...db,
    transaction: (work) =>
      db.transaction(async (transaction) => {
        const turn = await work(transaction);
        const isBusy = (turn as { parts?: readonly number[] }).parts?.length !== 0;
        if (isBusy) open += 1;
        mostOpen = Math.max(mostOpen, open);
        await delay(5);
        if (isBusy) open -= 1;
        return turn;
      }),
  };
  await withWorker(
    () =>
      withWorker(
        async () => {
          for (let round = 1; round <= 3; round += 1)
            for (const ownerId of owners) await raise(ownerId, ownerId, ['order.paid', 'order.completed']);
          for (const ownerId of owners) await untilStatus(ownerId, 'succeeded');
        },
        { db: slow },
      ),
    { db: slow },
  );
  assert.equal(mostOpen, 2);
  const sent = Map.groupBy(receiver.requests.map(place), ({ objectId }) => objectId);
  for (const ownerId of owners)
    assert.deepEqual(
      sent.get(ownerId)?.map(({ sequence }) => sequence),
      [1, 2, 3, 4, 5, 6],
    );
});

// proves S6.1
test('a committed event arrives signed, byte for byte, and its attempt is logged', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 200, body: `ok\u0000${'x'.repeat(5000)}` });
  const ownerId = newOwner();
  const { key, webhookId } = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(ownerId, ownerId);
    await untilStatus(ownerId, 'succeeded');
  });
  const [event] = await db.query(selectEvents, { merchantId: ownerId });
  const [request] = receiver.requests;
  assert.equal(receiver.requests.length, 1);
  assert.equal(request?.body, event?.body);
  assert.equal(request?.headers['webhook-id'], event?.event_id);
  assert.equal(request?.headers['content-type'], 'application/json');
  const headers = request?.headers ?? {};
  assert.deepEqual(new Verifier(key).verify(request?.body ?? '', headers), JSON.parse(event?.body ?? ''));
  const [delivery] = await deliveries(ownerId);
  assert.deepEqual(
    [delivery?.webhook_id, delivery?.attempt_count, delivery?.next_attempt_at],
    [webhookId, 1, null],
  );
  const attempts = await db.query(selectAttempts, { merchantId: ownerId });
  assert.deepEqual(
    attempts.map((row) => [
      row.delivery_id,
      row.attempt,
      row.http_status,
      row.error,
      row.response_body.slice(0, 4),
    ]),
    [[delivery?.delivery_id, 1, 200, '', 'ok\ufffdx']],
  );
  assert.equal((attempts[0]?.response_body.length ?? 0) <= 4096, true);
});

// proves W6.14
test('events of one object arrive in order despite failures, and other objects do not wait', async () => {
  const receiver = openReceiver();
  const seen = new Map<string, number>();
  const violations: string[] = [];
  let answered = 0;
  receiver.behave((request) => {
    const { objectId, sequence } = place(request);
    const last = seen.get(objectId) ?? 0;
    if (sequence !== last + 1) violations.push(`${objectId}: ${sequence} after ${last}`);
    answered += 1;
    // Two thirds of the attempts fail, in several ways.
    if (answered % 3 === 0) {
      seen.set(objectId, sequence);
      return { kind: 'answer', status: 200 };
    }
    return answered % 3 === 1 ? { kind: 'answer', status: 500 } : { kind: 'reset' };
  });
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const objects = Array.from({ length: 12 }, (_, index) => `${ownerId}-${index}`);
  const patient = { ...fastSettings.retry, delaysMs: [0, ...Array<number>(40).fill(5)] };
  const settings = { ...fastSettings, retry: patient };
  const raiseAll = async () => {
    for (let round = 0; round < 5; round += 1) {
      const events = objects.map((objectId) => ({
        ownerId,
        type: 'order.paid' as const,
        objectId,
        dataJson: JSON.stringify({ objectId }),
        at: systemClock.now(),
      }));
      await db.transaction((transaction) => emit(transaction, systemRandom, events));
      await delay(round * 20);
    }
    await untilStatus(ownerId, 'succeeded');
  };
  // Two workers, and events that are raised while earlier ones are recorded.
  await withWorker(() => withWorker(raiseAll, { settings }), { settings });
  assert.deepEqual(violations, []);
  assert.deepEqual([...seen].sort(), objects.map((objectId) => [objectId, 5]).sort());
});

// proves W6.2
test('a receiver that hangs delays no other', async () => {
  const [hanging, brisk] = [openReceiver(), openReceiver()];
  hanging.behave({ kind: 'hang' });
  const [slowMerchant, ownerId] = [newOwner(), newOwner()];
  await addWebhook(db, slowMerchant, { webhookUrl: hanging.url });
  await addWebhook(db, ownerId, { webhookUrl: brisk.url });
  await withWorker(
    async () => {
      for (let index = 0; index < 600; index += 1) await raise(slowMerchant, `${slowMerchant}-${index}`);
      for (let index = 0; index < 100; index += 1) {
        await raise(ownerId, `${ownerId}-${index}`);
        await delay(3);
      }
      // All arrive while the first attempts to the other receiver still hang.
      await untilStatus(ownerId, 'succeeded');
      assert.ok(hanging.requests.length < 600, 'the hanging receiver still holds its line');
    },
    // Far fewer attempts than the hanging receiver's queue has.
    { settings: { ...endless, concurrency: 64 } },
  );
  await db.transaction(async (transaction) => {
    const [row] = await deliveries(slowMerchant);
    await removeWebhook(transaction, testOutbox(), {
      ownerId: slowMerchant,
      webhookId: row?.webhook_id ?? '',
    });
  });
});

// proves W6.2
test('a receiver has 15 seconds to answer', async () => {
  const ownerId = newOwner();
  await addWebhook(db, ownerId);
  const times: number[] = [];
  const post: Post = async (_url, { timeoutMs }) => {
    times.push(timeoutMs);
    return { failure: 'timed out' };
  };
  await withWorker(
    async () => {
      await raise(ownerId, ownerId);
      await until(async () => (await deliveries(ownerId))[0]?.attempt_count === 1, 'an attempt is logged');
    },
    { settings: defaultDeliverySettings, post },
  );
  assert.deepEqual(times, [15_000]);
});

// proves W6.12
test('Retry-After sets the time of the next attempt', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 503, retryAfter: '3600' });
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const isLogged = async () => (await deliveries(ownerId))[0]?.attempt_count === 1;
  await withWorker(async () => {
    await raise(ownerId, ownerId);
    await until(isLogged, 'an attempt is logged');
  });
  const [delivery] = await deliveries(ownerId);
  const [attempt] = await db.query(selectAttempts, { merchantId: ownerId });
  const waitMs = Number(delivery?.next_attempt_at) - Number(attempt?.attempted_at);
  assert.ok(waitMs >= 3_600_000, `${waitMs} ms`);
});

test('a delivery fails after its last attempt, and the next one of its queue is sent', async () => {
  const receiver = openReceiver();
  receiver.behave((request) => ({ kind: 'answer', status: place(request).sequence === 1 ? 500 : 200 }));
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(ownerId, ownerId, ['order.paid', 'order.completed']);
    const isDone = async () => (await deliveries(ownerId)).every((row) => row.status !== 'pending');
    await until(isDone, 'nothing is pending');
  });
  assert.deepEqual(
    (await deliveries(ownerId)).map((row) => [row.sequence, row.status, row.attempt_count]),
    [
      [1n, 'failed', 10],
      [2n, 'succeeded', 1],
    ],
  );
  const ids = receiver.requests.slice(0, 10).map((request) => request.headers['webhook-id']);
  assert.equal(new Set(ids).size, 1);
});

test('a redirect is a failure', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 308 });
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(ownerId, ownerId);
    await untilStatus(ownerId, 'failed');
  });
  const [attempt] = await db.query(selectAttempts, { merchantId: ownerId });
  assert.deepEqual([attempt?.http_status, attempt?.error], [308, 'status 308: redirects are not followed']);
});

// proves S4.24, W6.17
test('retries are signed with the current key, and with both during an overlap', async () => {
  const receiver = openReceiver();
  receiver.behave({ kind: 'answer', status: 500 });
  const ownerId = newOwner();
  const webhook = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  const ref = { ownerId, webhookId: webhook.webhookId };
  const refresh = async (overlapSeconds: number) => {
    await db.transaction((transaction) =>
      refreshWebhookKey(transaction, testOutbox(), { ...ref, overlapSeconds }),
    );
    return (await findWebhook(db, testOutbox(), ref)).key;
  };
  const verifies = (request: ReceivedRequest | undefined, key: string) => {
    try {
      new Verifier(key).verify(request?.body ?? '', request?.headers ?? {});
      return true;
    } catch {
      return false;
    }
  };
  let pastMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + pastMs) };
  const slower = {
    ...fastSettings,
    retry: { ...fastSettings.retry, delaysMs: [0, ...Array<number>(9).fill(200)] },
  };
  await withWorker(
    async () => {
      await raise(ownerId, ownerId);
      await receiver.waitFor(1);
      const second = await refresh(0);
      const [, retried] = await receiver.waitFor(2);
      assert.deepEqual([verifies(retried, webhook.key), verifies(retried, second)], [false, true]);
      const third = await refresh(60);
      const [, , overlapped] = await receiver.waitFor(3);
      assert.deepEqual([verifies(overlapped, second), verifies(overlapped, third)], [true, true]);
      pastMs = 61_000;
      const [, , , afterwards] = await receiver.waitFor(4);
      assert.deepEqual([verifies(afterwards, second), verifies(afterwards, third)], [false, true]);
      receiver.behave({ kind: 'answer', status: 200 });
      await untilStatus(ownerId, 'succeeded');
    },
    { settings: slower, clock },
  );
});

test('an event raised on an idle system is sent by its notification, without waiting for a poll', async () => {
  const receiver = openReceiver();
  const ownerId = newOwner();
  await addWebhook(db, ownerId, { webhookUrl: receiver.url });
  await withWorker(
    async () => {
      for (let index = 0; index < 20; index += 1) {
        await delay(10);
        await raise(ownerId, `${ownerId}-${index}`);
        await receiver.waitFor(index + 1);
      }
    },
    // The test ends before the next poll: only the notification can trigger the worker.
    { settings: { ...defaultDeliverySettings, pollMs: 3_600_000 } },
  );
  assert.equal(receiver.requests.length, 20);
});
