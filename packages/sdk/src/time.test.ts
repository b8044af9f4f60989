import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { toDate } from './time.ts';

test('a timestamp of the service is UTC in every zone, and one that has not come is undefined', () => {
  const program = `
    import { toDate } from ${JSON.stringify(new URL('time.ts', import.meta.url).href)};
    console.log(toDate('2026-11-28 00:29:41').toISOString());
  `;
  const env = { ...process.env, TZ: 'America/New_York' };
  const args = ['--conditions=source', '--input-type=module', '--eval', program];
  const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  assert.equal(stdout, '2026-11-28T00:29:41.000Z\n');
  assert.deepEqual([toDate(''), toDate(null)], [undefined, undefined]);
  assert.equal(toDate('2026-11-28T00:29:41.123Z')?.getTime(), Date.UTC(2026, 10, 28, 0, 29, 41, 123));
  assert.equal(toDate(1_896_048_000)?.toISOString(), '2030-01-31T00:00:00.000Z');
  for (const wrong of ['yesterday', '2026-11-28', '2026-13-28 00:00:00', Number.NaN])
    assert.throws(() => toDate(wrong), { slug: 'argument_invalid' });
});
