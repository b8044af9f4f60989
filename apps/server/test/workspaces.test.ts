import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** A workspace: its folder, its name, and what its package.json says that it needs. */
interface Workspace {
  readonly folder: string;
  readonly name: string;
  readonly needs: ReadonlySet<string>;
}

const workspaces: readonly Workspace[] = globSync(
  '{packages/*,apps/*,world,lab,lab/conformance}/package.json',
  {
    cwd: root,
  },
).map((path) => {
  const { name, dependencies, devDependencies } = JSON.parse(read(path)) as {
    name: string;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  const needs = new Set([...Object.keys(dependencies ?? {}), ...Object.keys(devDependencies ?? {})]);
  return { folder: posix.dirname(path), name, needs };
});

/** The workspace of a file: the one with the longest folder. */
function workspaceOf(path: string): Workspace | undefined {
  return workspaces
    .filter(({ folder }) => path.startsWith(`${folder}/`))
    .toSorted((one, other) => other.folder.length - one.folder.length)[0];
}

interface Import {
  readonly file: string;
  readonly from: Workspace | undefined;
  readonly specifier: string;
}

const texts = globSync('{packages,apps,world,lab}/**/*.ts', {
  cwd: root,
  exclude: (path) => ['node_modules', 'ponder', 'dist'].some((name) => path.endsWith(name)),
}).map((file) => ({ file, text: read(file) }));

const imports: readonly Import[] = texts.flatMap(({ file, text }) =>
  [...text.matchAll(/^(?:import |(?:import|export|\})[^'\n]* from )'([^']+)'/gm)].map(
    ([, specifier = '']) => ({
      file,
      from: workspaceOf(file),
      specifier,
    }),
  ),
);

function describeImport({ file, specifier }: Import): string {
  return `${file} -> ${specifier}`;
}

test('no file imports a file of another workspace by its path', () => {
  const wrong = imports.filter(({ file, from, specifier }) => {
    if (!specifier.startsWith('.')) return false;
    const target = posix.join(posix.dirname(file), specifier);
    return workspaceOf(target) !== from;
  });
  assert.ok(imports.length > 1_000);
  assert.deepEqual(wrong.map(describeImport), []);
});

test('packages never import apps, the world or the lab', () => {
  const packages = new Set(
    workspaces.filter(({ folder }) => folder.startsWith('packages/')).map(({ name }) => name),
  );
  const wrong = imports.filter(
    ({ from, specifier }) =>
      from !== undefined &&
      packages.has(from.name) &&
      specifier.startsWith('@florin/') &&
      !packages.has(specifier.split('/').slice(0, 2).join('/')),
  );
  assert.deepEqual(wrong.map(describeImport), []);
});

/** Libraries that know no payment; of each other they may know. */
const general = ['pg', 'signing', 'evm', 'outbox'].map((name) => `@florin/${name}`);

test('pg, signing, evm and outbox know nothing of the product', () => {
  const wrong = imports.filter(
    ({ file, from, specifier }) =>
      from !== undefined &&
      general.includes(from.name) &&
      !file.endsWith('.test.ts') &&
      specifier.startsWith('@florin/') &&
      !general.includes(specifier),
  );
  assert.deepEqual(wrong.map(describeImport), []);
});

test('a workspace names every workspace that it imports in its package.json', () => {
  const wrong = imports.filter(({ from, specifier }) => {
    const name = specifier.split('/').slice(0, 2).join('/');
    return name.startsWith('@florin/') && from !== undefined && name !== from.name && !from.needs.has(name);
  });
  assert.deepEqual([...new Set(wrong.map(({ from, specifier }) => `${from?.folder} -> ${specifier}`))], []);
});

/** Types that independent packages declare for themselves, each with the same meaning. */
const sharedTypes = [
  ...[
    'AgentMessage',
    'Clock',
    'DeliveryStatus',
    'Hex',
    'LinkView',
    'Log',
    'Random',
    'RandomBytes',
    'SecretBox',
  ],
  ...['SessionView', 'Webhook', 'ActRequest', 'WorldManifest'],
];

/** The names of `exports` that several files declare, tests excepted. */
function declaredTwice(exports: RegExp, scopeOf: (file: string) => string): string[] {
  const declared = new Map<string, Set<string>>();
  for (const { file, text } of texts) {
    // The SDK's own are generated from the schemas of the same names.
    if (/\/test\/|\.(test|fixture)\.ts$|^packages\/sdk\/src\/wire\.gen\.ts$/.test(file)) continue;
    for (const [, name = ''] of text.matchAll(exports)) {
      const key = `${scopeOf(file)}${name}`;
      declared.set(key, (declared.get(key) ?? new Set()).add(file));
    }
  }
  return [...declared].flatMap(([key, files]) =>
    files.size > 1 ? [`${key}: ${[...files].join(', ')}`] : [],
  );
}

test('an exported name has one meaning: types in the whole repository, values in their workspace', () => {
  const types = declaredTwice(/^export (?:type|interface|(?:abstract )?class) (\w+)/gm, () => '');
  const values = /^export (?:async )?(?:function\*?|const|let) (\w+)/gm;
  assert.deepEqual(
    [
      ...types.filter((line) => !sharedTypes.includes(line.split(':', 1)[0] ?? '')),
      ...declaredTwice(values, (file) => `${workspaceOf(file)?.folder} `),
    ],
    [],
  );
});

test('programs that share no package agree on which hosts are this machine', () => {
  const files = ['packages/sdk/src/florin.ts', 'packages/mcp/src/stdio.ts', 'apps/cli/src/local-world.ts'];
  const patterns = files.map((file) => /\/\^\(127\(.*?\)\$\//.exec(read(file))?.[0]);
  assert.deepEqual(patterns, Array(3).fill(String.raw`/^(127(\.\d{1,3}){3}|localhost|\[::1\])$/`));
});
