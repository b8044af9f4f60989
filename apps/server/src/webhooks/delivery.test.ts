import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook as Verifier } from 'standardwebhooks';
import { type Clock, systemClock } from '#outside/clock.ts';
import { EgressFailure } from '#outside/egress.ts';
import { systemRandom } from '#outside/random.ts';
import type { ReceivedRequest } from '../../test/harness/receiver.ts';
import {
  addMerchant,
  addWebhook,
  selectAttempts,
  selectEvents,
  webhookDeps,
} from '../../test/harness/webhook-fixture.ts';
import { endless, forEver, hasty, openWebhookWorld, place, until } from '../../test/harness/webhook-world.ts';
import { defaultDeliverySettings } from './delivery.ts';
import { emit } from './outbox.ts';
import { refreshWebhookKey, removeWebhook, webhookDetail } from './webhook.ts';

const world = await openWebhookWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

// proves S6.1
test('a committed event arrives signed, byte for byte, and its attempt is logged', async () => {
  const receiver = await openReceiver();
  receiver.behave({ kind: 'answer', status: 200, body: `ok\u0000${'x'.repeat(5000)}` });
  const merchantId = await addMerchant(db);
  const { key, webhookId } = await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(merchantId, merchantId);
    await untilStatus(merchantId, 'succeeded');
  });
  const [event] = await db.query(selectEvents, [merchantId]);
  const [request] = receiver.requests;
  assert.deepEqual([receiver.requests.length, request?.method], [1, 'POST']);
  assert.equal(request?.body, event?.body);
  assert.equal(request?.headers['webhook-id'], event?.event_id);
  assert.equal(request?.headers['content-type'], 'application/json');
  const headers = request?.headers as Record<string, string>;
  assert.deepEqual(new Verifier(key).verify(request?.body ?? '', headers), JSON.parse(event?.body ?? ''));
  const [delivery] = await deliveries(merchantId);
  assert.deepEqual(
    [delivery?.webhook_id, delivery?.attempt_count, delivery?.next_attempt_at],
    [webhookId, 1, null],
  );
  const attempts = await db.query(selectAttempts, [merchantId]);
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
test('events of one object arrive in order whatever fails, and other objects do not wait for it', async () => {
  const receiver = await openReceiver();
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
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  const objects = Array.from({ length: 12 }, (_, index) => `${merchantId}-${index}`);
  const patient = { ...hasty.retry, delaysMs: [0, ...Array<number>(40).fill(5)] };
  const settings = { ...hasty, retry: patient };
  const raiseAll = async () => {
    for (let round = 0; round < 5; round += 1) {
      const events = objects.map((objectId) => ({
        merchantId,
        type: 'session.paid' as const,
        objectId,
        dataJson: JSON.stringify({ objectId }),
        at: systemClock.now(),
      }));
      await db.transaction((transaction) => emit(transaction, systemRandom, events));
      await delay(round * 20);
    }
    await untilStatus(merchantId, 'succeeded');
  };
  // Two workers, and events that come while earlier ones are being settled.
  await withWorker(() => withWorker(raiseAll, { settings }), { settings });
  assert.deepEqual(violations, []);
  assert.deepEqual([...seen].sort(), objects.map((objectId) => [objectId, 5]).sort());
});

// proves W6.2
test('a receiver that hangs delays nobody else', async () => {
  const [hanging, brisk] = [await openReceiver(), await openReceiver()];
  hanging.behave({ kind: 'hang' });
  const [slowMerchant, merchantId] = [await addMerchant(db), await addMerchant(db)];
  await addWebhook(db, slowMerchant, { webhookUrl: hanging.url });
  await addWebhook(db, merchantId, { webhookUrl: brisk.url });
  await withWorker(
    async () => {
      for (let index = 0; index < 600; index += 1) await raise(slowMerchant, `${slowMerchant}-${index}`);
      for (let index = 0; index < 100; index += 1) {
        await raise(merchantId, `${merchantId}-${index}`);
        await delay(3);
      }
      // All of them arrive while the other receiver still holds its first attempts.
      await untilStatus(merchantId, 'succeeded');
      assert.ok(hanging.requests.length < 600, 'the hanging receiver still holds its line');
    },
    // Far fewer attempts at once than what the hanging receiver could take.
    { settings: { ...endless, concurrency: 64 }, egress: forEver(world.egress) },
  );
  await db.transaction(async (transaction) => {
    const [row] = await deliveries(slowMerchant);
    await removeWebhook(transaction, webhookDeps(), {
      merchantId: slowMerchant,
      webhookId: row?.webhook_id ?? '',
    });
  });
});

