import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const script = `
  const { describe } = await import('${new URL('untracked-test.ts', import.meta.url)}');
  const { test } = await import('node:test');
  describe('file', async () => {
    await undefined;
    describe('suite', () => {
      test('test', async (t) => {
        await t.test('part', () => undefined);
      });
    });
    test('with an uncaught error', async () => {
      setTimeout(() => {
        throw new Error('late');
      });
      await new Promise(() => undefined);
    });
    test('with an unhandled rejection', async () => {
      void Promise.reject(new Error('lost'));
      await new Promise(() => undefined);
    });
    test('after them', () => undefined);
  });`;

test('a test finds its suite, and an uncaught error its test, though Node does not follow each promise', async () => {
  const args = ['--test-reporter=tap', '--input-type=module', '--eval', script];
  const run = await promisify(execFile)(process.execPath, args).catch((error) => error);
  const results = String(run.stdout).match(/^ *(?:not )?ok .*$|^ *error: .*$/gm);
  assert.deepEqual(results, [
    '            ok 1 - part',
    '        ok 1 - test',
    '    ok 1 - suite',
    '    not ok 2 - with an uncaught error',
    "      error: 'late'",
    '    not ok 3 - with an unhandled rejection',
    "      error: 'lost'",
    '    ok 4 - after them',
    'not ok 1 - file',
    "  error: '2 subtests failed'",
  ]);
});
