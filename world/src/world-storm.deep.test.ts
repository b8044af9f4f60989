import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '@florin/lab';
import { fuzzFactor, fuzzSeed, seedNote } from '@florin/server/testing';
import { findFreePort } from './port.ts';
import { FinalBlocks, startPayment, startRun, stressAndKill } from './storm.fixture.ts';

/** Each takes some five seconds; FLORIN_FUZZ_FACTOR makes the stress run longer. */
const deaths = 3 * fuzzFactor;

test('under reorgs and kills no final block changes, no chain halts and payments continue', {
  timeout: 600_000 * Math.max(1, deaths / 3),
}, async (t) => {
  t.diagnostic(seedNote());
  const home = mkdtempSync(join(tmpdir(), 'florin storm '));
  const port = await findFreePort();
  const random = seededRandom(fuzzSeed);
  const finals = new FinalBlocks();
  let run = await startRun(home, port);
  t.after(async () => {
    await run.kill();
    rmSync(home, { recursive: true, force: true });
  });
  for (let death = 0; death < deaths; death += 1) {
    // It rarely finishes, but the service watches, sends and settles meanwhile.
    const payment = startPayment(home);
    const { chains, payers } = run.manifest;
    const refusals = await stressAndKill({
      // The first payer pays above; each of the others sends on both chains.
      ...{ chains, payers: payers.slice(1, 3).map(({ privateKey }) => privateKey) },
      ...{ random: random.fork(String(death)), finals, mostSteps: 150, mostPauseMs: 400, kill: run.kill },
    });
    payment.child.kill('SIGKILL');
    await payment.exited;
    t.diagnostic(`death ${death + 1}: ${refusals.join('; ')}`);
    run = await startRun(home, port);
    for (const chain of run.manifest.chains) await finals.check(chain, run.output());
    assert.doesNotMatch(run.output(), /history has changed/);
  }
  const payment = startPayment(home);
  assert.deepEqual(await payment.exited, [0, null], payment.output());
  for (const chain of run.manifest.chains) await finals.check(chain, run.output());
  const answer = await fetch(`${run.manifest.merchantApi}/capabilities/all`);
  const { data } = (await answer.json()) as { data: Record<string, unknown> };
  assert.doesNotMatch(JSON.stringify(data), /"unavailable"/);
  await run.stop();
});
