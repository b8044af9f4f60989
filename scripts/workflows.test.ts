import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../', import.meta.url);
const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(new URL(path, root), 'utf8'),
}));

// A tag can be moved to other code, which would then run with the rights of a release.
test('workflows name the actions of others by their commit, with the version beside it', () => {
  const used = workflows.flatMap(({ text }) =>
    [...text.matchAll(/uses: *(.*)/g)].map(([, name = '']) => name),
  );
  assert.ok(used.length > 8);
  assert.deepEqual(
    used.filter((name) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name)),
    [],
  );
});

test('workflows may read alone, unless a job says otherwise, and leave no credentials in the checkout', () => {
  for (const { path, text } of workflows) {
    assert.match(text, /^permissions: \{ contents: read \}$/m, path);
    const count = (part: string) => text.split(part).length - 1;
    assert.equal(count('persist-credentials: false'), count('actions/checkout@'), path);
  }
});
