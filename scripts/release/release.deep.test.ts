import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandConfig, emptyDatabase } from '@florin/server/testing';
import { findFreePort } from '@florin/world';
import { node, nodeFlags, root } from '../test/processes.ts';
import { fetchBaseImage, findPodman, type Podman } from './podman.ts';

const mebibyte = 1024 * 1024;
/** Goals of a release, on any machine. */
// The goal is 165 MiB; runs on one machine differ by some ten.
const most = { folderMiB: 250, imageBytes: 250_000_000, restMiB: 180 };

let folder = '';
let release = '';
let database: Awaited<ReturnType<typeof emptyDatabase>>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-release-'));
  await chmod(folder, 0o755);
  database = await emptyDatabase();
  // The release to judge, or one that is built here.
  const built = process.env['FLORIN_RELEASE'];
  if (built === undefined)
    execFileSync(node, [...nodeFlags, 'scripts/release.ts', '--no-archive'], { cwd: root, stdio: 'inherit' });
  release = built ?? join(root, globSync('dist/florin-*-*-*/', { cwd: root })[0] ?? '');
});
after(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A configuration of a local installation whose chains do not answer: the service starts, and waits for them. */
async function writeConfig(port: number): Promise<string> {
  const file = join(folder, `${port}.json`);
  const config = { ...commandConfig(database.url, { all: [] } as never), origin: `http://127.0.0.1:${port}` };
  const chain = {
    ...{ name: 'base', chainId: '8453', startBlock: '0', rpcUrls: ['http://127.0.0.1:1'] },
    gateway: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    vault: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    tokens: [
      {
        ...{ tokenId: 'base::usdc', name: 'USD Coin', symbol: 'USDC', decimals: 6 },
        address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      },
    ],
  };
  writeFileSync(file, JSON.stringify({ ...config, chains: [chain] }), { mode: 0o600 });
  return file;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Time until the process is ready, in milliseconds. */
async function untilReady(child: ChildProcess, url: string): Promise<number> {
  const begin = performance.now();
  for (;;) {
    assert.equal(child.exitCode, null, 'the process has ended');
    if (await isReady(url)) return performance.now() - begin;
    await sleep(20);
  }
}

function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function restOf(pid: number): number {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

test('a release serves everything by itself: no npm, no builder, no child process', async () => {
  const size = bytesIn(release) / mebibyte;
  assert.ok(size < most.folderMiB, `${size} MiB`);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...{ PATH: '/usr/bin:/bin', FLORIN_CONFIG: await writeConfig(port), FLORIN_PORT: String(port) },
    ...{ FLORIN_LOG_LEVEL: 'warn' },
  };
  const florin = join(release, 'bin/florin');
  const migrated = spawnSync(florin, ['migrate'], { env, encoding: 'utf8' });
  assert.equal(migrated.status, 0, migrated.stderr);
  const child = spawn(florin, ['serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const { pid = 0 } = child;
  try {
    const readyMs = await untilReady(child, url);
    for (const [path, part] of [
      ['/docs', 'Florin'],
      ['/docs/runbook/production.md', '# '],
      ['/dashboard', '<script'],
      ['/', '<title>'],
    ] as const) {
      const response = await fetch(`${url}${path}`, { headers: { accept: 'text/html' } });
      assert.equal(response.status, 200, path);
      assert.ok((await response.text()).includes(part), path);
    }
    await sleep(5_000);
    assert.equal(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), '');
    const rest = restOf(pid);
    console.log(
      `release: ${size.toFixed(0)} MiB, ready in ${readyMs.toFixed(0)} ms, ${rest.toFixed(0)} MiB at rest`,
    );
    assert.ok(rest < most.restMiB, `${rest} MiB at rest`);
  } finally {
    child.kill('SIGTERM');
  }
  assert.equal(child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve))), 0);
});

