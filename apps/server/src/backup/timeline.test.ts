import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { systemClock } from '#outside/clock.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { recordingLog } from '../../test/harness/toy-server.ts';
import { timelineWatch } from './timeline.ts';

const addChains = statement({
  name: 'test_timeline_chains',
  parameters: { at: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at, stopped_reason)
   values (1, 20, '', :at, 9, '', :at, :at, ''), (2, 30, '', :at, 8, '', :at, :at, 'drift')`,
});
const release = statement({
  name: 'test_timeline_release',
  text: `update chain_cursors set stopped_reason = '' where stopped_reason = 'restored'`,
});
const stopped = statement({
  name: 'test_timeline_stopped',
  columns: { reasons: 'text[]', restorations: 'int8' },
  text: `select (select array_agg(stopped_reason order by chain_id) from chain_cursors) as reasons,
     (select count(*) from restorations) as restorations`,
});
const cursors = statement({
  name: 'test_timeline_cursors',
  columns: { taken_at: 'timestamptz', cursors: 'jsonb' },
  text: 'select taken_at, cursors from restorations order by restoration_id limit 1',
});
const pretend = statement({
  name: 'test_timeline_pretend',
  parameters: { timeline: 'text', seenAt: 'timestamptz' },
  text: 'update database_timeline set timeline = :timeline, seen_at = :seenAt',
});
const goBack = statement({
  name: 'test_timeline_back',
  parameters: { beat: 'int8' },
  text: 'update database_timeline set beat = :beat',
});
const forget = statement({
  name: 'test_timeline_forget',
  text: 'delete from database_timeline',
});

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  await database.db.query(addChains, { at: systemClock.now() });
});
after(() => database.close());

function watched() {
  const log = recordingLog();
  return { log, watch: timelineWatch({ db: database.db, clock: systemClock, log }) };
}
const state = async () => (await database.db.query(stopped))[0];

test('a history that goes on stops nothing, with two processes and after a restart', async () => {
  const [one, other] = [watched(), watched()];
  for (const { watch } of [one, other, one, one, other]) await watch.check();
  await watched().watch.check();
  assert.deepEqual(await state(), { reasons: ['', 'drift'], restorations: 0n });
  assert.deepEqual([one.log.errors, other.log.errors], [[], []]);
});

test('after a failover or a restore every chain stops once, until books and chain agree', async () => {
  const seenAt = new Date('2030-01-01T00:00:00Z');
  const [one, other] = [watched(), watched()];
  for (const { watch } of [one, other]) await watch.check();
  await database.db.query(pretend, { timeline: '000000FE', seenAt });
  await one.watch.check();
  assert.deepEqual(await state(), { reasons: ['restored', 'drift'], restorations: 1n });
  assert.deepEqual(await database.db.query(cursors), [
    {
      taken_at: seenAt,
      cursors: [
        { chainId: 1, headNumber: '20', finalNumber: '9' },
        { chainId: 2, headNumber: '30', finalNumber: '8' },
      ],
    },
  ]);
  await database.db.query(release);
  for (const { watch } of [one, other, watched()]) await watch.check();
  assert.deepEqual(await state(), { reasons: ['', 'drift'], restorations: 1n });
  assert.deepEqual([one.log.errors.length, other.log.errors.length], [1, 0]);
});

test('an older copy on the same timeline is noticed by the processes that knew the newer one', async () => {
  const { log, watch } = watched();
  for (let times = 0; times < 3; times += 1) await watch.check();
  await database.db.query(goBack, { beat: 1n });
  await watch.check();
  assert.deepEqual(await state(), { reasons: ['restored', 'drift'], restorations: 2n });
  await database.db.query(release);
  await watch.check();
  await database.db.query(forget);
  await watch.check();
  assert.deepEqual(await state(), { reasons: ['restored', 'drift'], restorations: 3n });
  assert.equal(log.errors.length, 2);
});
