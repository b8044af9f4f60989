import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteServiceTime, serviceNow } from './service-clock.ts';

test('times are told by the service’s clock where the reader’s differs by more than an answer takes', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 27, 12) });
  const differs = (date: string | null) => {
    noteServiceTime(date);
    return (serviceNow() - Date.now()) / 1_000;
  };
  assert.equal(differs('Fri, 27 Nov 2026 12:00:04 GMT'), 0);
  assert.equal(differs('Fri, 27 Nov 2026 12:40:00 GMT'), 2_400);
  assert.equal(differs('Fri, 27 Nov 2026 11:00:00 GMT'), -3_600);
  // An answer without the header, or with a broken one, changes nothing.
  assert.deepEqual([differs(null), differs('soon')], [-3_600, -3_600]);
});
