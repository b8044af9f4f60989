import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
const platforms = JSON.parse(read('scripts/platform-packages.json')) as Record<
  string,
  { node?: { version: string } }
>;
const [packaged] = (platforms['linux-x64']?.node?.version ?? '').split('.');

test('every document names the same two Node.js versions: the one that starts Florin, and the one that runs it', () => {
  const [, oldest] = /^>=(\d+)$/.exec(engines.node) ?? [];
  assert.ok(oldest !== undefined && packaged !== undefined);
  const pages = ['*.md', 'docs/**/*.md', 'packages/agent/skills/**/*.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  const said = pages.flatMap((path) =>
    [...read(path).matchAll(/Node(?:\.js)?\s(\d+)(\sor\s(?:newer|later))?/g)].map(([, number, isLeast]) => {
      const wanted = isLeast === undefined ? packaged : oldest;
      return { path, number, wanted };
    }),
  );
  assert.ok(said.length > 0);
  assert.deepEqual(
    said.filter(({ number, wanted }) => number !== wanted),
    [],
  );
});

test('the workflows run the Node.js that releases bring along', () => {
  const named = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((path) =>
    [...read(path).matchAll(/node-version: (\d+)/g)].map(([, number]) => number),
  );
  assert.deepEqual(new Set(named), new Set([packaged]));
});
