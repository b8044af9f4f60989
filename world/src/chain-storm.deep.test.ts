import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '@florin/lab';
import { fuzzFactor, fuzzSeed, seedNote } from '@florin/server/testing';
import { findFreePort } from './port.ts';
import { FinalBlocks, startChainRun, stressAndKill } from './storm.fixture.ts';

/** FLORIN_FUZZ_FACTOR makes the stress run longer. */
const deaths = 12 * fuzzFactor;

test('final blocks of a chain stay through reorgs and kills at any moment', {
  timeout: 300_000 * Math.max(1, deaths / 12),
}, async (t) => {
  t.diagnostic(seedNote());
  const folder = mkdtempSync(join(tmpdir(), 'florin chain storm '));
  const port = await findFreePort();
  const random = seededRandom(fuzzSeed);
  const finals = new FinalBlocks();
  let run = await startChainRun(folder, port);
  t.after(async () => {
    await run.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  for (let death = 0; death < deaths; death += 1) {
    const { chain, payers, kill } = run;
    const chance = random.fork(String(death));
    const refusals = await stressAndKill({
      ...{ chains: [chain], payers, random: chance, finals, mostSteps: 80, mostPauseMs: 30, kill },
    });
    run = await startChainRun(folder, port);
    await finals.check(chain, `${run.output()}${refusals.join('\n')}`);
    assert.doesNotMatch(run.output(), /history has changed/);
  }
});