test('help of a release speaks of florin, and its commands run', () => {
  const florin = join(release, 'bin/florin');
  const help = execFileSync(florin, ['help'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
  assert.match(help, /^Usage: florin /);
});

test('the image runs as a user without rights on a read-only file system, and stops at once', async (context) => {
  const { podman } = findPodman(folder) ?? {};
  if (podman === undefined) return context.skip('podman cannot run here');
  fetchBaseImage(podman, folder);
  podman(
    ...['build', '--format', 'docker', '--network', 'host', '-t', 'localhost/florin:latest'],
    ...['-f', join(release, 'deploy/Containerfile'), release],
  );
  const bytes = Number(podman('image', 'inspect', '--format', '{{.Size}}', 'localhost/florin:latest'));
  assert.ok(bytes < most.imageBytes, `${bytes} bytes`);
  const port = await findFreePort();
  const monitoringPort = port + 1;
  const settings = join(folder, 'etc');
  await mkdir(settings);
  writeFileSync(join(settings, 'florin.json'), readFileSync(await writeConfig(port)));
  execFileSync('chown', ['-R', '10001:10001', settings]);
  const name = `florin-test-${process.pid}`;
  podman(
    ...['run', '-d', '--name', name, '--network', 'host', '--read-only', '--tmpfs', '/tmp'],
    ...['--cap-drop', 'all', '--security-opt', 'no-new-privileges', '-v', `${settings}:/etc/florin:ro`],
    ...['-e', `FLORIN_PORT=${port}`, '-e', `FLORIN_MONITORING_PORT=${monitoringPort}`],
    // The search for free ports holds them on another address of this machine.
    ...['-e', 'FLORIN_HOST=127.0.0.1', '-e', 'FLORIN_MONITORING_HOST=127.0.0.1'],
    'localhost/florin:latest',
  );
  try {
    const begin = performance.now();
    const url = `http://127.0.0.1:${port}`;
    while (!(await isReady(url))) {
      if (performance.now() - begin > 120_000) assert.fail(podman('logs', name));
      await sleep(50);
    }
    const readyMs = performance.now() - begin;
    assert.equal(spawnSync('podman', ['healthcheck', 'run', name]).status, 0);
    const process1 = podman('exec', name, '/opt/florin/bin/node', '-p', 'process.getuid()');
    assert.equal(process1, '10001');
    assert.throws(() => podman('exec', name, '/bin/sh', '-c', 'echo x > /opt/florin/x'));
    const status = podman(
      'exec',
      name,
      '/bin/sh',
      '-c',
      'while read -r line; do echo "$line"; done < /proc/1/status',
    );
    assert.match(status, /CapEff:\s+0{16}/);
    assert.match(status, /NoNewPrivs:\s+1/);
    const stopping = performance.now();
    podman('stop', '-t', '20', name);
    console.log(
      `image: ${(bytes / mebibyte).toFixed(0)} MiB, ready in ${readyMs.toFixed(0)} ms, stopped in ${(performance.now() - stopping).toFixed(0)} ms`,
    );
  } finally {
    spawnSync('podman', ['rm', '-f', name]);
  }
});

/** The lines of a manifest's part that podman can run: it publishes no ports of the host's network, and has no probes. */
function podmanPart(manifest: string, role: string): string {
  const part = manifest.split('\n---\n').find((each) => each.includes(`name: florin-${role}\n`));
  assert.ok(part !== undefined, role);
  return part.replace(/ports:\n[\s\S]*?(?=resources:)/, '').replace('replicas: 2', 'replicas: 1');
}

/** The Secret of the manifests' head, with keystores that the release makes. */
async function writeSecret(podman: Podman): Promise<string> {
  const secrets = join(folder, 'secrets');
  await mkdir(secrets);
  for (const name of ['order-signer', 'settler']) {
    const [out, password] = [join(secrets, `${name}.json`), join(secrets, `${name}.password`)];
    writeFileSync(password, `a password of ${name}`);
    const args = ['keystore', 'create', '--out', out, '--password-file', password];
    execFileSync(join(release, 'bin/florin'), args);
  }
  writeFileSync(join(secrets, 'database.url'), database.url);
  writeFileSync(join(secrets, 'master.key'), '00'.repeat(32));
  // Podman 4.3 hands on the data of a Secret as they stand, without decoding them.
  const coding = podman('--version').includes(' 4.3.') ? 'utf8' : 'base64';
  const data = Object.fromEntries(
    readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name)).toString(coding)]),
  );
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'florin-secrets' },
    type: 'Opaque',
    data,
  };
  const file = join(folder, 'secret.yaml');
  writeFileSync(file, JSON.stringify(secret));
  return file;
}

/** The ConfigMap, and the Deployment of the role web, with ports that are free here. */
async function writePod(port: number): Promise<string> {
  const config = JSON.parse(readFileSync(await writeConfig(port), 'utf8'));
  for (const name of ['databaseUrl', 'masterKey', 'signer']) delete config[name];
  const map = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'florin' } },
    data: { 'florin.json': JSON.stringify({ ...config, http: { port } }) },
  };
  const manifest = readFileSync(join(release, 'deploy/kubernetes/florin.yaml'), 'utf8');
  const variables = {
    ...{ FLORIN_HOST: '127.0.0.1', FLORIN_MONITORING_HOST: '127.0.0.1' },
    FLORIN_MONITORING_PORT: String(port + 1),
  };
  const lines = Object.entries(variables).map(([name, value]) => `- { name: ${name}, value: '${value}' }\n`);
  const part = podmanPart(manifest, 'web').replace(
    'env:\n',
    `env:\n${lines.map((line) => `            ${line}`).join('')}`,
  );
  const file = join(folder, 'pod.yaml');
  writeFileSync(file, `${JSON.stringify(map)}\n---\n${part}`);
  return file;
}

test('the manifests of Kubernetes run: settings and secrets reach a process without rights', async (context) => {
  const { podman } = findPodman(folder) ?? {};
  if (podman === undefined) return context.skip('podman cannot run here');
  const port = await findFreePort();
  const [secret, pod] = [await writeSecret(podman), await writePod(port)];
  const name = 'florin-web-pod-0-florin';
  podman('secret', 'create', 'florin-secrets', secret);
  try {
    podman('play', 'kube', '--network', 'host', pod);
    const begin = performance.now();
    while (!(await isReady(`http://127.0.0.1:${port}`))) {
      if (performance.now() - begin > 120_000) assert.fail(podman('logs', name));
      await sleep(100);
    }
    const show = 'while read -r line; do echo "$line"; done < /proc/1/status';
    const status = podman('exec', name, '/bin/sh', '-c', show);
    assert.match(status, /^Uid:\s+10001/m);
    assert.match(status, /^CapEff:\s+0{16}$/m);
  } finally {
    podman('play', 'kube', '--down', pod);
    podman('secret', 'rm', 'florin-secrets');
  }
});

test('the unit of systemd is hardened', (context) => {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined)
    return context.skip('systemd-analyze is missing');
  const unit = join(root, 'deploy/systemd/florin@.service');
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], {
    encoding: 'utf8',
  });
  const [, exposure = '10'] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  assert.ok(Number(exposure) < 3, stdout);
  assert.ok(existsSync(unit));
});
