import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runFromNothing, type TimedStep } from './from-nothing.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const mostSeconds = 15 * 60;

test('from nothing to a highly available installation with a paid order takes less than 15 minutes', async () => {
  const begin = performance.now();
  const built = process.env['FLORIN_RELEASE'];
  if (built === undefined)
    execFileSync(
      process.execPath,
      [...process.execArgv.filter((flag) => flag.startsWith('--cond')), 'scripts/release.ts', '--no-archive'],
      { cwd: root },
    );
  const release = built ?? join(root, globSync('dist/florin-*-*-*/', { cwd: root })[0] ?? '');
  const tell = (step: TimedStep) => console.log(`${step.seconds} s: ${step.name}`);
  tell({ name: 'a release', seconds: Math.round((performance.now() - begin) / 100) / 10 });
  await runFromNothing(release, tell);
  const seconds = (performance.now() - begin) / 1_000;
  assert.ok(seconds < mostSeconds, `${seconds} s`);
});
