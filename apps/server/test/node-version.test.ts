import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const enginesOf = (path: string) =>
  (JSON.parse(read(path)) as { engines: { node: string } }).engines.node.replace(/^>=/, '');
const [oldest, ofPackages] = [enginesOf('package.json'), enginesOf('apps/cli/package.json')];
const platforms = JSON.parse(read('scripts/platform-packages.json')) as Record<
  string,
  { node?: { version: string } }
>;
const [packaged] = (platforms['linux-x64']?.node?.version ?? '').split('.');

test('documents name three Node.js versions: the oldest for the packages, the oldest that starts Florin, and the one that runs it', () => {
  assert.ok(packaged !== undefined);
  const places = ['*.md', 'docs/**/*.md', 'examples/**/README.md', '{apps,packages,plugins}/**/*.md'];
  const exclude = ['**/node_modules/**', '**/dist/**'];
  const pages = places.flatMap((pattern) => globSync(pattern, { cwd: root, exclude }));
  const said = pages.flatMap((path) =>
    [...read(path).matchAll(/Node(?:\.js)?\s(\d+(?:\.\d+)?)(\sor\s(?:newer|later))?/g)].map(
      ([, number, isLeast]) => {
        const least = number === ofPackages ? ofPackages : oldest;
        const wanted = isLeast === undefined ? packaged : least;
        return { path, number, wanted };
      },
    ),
  );
  assert.ok(said.length > 0);
  assert.deepEqual(
    said.filter(({ number, wanted }) => number !== wanted),
    [],
  );
});

test('every package for other projects, and every example, says the same of Node.js as the documents', () => {
  const exclude = ['**/node_modules/**'];
  const published = ['sdk', 'react', 'agent'].map((name) => `packages/${name}/package.json`);
  for (const path of [...published, 'plugins/vendure/package.json'])
    assert.equal(enginesOf(path), ofPackages, path);
  for (const path of globSync('examples/*/package.json', { cwd: root, exclude })) {
    assert.equal(enginesOf(path), packaged, path);
    assert.match(
      read(path.replace('package.json', 'README.md')),
      new RegExp(`Node\\.js ${packaged} and the local`),
    );
  }
});

test('the workflows run the Node.js that releases bring along', () => {
  const named = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((path) =>
    [...read(path).matchAll(/node-version: (\d+)/g)].map(([, number]) => number),
  );
  assert.deepEqual(new Set(named), new Set([packaged]));
});
