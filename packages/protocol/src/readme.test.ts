import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';

const folder = new URL('../', import.meta.url);

test('the example of the README splits a price, and names a route with its errors', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv, '--input-type=module-typescript', '--eval', example],
    { cwd: folder },
  );
  assert.equal(
    stdout,
    [
      '$4.50 = $4.491 + $0.009',
      '4500000000000000000 units of a token with 18 decimals',
      'GET /payment/v1/session/:sessionId',
      '100201 session_not_found\n',
    ].join('\n'),
  );
});
