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
import { behaviours, chooseScenario, chooseSize, crossChainMethods, sizes } from './scenario.ts';
import { seededRandom } from './seeded-random.ts';
import type { Assignment } from './worker-pool.ts';

let database: TestDatabase;
let connections: Connections;
let tables: Tables;

/**
 * Two chains joined by CCTP with deposits and signatures, a restored backup, a reorg below finality, and a small
 * history.
 */
const assignments: readonly Assignment[] = [
  { seed: 113, size: 'long' },
  { seed: 111, size: 'long' },
  { seed: 7, size: 'long' },
  { seed: 90, size: 'long' },
  { seed: 5 },
];

/** Every assignment once, in their order. */
const first: HistoryResult[] = [];

before(async () => {
  database = await testDatabase();
  connections = await Connections.open(database.url);
  tables = await Tables.of(connections);
  for (const assignment of assignments) first.push(await run(assignment));
});
after(async () => {
  await connections.close();
  await database.close();
});

function run(assignment: Assignment, bugName?: string): Promise<HistoryResult> {
  return runHistory({ ...assignment, connections, tables, ...(bugName === undefined ? {} : { bugName }) });
}

test('the same seed gives the same history after any other histories', async () => {
  const repeated: HistoryResult[] = [];
  for (const assignment of assignments.toReversed()) repeated.push(await run(assignment));
  for (const [index, assignment] of assignments.entries()) {
    const results = [first[index], repeated.at(-1 - index)];
    if (isDeepStrictEqual(results[1], results[0])) continue;
    const hashes = new Set(results.map((result) => result?.traceHash));
    // PostgreSQL's own choices (README) give two courses, which recur. Any other chance would give new courses every
    // time.
    for (let count = 0; count < 3; count += 1) hashes.add((await run(assignment)).traceHash);
    assert.equal(hashes.size, 2, `seed ${assignment.seed}: ${[...hashes].join(' ')}`);
  }
  assert.deepEqual(
    first.map(({ violations }) => violations),
    assignments.map(() => []),
  );
  assert.equal(new Set(first.map(({ traceHash }) => traceHash)).size, assignments.length);
});

test('the read cache changes no history', async () => {
  const uncachedConnections = await Connections.open(database.url, { usesCache: false });
  try {
    for (const [index, assignment] of assignments.entries()) {
      const runUncached = () => runHistory({ ...assignment, connections: uncachedConnections, tables });
      const [cached, uncached] = [first[index], await runUncached()];
      if (isDeepStrictEqual(uncached, cached)) continue;
      // Each may have taken either of two courses.
      const cachedHashes = new Set([
        cached?.traceHash,
        (await run(assignment)).traceHash,
        (await run(assignment)).traceHash,
      ]);
      const hashes = [uncached.traceHash, (await runUncached()).traceHash, (await runUncached()).traceHash];
      assert.ok(
        hashes.some((hash) => cachedHashes.has(hash)),
        `seed ${assignment.seed}: ${hashes.join(' ')} is none of ${[...cachedHashes].join(' ')}`,
      );
    }
  } finally {
    await uncachedConnections.close();
  }
});

test('two thousand seeds include every size, behaviour and fault', () => {
  const occurred = new Set<string>();
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = seededRandom(seed);
    const size = chooseSize(random.fork('size'));
    const scenario = chooseScenario(random.fork('story'), size);
    occurred.add(size).add(scenario.crossChainMethod);
    for (const { behaviour } of scenario.sessions) occurred.add(`${size} ${behaviour}`);
    for (const [kind, rate] of Object.entries(chooseFaults(random.fork('rates'), size)))
      if (rate > 0) occurred.add(`${size} ${kind}`);
  }
  const expected = sizes.flatMap((size) =>
    [...behaviours, ...Object.keys(noFaults)].map((what) => `${size} ${what}`),
  );
  assert.deepEqual(
    [...expected, ...sizes, ...crossChainMethods].filter((what) => !occurred.has(what)),
    [],
  );
});

test('the simulation catches actions before a payment is final within twenty histories', async () => {
  const violations: string[] = [];
  const expectedViolation = /before the (payment|settlement) was final|more than once|paid on chain/;
  for (let seed = 1; seed <= 20 && !expectedViolation.test(violations.join('\n')); seed += 1) {
    violations.push(...(await run({ seed }, 'zero-confirmations')).violations);
  }
  assert.match(violations.join('\n'), expectedViolation);
});

test('every seeded bug fits the source that it changes', async () => {
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
