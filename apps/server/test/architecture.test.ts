import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { advisoryLocks } from '#db/advisory-lock.ts';

/** The rooms of apps/server/src, left to right, and the process. A file imports its own room and rooms to its left, nothing else. */
const rooms = [
  'outside',
  'telemetry',
  'db',
  'backup',
  'ledger',
  'chains',
  'contracts',
  'webhooks',
  'merchants',
  'members',
  'catalog',
  'links',
  'orders',
  'sessions',
  'authorizations',
  'exceptions',
  'payments',
  'settlement',
  'refunds',
  'reports',
  'mail',
  'submissions',
  'deposits',
  'x402',
  'reconcile',
  'http',
  'service',
  'config',
  'start',
  'build.ts',
  'documents.ts',
  'operator.ts',
  'parts.ts',
  'main.ts',
];

const root = fileURLToPath(new URL('../src/', import.meta.url));
const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts')).sort();
const sources = new Map<string, string>();
for (const file of files) sources.set(file, await readFile(`${root}${file}`, 'utf8'));
const production = files.filter((file) => !file.endsWith('.test.ts'));

/** The room of a file. */
function roomOf(file: string): string {
  return file.split('/')[0] ?? file;
}

/** The targets of a file's imports that lie in apps/server/src, as paths below it. */
function importsOf(file: string): string[] {
  const text = sources.get(file) ?? '';
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('#')) return [specifier.slice(1)];
    if (!specifier.startsWith('.')) return [];
    const target = fileURLToPath(new URL(specifier, `file://${root}${file}`));
    return target.startsWith(root)
      ? [target.slice(root.length)]
      : [`outside of apps/server/src: ${specifier}`];
  });
}

