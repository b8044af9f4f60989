import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { type RateClass, type Route, rateClassOf } from '@florin/protocol/route.ts';
import fc from 'fast-check';
import type { Clock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { localLimits } from '../../test/harness/local-limits.ts';
import {
  creationGuard,
  defaultRateLimits,
  type Limits,
  limitedDoor,
  merchantGuards,
  networkOf,
} from './rate-limit.ts';
import { buildServer, type Door } from './server.ts';
import { tokenBuckets } from './token-bucket.ts';

function virtualClock(): Clock & { ms: number } {
  const clock = {
    ms: 1_000,
    now: () => new Date(clock.ms),
    monotonicMs: () => clock.ms,
    sleep: async () => {},
  };
  return clock;
}

test('a burst may come at once, then requests pass at the rate', () => {
  const clock = virtualClock();
  const { take } = tokenBuckets({ count: 10, seconds: 1, burst: 20 }, clock);
  const passed = () => Array.from({ length: 50 }, () => take('a').isAllowed).filter(Boolean).length;
  assert.equal(passed(), 20);
  clock.ms += 99;
  assert.equal(passed(), 0);
  clock.ms += 1;
  assert.equal(passed(), 1);
  clock.ms += 500;
  assert.equal(passed(), 5);
  clock.ms += 3_600_000;
  assert.equal(passed(), 20);
});

test('a verdict states the remaining requests, when to retry and when the full burst is back', () => {
  const clock = virtualClock();
  const { take } = tokenBuckets({ count: 60, seconds: 60, burst: 2 }, clock);
  const full = { isAllowed: true, retryAfterSeconds: 0 };
  assert.deepEqual(take('a'), { ...full, remaining: 1, resetSeconds: 1 });
  assert.deepEqual(take('a'), { ...full, remaining: 0, resetSeconds: 2 });
  const refused = { isAllowed: false, remaining: 0, retryAfterSeconds: 1 };
  assert.deepEqual(take('a'), { ...refused, resetSeconds: 2 });
  clock.ms += 600;
  assert.deepEqual(take('a'), { ...refused, resetSeconds: 2 });
  clock.ms += 400;
  assert.deepEqual(take('a'), { ...full, remaining: 0, resetSeconds: 2 });
});

// proves W1.26
test('no caller exceeds burst plus rate over any period', () => {
  const rate = { count: 7, seconds: 3, burst: 11 };
  const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 50, maxLength: 400 });
  fc.assert(
    fc.property(steps, (pauses) => {
      const clock = virtualClock();
      const { take } = tokenBuckets(rate, clock);
      const startMs = clock.ms;
      let passed = 0;
      for (const pause of pauses) {
        clock.ms += pause;
        passed += take('a').isAllowed ? 1 : 0;
        const earned = ((clock.ms - startMs) * rate.count) / (rate.seconds * 1_000);
        assert.ok(passed <= rate.burst + earned + 1e-6);
      }
    }),
  );
});

test('requests that have waited count at the time when they came, and no more of them pass than without the wait', () => {
  const clock = virtualClock();
  const { take } = tokenBuckets({ count: 50, seconds: 1, burst: 100 }, clock);
  // A failover of 28 seconds: what came every 60 ms is asked about at its end, newest first or oldest first.
  clock.ms += 28_000;
  const waits = Array.from({ length: 466 }, (_, index) => 28_000 - index * 60);
  assert.deepEqual(
    waits.map((waitedMs) => take('steady', waitedMs).isAllowed).filter((passed) => !passed),
    [],
  );
  assert.equal(waits.toReversed().filter((waitedMs) => take('backwards', waitedMs).isAllowed).length, 100);
  const rush = Array.from({ length: 400 }, () => take('rush', 1_000).isAllowed);
  assert.equal(rush.filter(Boolean).length, 100);
  assert.equal(rush.filter(() => take('rush').isAllowed).length, 50, 'and then those of a second');
});

test('every door with look-ups counts a request when it came, however long the look-up took', async () => {
  const clock = virtualClock();
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  let came = 0;
  const door: Door = (scope) => {
    const guards = merchantGuards(scope, 'people', localLimits(defaultRateLimits, clock));
    scope.get('/of-person', {
      onRequest: async (_request, reply) => {
        came += 1;
        await found;
        guards.ofKey(merchantApi.routes.getSession, 'person', reply);
      },
      handler: async () => ({}),
    });
  };
  const server = await serverOf(door);
  const answers = [];
  for (let sent = 1; sent <= 300; sent += 1) {
    answers.push(server.inject({ url: '/of-person' }).then(({ statusCode }) => statusCode));
    while (came < sent) await new Promise((resolve) => setImmediate(resolve));
    clock.ms += 10;
  }
  find();
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]));
});

test('callers do not count towards each other', () => {
  const { take } = tokenBuckets({ count: 1, seconds: 1, burst: 1 }, virtualClock());
  assert.deepEqual(
    ['a', 'a', 'b', 'b'].map((caller) => take(caller).isAllowed),
    [true, false, true, false],
  );
});

