import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isServiceAway, subscribeOutage, untilAnswering } from './connection.ts';

/** The page's address, and a service that gives these answers, one to each request. */
function serve(t: TestContext, answers: readonly (number | 'none')[]) {
  const left = [...answers];
  Object.assign(globalThis, { location: { href: 'https://pay.example.com/dashboard' } });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  t.mock.method(globalThis, 'fetch', async () => {
    const answer = left.shift() ?? 200;
    if (answer === 'none') throw new TypeError('fetch failed');
    return new Response('', { status: answer });
  });
  return left;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('an outage lasts until the service answers again, however long that takes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const left = serve(t, [...Array<'none'>(60).fill('none'), 502, 200]);
  const seen: boolean[] = [];
  const end = subscribeOutage(() => seen.push(isServiceAway()));
  const over = untilAnswering();
  // Requests that fail meanwhile begin no second round of asking.
  assert.equal(untilAnswering(), over);
  for (let asks = 0; asks < 61; asks += 1) {
    await settle();
    assert.equal(isServiceAway(), true);
    t.mock.timers.tick(2_000);
  }
  await over;
  assert.deepEqual([isServiceAway(), seen, left], [false, [true, false], []]);
  end();
});

test('one lost request of a service that answers is no outage', async (t) => {
  serve(t, [200]);
  const seen: boolean[] = [];
  const end = subscribeOutage(() => seen.push(isServiceAway()));
  await untilAnswering();
  assert.deepEqual([isServiceAway(), seen], [false, []]);
  end();
});
