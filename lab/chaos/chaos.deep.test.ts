import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChaos } from './chaos.ts';

/** A short run. `npm run chaos -- --seconds 120` runs longer. */
const seconds = 20;

test('chains, ledger, sessions and webhooks agree after random kills, pauses, reorgs, crashes and lying nodes', async (t) => {
  const { violations, ...report } = await runChaos(seconds, (sentence) => t.diagnostic(sentence));
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(violations, []);
  assert.ok(report.payments > 0, 'payments were made');
  assert.ok(
    report.harm.kills > 0 && report.harm.databaseCrashes + report.harm.fullDisks > 0,
    'faults were injected',
  );
});
