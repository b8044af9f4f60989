import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HistoryResult } from './history.ts';
import { chooseScenario } from './scenario.ts';
import { seededRandom } from './seeded-random.ts';
import { addTo, continueWith, missingKinds, newTally, readTally, writeTally } from './tally.ts';

function result(seed: number, violations: readonly string[] = []): HistoryResult {
  const scenario = chooseScenario(seededRandom(seed), 'short');
  return {
    seed,
    scenario,
    violations,
    traceHash: 0,
    eventCount: 10,
    faultCounts: { crash: 1 },
    reorgCount: 0,
  };
}

test('a stopped run resumes at its next seed and counts no history twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-tally-'));
  const file = join(folder, 'state', 'tally.json');
  try {
    const tally = newTally(1);
    continueWith(tally, { sources: 'a', commit: '' });
    for (const seed of [1, 3, 2, 5]) addTo(tally, result(seed));
    await writeTally(file, tally);
    const stored = await readTally(file, 1);
    assert.deepEqual(stored, tally);
    assert.deepEqual([stored?.nextSeed, stored?.ahead, stored?.counts['histories']], [4, [5], 4]);
    addTo(tally, result(2));
    assert.equal(tally.counts['histories'], 4);
    assert.equal(await readTally(file, 2), undefined);
    assert.equal(await readTally(`${file}.none`, 1), undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('histories of other sources are counted separately, and a resumed run names the previous sources', () => {
  const tally = newTally(1);
  assert.equal(continueWith(tally, { sources: 'a', commit: '' }), undefined);
  addTo(tally, result(1));
  assert.equal(continueWith(tally, { sources: 'a', commit: '' }), undefined);
  addTo(tally, result(2, ['lost']));
  assert.deepEqual(continueWith(tally, { sources: 'b', commit: 'c' }), {
    sources: 'a',
    commit: '',
    histories: 2,
    bad: 1,
  });
  addTo(tally, result(3));
  assert.deepEqual(tally.versions, [
    { sources: 'a', commit: '', histories: 2, bad: 1 },
    { sources: 'b', commit: 'c', histories: 1, bad: 0 },
  ]);
  assert.deepEqual(tally.bad, [2]);
});

test('kinds that no history included are listed', () => {
  const tally = newTally(1);
  addTo(tally, result(1));
  const missing = missingKinds(tally);
  assert.ok(missing.includes('fault: reorg') && missing.includes('size: long'));
  assert.ok(!missing.includes('fault: crash') && !missing.includes('size: short'));
});
