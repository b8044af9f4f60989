import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTestApi } from './api.fixture.ts';

const order = ['reports', 'create', '--type', 'fees', '--from', '1', '--to', '2030-01-31T00:00:00Z'];

test('a report is awaited, and its file is written', async () => {
  let reads = 0;
  await using api = await openTestApi(({ method, path }, response) => {
    if (path === '/file') return response.end('a,b\n1,2\n');
    if (method === 'POST') return { reportId: 'rpt_1', status: 'pending' };
    reads += 1;
    const status = reads < 3 ? 'pending' : 'ready';
    return { reportId: 'rpt_1', status, rows: 1, reason: '', url: `${api.url}/file` };
  });
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_x' };
  const { exitCode, stdout, stderr } = await api.run([...order, '--output', 'fees.csv'], { environment });
  assert.deepEqual([exitCode, stdout, stderr], [0, '1 rows in fees.csv\n', '']);
  assert.equal(readFileSync(join(api.folder, 'fees.csv'), 'utf8'), 'a,b\n1,2\n');
  assert.deepEqual(api.seen[0]?.body, { type: 'fees', from: 1, to: 1_896_048_000, format: 'csv' });
});

test('a report that fails says why', async () => {
  await using api = await openTestApi(({ method }) =>
    method === 'POST'
      ? { reportId: 'rpt_1', status: 'pending' }
      : { reportId: 'rpt_1', status: 'failed', rows: 0, reason: 'too large', url: '' },
  );
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_x' };
  const { exitCode, stderr } = await api.run(order, { environment });
  assert.deepEqual([exitCode, stderr.trim()], [1, 'rpt_1 failed: too large']);
});
