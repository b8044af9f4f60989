import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../harness/database.ts';
import { Tables } from './backup.ts';
import { bugPatches, patched } from './bug-patches.ts';
import { bugs } from './bugs.ts';
import { Connections } from './connections.ts';
import { type HistoryResult, runHistory } from './history.ts';

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

function live(seed: number, bugName?: string): Promise<HistoryResult> {
  return runHistory({ seed, connections, tables, ...(bugName === undefined ? {} : { bugName }) });
}

/** Two chains joined by CCTP with deposits and signatures, a restored backup, and a reorg below finality. */
const telling = [3, 7, 90];

test('the same seed lives the same history, whatever was lived before', async () => {
  const first: HistoryResult[] = [];
  for (const seed of telling) first.push(await live(seed));
  const again: HistoryResult[] = [];
  for (const seed of telling.toReversed()) again.push(await live(seed));
  assert.deepEqual(again.toReversed(), first);
  assert.deepEqual(
    first.map(({ problems }) => problems),
    [[], [], []],
  );
  assert.equal(new Set(first.map(({ traceHash }) => traceHash)).size, telling.length);
});

test('acting before a payment is final is caught within some histories', async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= 20 && problems.length === 0; seed += 1) {
    problems.push(...(await live(seed, 'zero-confirmations')).problems);
  }
  assert.match(problems.join('\n'), /before the (payment|settlement) was final|more than once|paid on chain/);
});

test('every seeded bug still fits the source that it changes', async () => {
  for (const [name, patches] of Object.entries(bugPatches)) {
    assert.ok(bugs[name] !== undefined, name);
    for (const { file } of patches) {
      const text = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
      assert.notEqual(patched(file, text, patches), text, name);
    }
  }
});

test('a patch that does not fit is refused', () => {
  const patches = [{ file: 'a.ts', from: 'never there', to: '' }];
  assert.throws(() => patched('a.ts', 'something else', patches), /does not fit a\.ts any more/);
});
