import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@florin/server/operator';
import { testDatabase } from '@florin/server/testing';
import { examineReplication, replicationFindings } from './doctor-replication.ts';

const now = new Date('2030-01-01T12:00:00Z');
const facts = {
  ...{ version: '18.1', is_standby: false, timeline: '0000000A', standbys: 1n, synchronous: 'ANY 1 (*)' },
  ...{ archive_mode: 'on', archived_at: new Date('2030-01-01T11:57:00Z'), archive_failed_at: null },
};
const told = (change: Partial<typeof facts> | object) =>
  replicationFindings({ ...facts, ...change }, now).map(
    ({ what, isGood, detail }) => `${isGood ? 'ok' : 'WRONG'} ${what}: ${detail}`,
  );

test('the server, its standbys and its archive are told as they are', async () => {
  assert.deepEqual(told({}), [
    'ok database server: PostgreSQL 18.1, timeline 10',
    'ok standby: 1 connected, commits wait for ANY 1 (*)',
    'ok WAL archive: last written 3 minutes ago',
  ]);
  assert.match(told({ is_standby: true }).join(), /^WRONG database server: is a standby/);
  assert.match(told({ standbys: 0n }).join(), /WRONG standby: none is connected, and commits wait/);
  assert.match(told({ standbys: 0n, synchronous: '' }).join(), /ok standby: there is none/);
  assert.match(told({ synchronous: '' }).join(), /ok standby: 1 connected, none synchronous/);
  assert.match(told({ archive_mode: 'off' }).join(), /ok WAL archive: is off/);
  assert.match(told({ archive_failed_at: now }).join(), /WRONG WAL archive: last failed 0 minutes ago/);
  const database = await testDatabase({ connections: 1 });
  try {
    const found = await examineReplication(database.db, systemClock);
    assert.deepEqual(
      found.map(({ what, isGood }) => [what, isGood]),
      [
        ['database server', true],
        ['standby', true],
        ['WAL archive', true],
      ],
    );
  } finally {
    await database.close();
  }
});