test('memory is bounded, and the caller that was idle longest is dropped first', () => {
  const { take } = tokenBuckets({ count: 1, seconds: 60, burst: 1 }, virtualClock(), 2);
  const passes = (caller: string) => take(caller).isAllowed;
  assert.deepEqual([passes('a'), passes('b')], [true, true]);
  assert.equal(passes('a'), false);
  assert.equal(passes('c'), true);
  assert.equal(passes('a'), false, 'a came back before c did');
  assert.equal(passes('b'), true, 'b was forgotten');
});

const networks: [string, string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
];
for (const [address, network] of networks) {
  test(`${address} counts as ${network}`, () => assert.equal(networkOf(address), network));
}

// proves W1.26
test('every operation of the merchant API is a read, a write, or a list or search', () => {
  const classes: [string, Route][] = Object.entries(merchantApi.routes);
  const named = (wanted: RateClass) =>
    classes.filter(([, route]) => rateClassOf(route) === wanted).map(([name]) => name);
  assert.deepEqual(
    named('list').filter((name) => !/^(list|search)/.test(name)),
    [],
  );
  assert.deepEqual(
    classes.filter(([name]) => /^(list|search)/.test(name) && !named('list').includes(name)),
    [],
  );
  assert.deepEqual(
    named('read').filter((name) => !name.startsWith('get')),
    [],
  );
  assert.ok(named('write').includes('createCheckoutSession') && named('write').includes('removeWebhook'));
});

async function agentServer(limits: Limits | undefined) {
  const door: Door = (scope) => {
    for (const basePath of ['/aipay/api/v1', '/api/v1']) {
      for (const { method, path } of Object.values(agentApi.routes)) {
        scope.route({ method, url: basePath + path, handler: async () => ({}) });
      }
    }
  };
  return serverOf(limitedDoor('agent', door, limits));
}

function serverOf(door: Door) {
  return buildServer({
    log: silentLog,
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: true, checks: {} }),
    doors: [door],
  });
}

// proves W1.27
test('one address may read 20 times a second and create 60 times a minute, over all base paths together', async () => {
  const clock = virtualClock();
  const server = await agentServer(localLimits(defaultRateLimits, clock));
  const send = async (method: 'GET' | 'POST', path: string, remoteAddress = '203.0.113.7') =>
    (await server.inject({ method, url: path, remoteAddress })).statusCode;
  const reads = await Promise.all(
    Array.from({ length: 41 }, (_, index) =>
      send('GET', `${index % 2 === 0 ? '/aipay' : ''}/api/v1/payment/link/lnk_1`),
    ),
  );
  assert.deepEqual(
    reads.filter((status) => status !== 200),
    [429],
  );
  assert.equal(await send('GET', '/api/v1/session/sess_1'), 429);
  assert.equal(await send('GET', '/api/v1/session/sess_1', '203.0.113.8'), 200);
  const create = (base: string) => send('POST', `${base}/api/v1/payment/session/create`);
  for (let index = 0; index < 60; index += 1)
    assert.equal(await create(index % 2 === 0 ? '/aipay' : ''), 200);
  assert.equal(await create('/aipay'), 429);
  assert.equal(await send('POST', '/aipay/api/v1/payment/prepare'), 200);
  clock.ms += 1_000;
  assert.equal(await create(''), 200);
  assert.equal(await create(''), 429);
  for (let index = 0; index < 20; index += 1) assert.equal(await send('GET', '/api/v1/session/sess_1'), 200);
  assert.equal(await send('GET', '/api/v1/session/sess_1'), 429);
});

test('a request with an x402 payment is a signed request, and counts as a read as well', async () => {
  const clock = virtualClock();
  const server = await agentServer(localLimits(defaultRateLimits, clock));
  const path = '/api/v1/payment/link/lnk_1';
  const send = async (headers: Record<string, string>) =>
    (await server.inject({ method: 'GET', url: path, remoteAddress: '203.0.113.7', headers })).statusCode;
  const paying = { 'payment-signature': '' };
  for (let index = 0; index < 60; index += 1) {
    assert.equal(await send(paying), 200);
    clock.ms += 50;
  }
  // Three signed requests became available in these three seconds.
  for (let index = 0; index < 3; index += 1) assert.equal(await send(paying), 200);
  assert.equal(await send(paying), 429);
  assert.equal(await send({}), 200);
});

test('a link accepts 600 signed sessions a minute from all payers together, and another link as many', () => {
  const clock = virtualClock();
  const admit = creationGuard(localLimits(defaultRateLimits, clock));
  const passed = (linkId: string) => {
    for (let count = 0; ; count += 1) {
      try {
        admit(linkId);
      } catch (error) {
        assert.ok(error instanceof Refusal);
        assert.deepEqual([error.slug, error.details.retryAfterSeconds], ['rate_limited', 1]);
        return count;
      }
    }
  };
  assert.deepEqual([passed('lnk_a'), passed('lnk_b')], [600, 600]);
  clock.ms += 10_000;
  assert.deepEqual([passed('lnk_a'), passed('lnk_b')], [100, 100]);
  const unlimited = creationGuard(undefined);
  for (let count = 0; count < 1_000; count += 1) unlimited('lnk_a');
});

test('without limits a door is unchanged', async () => {
  const server = await agentServer(undefined);
  for (let index = 0; index < 100; index += 1) {
    const reply = await server.inject({ url: '/api/v1/payment/link/lnk_1' });
    assert.deepEqual([reply.statusCode, reply.headers['ratelimit-limit']], [200, undefined]);
  }
});
