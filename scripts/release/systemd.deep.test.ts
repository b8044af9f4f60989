import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDatabase, LifeChain } from '@florin/server/testing';
import { findFreePort } from '@florin/world';
import { node, nodeFlags, root } from '../test/processes.ts';
import { fetchBaseImage, findPodman, type Podman } from './podman.ts';

const patienceMs = 300_000;
const unit = 'deploy/systemd/florin@.service';
const image = 'localhost/florin-test-systemd';

/** The image of a machine with Debian and PostgreSQL, and nothing of Florin: what the runbook begins with. */
function buildMachine(podman: Podman, folder: string): void {
  fetchBaseImage(podman, folder);
  const programs = 'systemd systemd-sysv postgresql openssl fonts-dejavu-core';
  const lines = [
    'FROM docker.io/library/debian:bookworm-slim',
    `RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ${programs}`,
    // Its port may be taken on this machine, whose network it shares.
    `RUN echo "listen_addresses = ''" >> /etc/postgresql/15/main/postgresql.conf`,
    'CMD ["/sbin/init"]',
  ];
  const file = join(folder, 'Machine');
  writeFileSync(file, lines.join('\n'));
  podman('build', '--network', 'host', '-t', image, '-f', file, folder);
}

/** The release to judge, or one that is built here. */
function findRelease(): string {
  const built = process.env['FLORIN_RELEASE'];
  if (built !== undefined) return built;
  execFileSync(node, [...nodeFlags, 'scripts/release.ts', '--no-archive'], { cwd: root, stdio: 'inherit' });
  return join(root, globSync('dist/florin-*-*-*/', { cwd: root })[0] ?? '');
}

/** What `florin init` writes, with a port that is free here. */
async function writeSettings(
  release: string,
  folder: string,
  { databaseUrl, port }: { readonly databaseUrl: string; readonly port: number },
): Promise<string> {
  const settings = join(folder, 'etc');
  const life = await LifeChain.start({
    ...{ name: 'base', chainId: 31_337 },
    tokens: [{ symbol: 'usdc', decimals: 6 }],
  });
  const { rpcUrls, gateway, vault, startBlock } = life.chain;
  const [rpc = ''] = rpcUrls;
  const init = (...more: readonly string[]) =>
    execFileSync(join(release, 'bin/florin'), ['init', '--out', settings, ...more]);
  try {
    init(
      ...['--origin', 'https://pay.example.com', '--trusted-proxy', '127.0.0.1'],
      ...['--database-url', databaseUrl],
      ...['--chain', 'base', '--rpc', rpc, '--token', life.token('usdc').address],
    );
    const contracts = { name: 'base', chainId: '31337', gateway, vault, startBlock: String(startBlock) };
    writeFileSync(join(settings, 'base.json'), JSON.stringify(contracts));
    init();
  } finally {
    // The contracts know other keys: without the chain the processes start and wait for it.
    await life.anvil.close();
  }
  const file = join(settings, 'florin.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { http: object };
  writeFileSync(file, JSON.stringify({ ...config, http: { ...config.http, port } }), { mode: 0o600 });
  return settings;
}

/** The commands in the head of the unit. */
function headCommands(): string[] {
  const lines = readFileSync(join(root, unit), 'utf8').split('\n');
  return lines.flatMap((line) => /^# {3}(\S.*)$/.exec(line)?.[1] ?? []);
}

/** The commands of the block of a runbook that has this text, without those that are left out. */
function blockWith(page: string, part: string, leftOut = /^$/): string {
  const text = readFileSync(join(root, 'docs/runbook', page), 'utf8');
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
  const block = blocks.find((each) => each.includes(part));
  assert.ok(block !== undefined, part);
  const lines = block.split('\n').filter((line) => !leftOut.test(line));
  return lines.join('\n').replaceAll('npm run florin -- ', 'florin ');
}

async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  said: () => string,
): Promise<void> {
  const begin = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begin > patienceMs) assert.fail(`${what}: ${said()}`);
    await sleep(500);
  }
}

/** What runs in the machine, and the ways to ask it. */
interface Machine {
  /** Runs a command in it and gives what it said; fails when the command does. */
  readonly inside: (...args: readonly string[]) => string;
  /** What systemd says of a role's unit. */
  readonly stateOf: (role: string, name: string) => string;
  readonly said: () => string;
}

/** Starts the machine, and installs the release on it by the commands of the runbook. */
async function startMachine(podman: Podman, name: string, folder: string, release: string): Promise<Machine> {
  // It shares the network, so that it reaches the database of the test, and may make namespaces as a machine may.
  podman('run', '-d', '--name', name, '--network', 'host', '--systemd=always', '--privileged', image);
  const inside = (...args: readonly string[]) => podman('exec', '--workdir', '/root', name, ...args);
  await until(
    'systemd has not started',
    () => /running|degraded/.test(inside('sh', '-c', 'systemctl is-system-running 2>&1 || true')),
    () => podman('logs', name),
  );
  // As systemd does on a machine: it hands over secrets as mounts, which the processes must see.
  inside('mount', '--make-rshared', '/');
  const install = blockWith('production.md', 'sha256sum', /^gh /);
  const [, archive = ''] = /--file (\S+\.tar\.gz)/.exec(install) ?? [];
  const packed = [
    '--use-compress-program=gzip -1',
    '-cf',
    archive,
    '-C',
    dirname(release),
    basename(release),
  ];
  execFileSync('tar', packed, { cwd: folder });
  execFileSync('sh', ['-c', `sha256sum ${archive} > ${archive}.sha256`], { cwd: folder });
  for (const file of [archive, `${archive}.sha256`]) podman('cp', join(folder, file), `${name}:/root/`);
  assert.match(inside('sh', '-ec', install), /: OK\n[\d.]+$/);
  return {
    inside,
    stateOf: (role, property) =>
      inside('systemctl', 'show', '--value', '--property', property, `florin@${role}`),
    said: () => inside('sh', '-c', "journalctl --no-pager --lines 60 --unit 'florin@*'"),
  };
}