function code(file: string): string {
  return (sources.get(file) ?? '').replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

test('every file is in a known room', () => {
  assert.deepEqual(
    files.filter((file) => !rooms.includes(roomOf(file))),
    [],
  );
});

test('imports go one way, from right to left', () => {
  const wrong = production.flatMap((file) =>
    importsOf(file)
      .filter(
        (target) =>
          !(
            rooms.indexOf(roomOf(target)) >= 0 && rooms.indexOf(roomOf(target)) <= rooms.indexOf(roomOf(file))
          ),
      )
      .map((target) => `${file} -> ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('no circle of files: no file imports itself through others, types included', async () => {
  const repository = new URL('../../../', import.meta.url);
  const found = ['apps', 'packages'].map(async (workspaces) => {
    const names = await readdir(new URL(`${workspaces}/`, repository));
    return names.flatMap((name) => ['src', 'test'].map((part) => `${workspaces}/${name}/${part}/`));
  });
  for (const path of [...(await Promise.all(found)).flat(), 'world/src/', 'lab/']) {
    const folder = new URL(path, repository);
    if (existsSync(folder)) assert.deepEqual(await circlesBelow(folder), [], path);
  }
});

/** The circles of files below a folder, each with the files on it; `#x` is the folder's `x`. */
async function circlesBelow(folder: URL): Promise<string[]> {
  const listed = await readdir(folder, { recursive: true });
  const imports = new Map<string, readonly string[]>();
  for (const file of listed
    .filter((each) => /\.tsx?$/.test(each) && !/node_modules|ponder\//.test(each))
    .sort()) {
    const text = await readFile(new URL(file, folder), 'utf8');
    imports.set(
      file,
      [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, specifier = '']) => {
        if (specifier.startsWith('#')) return [specifier.slice(1)];
        if (!specifier.startsWith('.')) return [];
        const target = new URL(specifier, new URL(file, folder)).href;
        return target.startsWith(folder.href) ? [decodeURI(target.slice(folder.href.length))] : [];
      }),
    );
  }
  const circles: string[] = [];
  const isDone = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(' -> '));
    if (start >= 0 || isDone.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    isDone.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return circles;
}

// `operations` is no door: it has the routes that two doors share.
/** Packages that take memory, and that a process without such requests or settings never needs. */
const onDemand = [
  '@aws-sdk/client-s3',
  '@florin/mcp',
  '@modelcontextprotocol/server',
  '@opentelemetry/sdk-trace',
  'better-auth',
  'nodemailer',
  'prom-client',
  'sharp',
];

/** The packages that a file loads at once, and through its own imports. */
function packagesLoadedBy(...entries: string[]): string[] {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    const atOnce = [...code(file).matchAll(/^(?:import|export)\b(?!\s+type\b)[^;]*?'([^']+)';$/gm)];
    const named = new Set(atOnce.map((match) => match[1] ?? ''));
    for (const name of named) if (!/^[#.]|^node:/.test(name)) packages.add(name);
    const own = importsOf(file).filter((target) => sources.has(target));
    for (const target of own) if (isNamed(named, file, target)) visit(target);
  };
  for (const entry of entries) visit(entry);
  return [...packages];
}

function isNamed(named: ReadonlySet<string>, file: string, target: string): boolean {
  return [...named].some(
    (name) =>
      name === `#${target}` ||
      (name.startsWith('.') && fileURLToPath(new URL(name, `file://${root}${file}`)) === `${root}${target}`),
  );
}

test('no role loads what few requests and settings need', () => {
  const atOnce = packagesLoadedBy('main.ts', 'service/web-role.ts', 'service/work.ts');
  assert.deepEqual(
    atOnce.filter((name) => onDemand.some((heavy) => name === heavy || name.startsWith(`${heavy}/`))),
    [],
  );
  assert.ok(packagesLoadedBy('service/web-role.ts').includes('fastify'));
  assert.ok(!packagesLoadedBy('main.ts', 'service/work.ts').includes('fastify'), 'only the role web answers');
});

test('one door never imports another', () => {
  const doorOf = (file: string) => /^http\/(?!operations\/)([^/]+)\//.exec(file)?.[1];
  const wrong = production.flatMap((file) =>
    importsOf(file)
      .filter(
        (target) =>
          doorOf(file) !== undefined && doorOf(target) !== undefined && doorOf(file) !== doorOf(target),
      )
      .map((target) => `${file} -> ${target}`),
  );
  assert.deepEqual(wrong, []);
});

// Of `parts.ts` the benchmarks take the statements that they measure.
test('statements are private to their room', () => {
  const wrong = production
    .filter((file) => file !== 'parts.ts')
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => target.endsWith('.sql.ts') && roomOf(target) !== roomOf(file))
        .map((target) => `${file} -> ${target}`),
    );
  assert.deepEqual(wrong, []);
});

test('transition tables import nothing but the protocol', () => {
  const wrong = production.filter((file) => file.endsWith('.machine.ts')).flatMap((file) => importsOf(file));
  assert.deepEqual(wrong, []);
});

test('advisory locks are taken only under keys of the registry', async () => {
  const isTaken = /pg_\w*advisory\w*/;
  assert.deepEqual(
    production.filter((file) => file !== 'db/advisory-lock.ts' && isTaken.test(code(file))),
    [],
  );
  // A function in the database spells a key out; its text begins as the registry says.
  const keys = Object.values(advisoryLocks).map(({ key }) => `(hashtextextended('${key}'`);
  const folder = new URL('../src/db/migrations/', import.meta.url);
  for (const file of await readdir(folder)) {
    const text = (await readFile(new URL(file, folder), 'utf8')).replace(/^\s*--.*$/gm, '');
    for (const [, key = ''] of text.matchAll(/pg_\w*advisory\w*(.*)/g))
      assert.ok(
        keys.some((known) => key.startsWith(known)),
        `${file} takes a lock under ${key}`,
      );
  }
});

/** Adapters: the only files that may touch the clock, chance or the network of the machine. */
const adapters = new Set([
  'outside/clock.ts',
  'outside/random.ts',
  'outside/process-name.ts',
  'outside/egress.ts',
  'main.ts',
]);
const forbidden =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bsetInterval\b|\bfetch\(|\brandomUUID\b|import \{[^}]*\brandomBytes\b[^}]*\} from 'node:crypto'/;

for (const [name, below] of [
  ['pg', /@florin\//],
  ['evm', /@florin\/(?!signing|pg)/],
] as const) {
  test(`packages/${name} knows nothing of the product`, async () => {
    const folder = new URL(`../../../packages/${name}/src/`, import.meta.url);
    const wrong: string[] = [];
    for (const file of (await readdir(folder, { recursive: true })).filter((each) => /\.ts$/.test(each))) {
      const text = await readFile(new URL(file, folder), 'utf8');
      const isOfProduct = below.test(text) || /'#[a-z]|merchant|payment|payer|checkout|settle/i.test(text);
      if (!/test/.test(file) && isOfProduct) wrong.push(file);
    }
    assert.deepEqual(wrong, []);
  });
}

test('packages/evm gets time and randomness as parameters', async () => {
  const folder = new URL('../../../packages/evm/src/', import.meta.url);
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((each) => /\.ts$/.test(each) && !/test/.test(each)))
    assert.doesNotMatch(await readFile(new URL(file, folder), 'utf8'), forbidden, file);
});

test('time, randomness and the network are parameters outside adapters', () => {
  assert.deepEqual(
    production.filter((file) => !adapters.has(file) && forbidden.test(code(file))),
    [],
  );
});

test('only main.ts uses process', () => {
  assert.deepEqual(
    production.filter(
      (file) =>
        file !== 'main.ts' &&
        file !== 'outside/process-name.ts' &&
        /\bprocess\.(env|exit|on|kill|argv)\b/.test(code(file)),
    ),
    [],
  );
});

test('there are no barrels, catch-all folders or layers', () => {
  assert.deepEqual(
    files.filter(
      (file) =>
        /(^|\/)(index|utils|helpers|common)(?:\/|\.ts$)|(service|manager|repository|dto)\.ts$/.test(file) &&
        file !== 'service/service.ts',
    ),
    [],
  );
});

test('no source file is longer than 400 lines', () => {
  assert.deepEqual(
    production.filter((file) => (sources.get(file) ?? '').split('\n').length > 401),
    [],
  );
});

test('tests of the contracts deploy what the optimizer made of them', async () => {
  // `new` would take the code of the tests' own compilation, which has no optimizer.
  const contracts = new URL('../../../contracts/', import.meta.url);
  const solidityIn = async (folder: string): Promise<string[]> =>
    (await readdir(new URL(folder, contracts), { recursive: true })).filter((name) => name.endsWith('.sol'));
  const deployed = (await solidityIn('src/')).flatMap((name) => /^(\w+)\.sol$/.exec(name)?.[1] ?? []);
  assert.ok(deployed.includes('PaymentGateway'));
  const created = new RegExp(
    `\\bnew (${deployed.join('|')})\\b|\\btype\\((${deployed.join('|')})\\)\\.creationCode`,
  );
  const wrong: string[] = [];
  for (const name of await solidityIn('test/'))
    if (created.test(await readFile(new URL(`test/${name}`, contracts), 'utf8'))) wrong.push(name);
  assert.deepEqual(wrong, []);
});