// proves W6.2
test('a receiver has 15 seconds to answer', async () => {
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId);
  const times: (number | undefined)[] = [];
  const egress = {
    ...world.egress,
    post: (_url: string, options: { readonly timeoutMs?: number }) => {
      times.push(options.timeoutMs);
      return Promise.reject(new EgressFailure('timed out'));
    },
  };
  await withWorker(
    async () => {
      await raise(merchantId, merchantId);
      await until(async () => (await deliveries(merchantId))[0]?.attempt_count === 1, 'an attempt is logged');
    },
    { settings: defaultDeliverySettings, egress },
  );
  assert.deepEqual(times, [15_000]);
});

// proves W6.12
test('the Retry-After of an answer says when the next attempt comes', async () => {
  const receiver = await openReceiver();
  receiver.behave({ kind: 'answer', status: 503, retryAfter: '3600' });
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  const isLogged = async () => (await deliveries(merchantId))[0]?.attempt_count === 1;
  await withWorker(async () => {
    await raise(merchantId, merchantId);
    await until(isLogged, 'an attempt is logged');
  });
  const [delivery] = await deliveries(merchantId);
  const [attempt] = await db.query(selectAttempts, [merchantId]);
  const waitMs = Number(delivery?.next_attempt_at) - Number(attempt?.attempted_at);
  assert.ok(waitMs >= 3_600_000, `${waitMs} ms`);
});

test('what cannot be delivered fails after the last attempt, and the next in line goes', async () => {
  const receiver = await openReceiver();
  receiver.behave((request) => ({ kind: 'answer', status: place(request).sequence === 1 ? 500 : 200 }));
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(merchantId, merchantId, ['session.paid', 'session.completed']);
    const isDone = async () => (await deliveries(merchantId)).every((row) => row.status !== 'pending');
    await until(isDone, 'nothing is pending');
  });
  assert.deepEqual(
    (await deliveries(merchantId)).map((row) => [row.sequence, row.status, row.attempt_count]),
    [
      [1n, 'failed', 10],
      [2n, 'succeeded', 1],
    ],
  );
  const ids = receiver.requests.slice(0, 10).map((request) => request.headers['webhook-id']);
  assert.equal(new Set(ids).size, 1);
});

// proves W6.13
test('redirects are failures and are not followed', async () => {
  const [receiver, elsewhere] = [await openReceiver(), await openReceiver()];
  receiver.behave({ kind: 'redirect', location: elsewhere.url, status: 308 });
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(merchantId, merchantId);
    await untilStatus(merchantId, 'failed');
  });
  assert.equal(elsewhere.requests.length, 0);
  const [attempt] = await db.query(selectAttempts, [merchantId]);
  assert.deepEqual([attempt?.http_status, attempt?.error], [308, 'status 308: redirects are not followed']);
});

// proves S4.24, W6.17
test('retries are signed with the key of the moment, and with both during an overlap', async () => {
  const receiver = await openReceiver();
  receiver.behave({ kind: 'answer', status: 500 });
  const merchantId = await addMerchant(db);
  const webhook = await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  const ref = { merchantId, webhookId: webhook.webhookId };
  const refresh = async (overlapSeconds: number) => {
    await db.transaction((transaction) =>
      refreshWebhookKey(transaction, webhookDeps(), { ...ref, overlapSeconds }),
    );
    return (await webhookDetail(db, webhookDeps(), { ...ref, showKey: true })).key;
  };
  const verifies = (request: ReceivedRequest | undefined, key: string) => {
    try {
      new Verifier(key).verify(request?.body ?? '', request?.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  let pastMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + pastMs) };
  const slower = { ...hasty, retry: { ...hasty.retry, delaysMs: [0, ...Array<number>(9).fill(200)] } };
  await withWorker(
    async () => {
      await raise(merchantId, merchantId);
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
      await untilStatus(merchantId, 'succeeded');
    },
    { settings: slower, clock },
  );
});

test('an event raised on an idle system is sent by its notification, without waiting for a poll', async () => {
  const receiver = await openReceiver();
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  await withWorker(
    async () => {
      for (let index = 0; index < 20; index += 1) {
        await delay(10);
        await raise(merchantId, `${merchantId}-${index}`);
        await receiver.waitFor(index + 1);
      }
    },
    // No poll comes within the test: only the notification of the commit can wake the worker.
    { settings: { ...defaultDeliverySettings, pollMs: 3_600_000 } },
  );
  assert.equal(receiver.requests.length, 20);
});
