import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../test/processes.ts';

/** The manifests against the types of Kubernetes: no cluster was there to try probes, budgets and the service. */

const packages = ['kubernetes-models@5.1.0', 'yaml@2.9.1'];
const folder = mkdtempSync(join(tmpdir(), 'florin-kubernetes-'));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

before(() => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync('npm', ['install', ...flags, ...packages], { stdio: ['ignore', 'ignore', 'inherit'] });
});
after(() => rmSync(folder, { recursive: true }));

function readManifests(): readonly Manifest[] {
  const { parseAllDocuments } = createRequire(join(folder, 'package.json'))('yaml');
  const text = readFileSync(join(root, 'deploy/kubernetes/florin.yaml'), 'utf8');
  const documents: { toJSON(): Manifest | null }[] = parseAllDocuments(text);
  return documents.flatMap((document) => document.toJSON() ?? []);
}

/** What the compiler says of each object; empty when all have the members that Kubernetes knows, and no others. */
function mistakesIn(manifests: readonly Manifest[]): string {
  for (const [index, manifest] of manifests.entries()) {
    const { apiVersion, kind } = manifest;
    const text = `import type { I${kind} } from 'kubernetes-models/${apiVersion}/${kind}';\nexport const given: I${kind} = ${JSON.stringify(manifest)};\n`;
    writeFileSync(join(folder, `object-${index}.ts`), text);
  }
  const files = manifests.map((_manifest, index) => `object-${index}.ts`);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
  ];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [compiler, ...options, ...files], { cwd: folder, encoding: 'utf8' })
    .stdout;
}

test('every manifest has the members that Kubernetes knows, and a misspelt one is noticed', () => {
  const manifests = readManifests();
  assert.deepEqual(Object.keys(Object.groupBy(manifests, ({ kind }) => kind)).sort(), [
    'Deployment',
    'PodDisruptionBudget',
    'Service',
  ]);
  assert.equal(mistakesIn(manifests), '');
  for (const [right, wrong] of [
    ['livenessProbe', 'livenesProbe'],
    ['minAvailable', 'minAvailabel'],
    ['readOnlyRootFilesystem', 'readOnlyRootFileSystem'],
    ['targetPort', 'targetport'],
  ] as const) {
    const broken = JSON.parse(JSON.stringify(manifests).replaceAll(right, wrong));
    assert.match(mistakesIn(broken), new RegExp(wrong), wrong);
  }
});

/** The commands in the head of the manifests, each on one line. */
function headCommands(): string[] {
  const text = readFileSync(join(root, 'deploy/kubernetes/florin.yaml'), 'utf8');
  const lines = text.split('\n').flatMap((line) => /^# {3}(\s*\S.*)$/.exec(line)?.[1] ?? []);
  return lines
    .join('\n')
    .replaceAll(/ *\\\n\s*/g, ' ')
    .split('\n');
}

test('the commands in the head of the manifests make every file that the pods read', (context) => {
  if (spawnSync('kubectl', ['version', '--client']).status !== 0)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'kubernetes-client']);
  if (spawnSync('kubectl', ['version', '--client']).status !== 0)
    return context.skip('kubectl cannot be installed here');
  const creates = headCommands().filter((command) =>
    /^kubectl .*\bcreate (configmap|secret)\b/.test(command),
  );
  assert.equal(creates.length, 2);
  mkdirSync(join(folder, 'secrets'));
  for (const [, file = ''] of creates.join(' ').matchAll(/=(secrets\/\S+)/g))
    writeFileSync(join(folder, file), '');
  // Without a cluster: what each would send to it.
  const env = { ...process.env, KUBECONFIG: '/dev/null' };
  const made = creates.map((command) => {
    const text = execFileSync('sh', ['-ec', `${command} --dry-run=client -o json`], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return JSON.parse(text) as Manifest & { metadata: { name: string }; data: Record<string, string> };
  });
  const manifests = JSON.stringify(readManifests());
  const read = new Set(
    [...manifests.matchAll(/"\/etc\/florin-secrets\/([^"]+)"/g)].map(([, name = '']) => name),
  );
  assert.ok(read.size >= 6);
  assert.deepEqual(
    made.map(({ kind, metadata, data }) => [kind, metadata.name, Object.keys(data).sort()]),
    [
      ['ConfigMap', 'florin', ['florin.json']],
      ['Secret', 'florin-secrets', [...read].sort()],
    ],
  );
});