/** Runs the commands of the runbook that make keys and a database. */
function makeKeysAndDatabase({ inside }: Machine): void {
  inside('sh', '-ec', blockWith('production.md', 'openssl'));
  for (const name of ['order-signer', 'settler'])
    assert.match(inside('cat', `${name}.json`), /"version": ?3/);
  const asPostgres = (lines: string) =>
    inside('runuser', '--user', 'postgres', '--', 'sh', '-ec', `cd /var/lib/postgresql\n${lines}`);
  const make = blockWith('production.md', 'createuser', /^florin|^npm/);
  asPostgres(`{ echo 'a password'; echo 'a password'; } | {\n${make}\n}`);
  const look = blockWith('production.md', 'pg_dump');
  asPostgres(`echo postgresql:///florin > url; export DATABASE_URL_FILE=url\n${look}`);
  assert.equal(asPostgres('pg_restore --list florin.dump | grep -c "dbname: florin"'), '1');
}

/** A link's picture is drawn in a process of its own, under `ulimit`, which the unit must allow. */
async function drawPicture(release: string, settings: string, origin: string): Promise<Response> {
  const florin = (line: string) => {
    const text = `. ${settings}/florin.env && ${release}/bin/florin ${line} --json`;
    return JSON.parse(execFileSync('sh', ['-c', text], { encoding: 'utf8' })) as Record<string, string>;
  };
  const { merchantId } = florin("merchant create --name 'Tea House'");
  const of = `--merchant ${merchantId}`;
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const { accountId } = florin(
    `account create ${of} --name Till --address ${address} --currencies base::usdc`,
  );
  const { key } = florin(`key create ${of} --kind secret`);
  const response = await fetch(`${origin}/payment/v1/payment/link/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ accountId, settlementToken: 'base::usdc', feeModel: 2, linkType: 'custom', linkName: 'Tips' },
      lineItems: [{ itemType: 'user_priced' }],
    }),
  });
  const { data, message } = (await response.json()) as { data?: { linkId: string }; message: string };
  assert.ok(data?.linkId, message);
  return fetch(`${origin}/link/${data.linkId}/picture.png`);
}

const roles = ['web', 'watcher', 'worker'];

test('a release is installed by the commands of the runbook, and the unit of systemd runs each role without rights and starts it again', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-systemd-'));
  const name = `florin-systemd-${process.pid}`;
  const started = new AsyncDisposableStack();
  context.after(() => started.disposeAsync());
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const { podman, env } = findPodman(folder) ?? {};
  if (podman === undefined) return context.skip('podman cannot run here');
  const release = findRelease();
  buildMachine(podman, folder);
  const database = await emptyDatabase();
  started.defer(() => database.close());
  const port = await findFreePort();
  const settings = await writeSettings(release, folder, { databaseUrl: database.url, port });
  started.defer(() => void spawnSync('podman', ['rm', '-f', '-t', '5', name], { env }));
  const machine = await startMachine(podman, name, folder, release);
  const { inside, stateOf, said } = machine;
  makeKeysAndDatabase(machine);
  podman('cp', settings, `${name}:/etc/florin`);
  inside('chown', '-R', 'root:root', '/etc/florin');
  // The ports of the head may be taken on this machine.
  const monitoring: Record<string, number> = {};
  for (const role of roles) monitoring[role] = await findFreePort();
  for (const command of headCommands()) {
    const [, role = ''] = /(\w+)\.env$/.exec(command) ?? [];
    const own = role === '' ? command : command.replace(/\b94\d\d\b/, String(monitoring[role]));
    inside('sh', '-ec', `cd /opt/florin && ${own}`);
  }
  const isReady = async (role: string) =>
    fetch(`http://127.0.0.1:${monitoring[role]}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  const user = inside('id', '-u', 'florin');
  for (const role of roles) {
    await until(`${role} is not ready`, () => isReady(role), said);
    assert.equal(stateOf(role, 'ActiveState'), 'active');
    const status = inside('cat', `/proc/${stateOf(role, 'MainPID')}/status`);
    assert.match(status, new RegExp(`^Uid:\\s+${user}\\s`, 'm'), role);
    assert.match(status, /^CapEff:\s+0{16}$/m, role);
    assert.match(status, /^NoNewPrivs:\s+1$/m, role);
    assert.match(status, /^Seccomp:\s+2$/m, role);
  }
  const read = ['setpriv', '--reuid', user, '--clear-groups', 'cat', '/etc/florin/master.key'];
  assert.throws(() => inside(...read));
  const picture = await drawPicture(release, settings, `http://127.0.0.1:${port}`);
  assert.equal(picture.status, 200, said());
  // The log's errors, as the page of alerts reads them: the chain does not answer.
  const [errors = ''] = blockWith('alerts.md', 'journalctl').split('\n');
  assert.match(inside('sh', '-c', errors), /"msg":"start.chain_/);
  const killed = stateOf('worker', 'MainPID');
  inside('sh', '-c', `kill -9 ${killed}`);
  await until(
    'the worker did not start again',
    async () => (await isReady('worker')) && !['0', killed].includes(stateOf('worker', 'MainPID')),
    said,
  );
  inside('systemctl', 'stop', ...roles.map((role) => `florin@${role}`));
  for (const role of roles) assert.equal(stateOf(role, 'Result'), 'success', role);
});
