import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type TestDatabase, testDatabase } from '@florin/server/testing';
import { Tables } from './backup.ts';
import { bugPatches, patched } from './bug-patches.ts';
import { bugs } from './bugs.ts';
import { Connections } from './connections.ts';
import { chooseFaults, noFaults } from './faults.ts';
import { type HistoryResult, runHistory } from './history.ts';
import { behaviours, chooseScenario, chooseSize, sizes } from './scenario.ts';
import { seededRandom } from './seeded-random.ts';
import type { Assignment } from './worker-pool.ts';

let database: TestDatabase;
let connections: Connections;
let tables: Tables;

before(async () => {
  database = await testDatabase();
  connections = await Connections.open(database.url);
  tables = await Tables.of(connections);
});
after(async () => {
  await connections.close();
  await database.close();
});

function live(assignment: Assignment, bugName?: string): Promise<HistoryResult> {
  return runHistory({ ...assignment, connections, tables, ...(bugName === undefined ? {} : { bugName }) });
}

/**
 * Two chains joined by CCTP with deposits and signatures, a restored backup, a reorg below finality, and a small
 * history.
 */
const telling: readonly Assignment[] = [
  { seed: 113, size: 'long' },
  { seed: 111, size: 'long' },
  { seed: 7, size: 'long' },
  { seed: 90, size: 'long' },
  { seed: 5 },
];

test('the same seed lives the same history, whatever was lived before', async () => {
  const first: HistoryResult[] = [];
  for (const told of telling) first.push(await live(told));
  const again: HistoryResult[] = [];
  for (const told of telling.toReversed()) again.push(await live(told));
  for (const [index, told] of telling.entries()) {
    const lives = [first[index], again.at(-1 - index)];
    if (isDeepStrictEqual(lives[1], lives[0])) continue;
    const hashes = new Set(lives.map((lived) => lived?.traceHash));
    // PostgreSQL's own choices (README) give two courses, which recur. Any other chance would give new courses every
    // time.
    for (let count = 0; count < 3; count += 1) hashes.add((await live(told)).traceHash);
    assert.equal(hashes.size, 2, `seed ${told.seed}: ${[...hashes].join(' ')}`);
  }
  assert.deepEqual(
    first.map(({ violations }) => violations),
    telling.map(() => []),
  );
  assert.equal(new Set(first.map(({ traceHash }) => traceHash)).size, telling.length);
});

test('what is remembered of PostgreSQL changes no history', async () => {
  const all = await Connections.open(database.url, { usesCache: false });
  try {
    for (const told of telling) {
      const asked = () => runHistory({ ...told, connections: all, tables });
      const [remembered, unremembered] = [await live(told), await asked()];
      if (isDeepStrictEqual(unremembered, remembered)) continue;
      // Each may have taken either of two courses.
      const others = new Set([
        remembered.traceHash,
        (await live(told)).traceHash,
        (await live(told)).traceHash,
      ]);
      const hashes = [unremembered.traceHash, (await asked()).traceHash, (await asked()).traceHash];
      assert.ok(
        hashes.some((hash) => others.has(hash)),
        `seed ${told.seed}: ${hashes.join(' ')} is none of ${[...others].join(' ')}`,
      );
    }
  } finally {
    await all.close();
  }
});

test('two thousand seeds come to every size, character and fault', () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = seededRandom(seed);
    const size = chooseSize(random.fork('size'));
    const scenario = chooseScenario(random.fork('story'), size);
    met.add(size).add(scenario.crossChainMethod);
    for (const { behaviour } of scenario.sessions) met.add(`${size} ${behaviour}`);
    for (const [kind, rate] of Object.entries(chooseFaults(random.fork('rates'), size)))
      if (rate > 0) met.add(`${size} ${kind}`);
  }
  const wanted = sizes.flatMap((size) =>
    [...behaviours, ...Object.keys(noFaults)].map((what) => `${size} ${what}`),
  );
  assert.deepEqual(
    [...wanted, ...sizes, 'vault', 'cctp'].filter((what) => !met.has(what)),
    [],
  );
});

test('acting before a payment is final is caught within some histories', async () => {
  const violations: string[] = [];
  const harm = /before the (payment|settlement) was final|more than once|paid on chain/;
  for (let seed = 1; seed <= 20 && !harm.test(violations.join('\n')); seed += 1) {
    violations.push(...(await live({ seed }, 'zero-confirmations')).violations);
  }
  assert.match(violations.join('\n'), harm);
});

test('every seeded bug still fits the source that it changes', async () => {
  for (const [name, patches] of Object.entries(bugPatches)) {
    assert.ok(bugs[name] !== undefined, name);
    for (const { file } of patches) {
      const text = await readFile(new URL(`../../apps/server/src/${file}`, import.meta.url), 'utf8');
      assert.notEqual(patched(file, text, patches), text, name);
    }
  }
});

test('a patch that does not fit is refused', () => {
  const patches = [{ file: 'a.ts', from: 'never there', to: '' }];
  assert.throws(() => patched('a.ts', 'something else', patches), /does not fit a\.ts any more/);
});
