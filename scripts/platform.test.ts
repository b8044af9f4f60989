import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';

interface PlatformPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}
interface Platform {
  checkAnvil(path: string): void;
  findAnvil(searchPath: string): string | undefined;
  isAnvilEnough(said: string): boolean;
  isPresent(modules: string, wanted: PlatformPackage): boolean;
  placePackages(
    modules: string,
    packages: readonly PlatformPackage[],
    download: (specs: readonly string[], folder: string) => void,
    options?: { isFree?: Promise<void>; use?: (folder: string) => Promise<void> },
  ): Promise<void>;
}
const load = createRequire(import.meta.url);
const { checkAnvil, findAnvil, isAnvilEnough, isPresent, placePackages }: Platform = load('./platform.cjs');
const table: Record<string, Record<string, PlatformPackage>> = load('./platform-packages.json');
const { packages: locked }: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } =
  load('../package-lock.json');

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'florin platform '));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** An archive as `npm pack` writes it, and the package that names it. */
const makeArchive = (version: string): { archive: string; wanted: PlatformPackage } => {
  const source = join(folder, `source ${version}`);
  mkdirSync(join(source, 'package', 'bin'), { recursive: true });
  writeFileSync(join(source, 'package', 'package.json'), JSON.stringify({ version }));
  writeFileSync(join(source, 'package', 'bin', 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  const archive = join(folder, `${version}.tgz`);
  execFileSync('tar', ['-czf', archive, '-C', source, 'package']);
  const hash = createHash('sha512').update(readFileSync(archive)).digest('base64');
  return { archive, wanted: { name: '@scope/tool', version, integrity: `sha512-${hash}` } };
};

test('a package is placed complete, with its programs, and replaces another version', async () => {
  const modules = join(folder, 'placed');
  for (const version of ['1.0.0', '1.0.1']) {
    const { archive, wanted } = makeArchive(version);
    assert.equal(isPresent(modules, wanted), false);
    await placePackages(modules, [wanted], (specs, draft) => {
      assert.deepEqual(specs, [`@scope/tool@${version}`]);
      execFileSync('cp', [archive, join(draft, `scope-tool-${version}.tgz`)]);
    });
    assert.equal(isPresent(modules, wanted), true);
    assert.equal(statSync(join(modules, '@scope', 'tool', 'bin', 'tool')).mode & 0o111, 0o111);
    assert.deepEqual(readdirSync(modules), ['@scope']);
  }
});

test('an archive with another hash is refused, and what is there stays', async () => {
  const modules = join(folder, 'refused');
  const { archive, wanted } = makeArchive('2.0.0');
  const copy = (from: string) => (_specs: readonly string[], draft: string) =>
    execFileSync('cp', [from, join(draft, 'scope-tool-2.0.0.tgz')]);
  await placePackages(modules, [wanted], copy(archive));
  writeFileSync(archive, 'other');
  await assert.rejects(
    placePackages(modules, [wanted], copy(archive)),
    /^Error: @scope\/tool@2\.0\.0 is refused: its hash is sha512-/,
  );
  assert.equal(isPresent(modules, wanted), true);
  assert.equal(existsSync(join(modules, '.florin-draft')), false);
});

test('nothing changes in the folder while npm installs there, nor after its installation failed', async () => {
  const modules = join(folder, 'busy');
  const { archive, wanted } = makeArchive('3.0.0');
  const copy = (_specs: readonly string[], draft: string) =>
    execFileSync('cp', [archive, join(draft, 'scope-tool-3.0.0.tgz')]);
  const installed = Promise.withResolvers<void>();
  // It may fail before anything waits for it.
  installed.promise.catch(() => undefined);
  const used = Promise.withResolvers<string>();
  const use = async (programs: string): Promise<void> => used.resolve(programs);
  const placed = placePackages(modules, [wanted], copy, { isFree: installed.promise, use });
  assert.equal(isPresent(await used.promise, wanted), true);
  assert.equal(isPresent(modules, wanted), false);
  installed.reject(new Error('npm install failed'));
  await assert.rejects(placed, /npm install failed/);
  assert.deepEqual(readdirSync(modules), []);
});

test('an anvil of the machine must be of the packaged version or a later one below the next major version', () => {
  const enough = [
    'anvil Version: 1.7.1\nCommit SHA: 0',
    'anvil 1.7.2 (abc)',
    'anvil Version: 1.10.0-v1.10.0',
    'anvil Version: 1.8.0',
  ];
  const less = [
    'anvil Version: 1.7.0',
    'anvil 0.3.0 (5a8bd89)',
    'anvil Version: 2.0.0',
    'forge Version: 1.7.1',
    '',
  ];
  assert.deepEqual(
    enough.map(isAnvilEnough),
    enough.map(() => true),
  );
  assert.deepEqual(
    less.map(isAnvilEnough),
    less.map(() => false),
  );
});

test('the first anvil that suffices is taken from the search path, and one that is named must suffice', () => {
  const place = (name: string, version: string): string => {
    const path = join(folder, name, 'anvil');
    mkdirSync(join(folder, name));
    writeFileSync(path, `#!/bin/sh\necho "anvil Version: ${version}"\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const [old, fine] = [place('old bin', '1.2.3'), place('new bin', '1.9.0')];
  const search = (...names: string[]) => findAnvil(names.map((name) => join(folder, name)).join(delimiter));
  assert.equal(search('none', 'old bin', 'new bin'), fine);
  assert.equal(search('none', 'old bin'), undefined);
  checkAnvil(fine);
  assert.throws(
    () => checkAnvil(old),
    /is anvil Version: 1\.2\.3: at least 1\.7\.1 is needed, below 2\.0\.0\.$/,
  );
  assert.throws(
    () => checkAnvil('anvil'),
    /^Error: FLORIN_ANVIL=anvil is not the absolute path of a program\.$/,
  );
});

test('every supported system has its programs, at the same versions', () => {
  assert.deepEqual(Object.keys(table), ['linux-x64', 'linux-arm64', 'darwin-arm64']);
  const versions = new Map<string, Set<string>>();
  for (const kinds of Object.values(table))
    for (const [kind, { version, integrity }] of Object.entries(kinds)) {
      assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
      versions.set(kind, (versions.get(kind) ?? new Set()).add(version));
    }
  assert.deepEqual(
    [...versions].map(([kind, { size }]) => [kind, size]),
    [
      ['node', 1],
      ['anvil', 1],
      ['forge', 1],
      ['postgres', 1],
      ['solc', 1],
    ],
  );
});

test('the lockfile has what its packages need on each supported system', () => {
  const names = Object.values(locked).flatMap(({ optionalDependencies = {} }) =>
    Object.entries(optionalDependencies).filter(([name]) =>
      /(?:linux-x64|linux-arm64|darwin-arm64)(?:-gnu)?$/.test(name),
    ),
  );
  assert.ok(names.length > 20);
  const isLocked = (name: string) =>
    Object.keys(locked).some((path) => path.endsWith(`node_modules/${name}`));
  assert.deepEqual(
    names.map(([name]) => name).filter((name) => !isLocked(name)),
    [],
  );
});
