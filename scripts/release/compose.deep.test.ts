import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LifeChain } from '@florin/server/testing';
import { node, nodeFlags, root } from '../test/processes.ts';
import { fetchBaseImage, findPodman, type Podman } from './podman.ts';

const patienceMs = 600_000;
const roles = ['web', 'watcher', 'worker'];
const debian = 'FROM docker.io/library/debian:bookworm-slim\n';
const install = (name: string) =>
  `RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ${name}\n`;

/** What the image of PostgreSQL does at its start, as far as the compose file needs it. */
const postgresEntry = `set -eu
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); export POSTGRES_PASSWORD
if ! [ -e "$PGDATA/PG_VERSION" ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  as_postgres initdb --auth-local trust --auth-host scram-sha-256
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  as_postgres pg_ctl -w start -o "-c listen_addresses=''"
  for script in /docker-entrypoint-initdb.d/*; do as_postgres sh "$script"; done
  as_postgres pg_ctl -w stop
fi
exec setpriv --reuid postgres --regid postgres --clear-groups "$@" -c listen_addresses='*'
`;

/** Images of PostgreSQL and of Caddy from Debian's packages: registries of images may be out of reach. */
function buildOthers(podman: Podman, folder: string): void {
  writeFileSync(join(folder, 'entry.sh'), postgresEntry);
  writeFileSync(
    join(folder, 'postgres'),
    `${debian}${install('postgresql-15')}COPY entry.sh /entry.sh
ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data
ENTRYPOINT ["/bin/sh", "/entry.sh"]
CMD ["postgres"]\n`,
  );
  writeFileSync(
    join(folder, 'caddy'),
    `${debian}${install('caddy')}ENV XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]\n`,
  );
  for (const name of ['postgres', 'caddy'])
    podman(
      'build',
      '--network',
      'host',
      '-t',
      `localhost/florin-test-${name}`,
      '-f',
      join(folder, name),
      folder,
    );
}

/** The folder of the compose file with the settings and keys that the runbook makes. The chain is out of the containers' reach. */
async function writeProject(release: string, folder: string): Promise<string> {
  const project = join(folder, `florin-compose-${process.pid}`);
  cpSync(join(release, 'deploy/compose'), project, { recursive: true });
  const secrets = join(project, 'secrets');
  const life = await LifeChain.start({
    ...{ name: 'base', chainId: 31_337 },
    tokens: [{ symbol: 'usdc', decimals: 6 }],
  });
  try {
    const { rpcUrls, gateway, vault, startBlock } = life.chain;
    const [rpc = ''] = rpcUrls;
    const init = (...more: readonly string[]) =>
      execFileSync(join(release, 'bin/florin'), ['init', '--out', secrets, ...more]);
    init(
      ...['--origin', 'https://localhost', '--compose', '--chain', 'base', '--rpc', rpc],
      ...['--token', life.token('usdc').address],
    );
    const contracts = { name: 'base', chainId: '31337', gateway, vault, startBlock: String(startBlock) };
    writeFileSync(join(secrets, 'base.json'), JSON.stringify(contracts));
    init();
  } finally {
    await life.anvil.close();
  }
  execFileSync('chown', ['-R', '10001:10001', secrets]);
  return project;
}

/** Status of a path behind the proxy, whose certificate is its own here; 0: it does not answer. */
function statusOf(path: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(`https://localhost${path}`, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', () => resolve(0));
    asked.end();
  });
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

const isTaken = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

test('the compose file starts everything behind TLS, without rights, and keeps the database', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-compose-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const { podman, env } = findPodman(folder) ?? {};
  if (podman === undefined || env === undefined) return context.skip('podman cannot run here');
  if ((await isTaken(80)) || (await isTaken(443))) return context.skip('ports 80 and 443 are taken');
  const built = process.env['FLORIN_RELEASE'];
  if (built === undefined)
    execFileSync(node, [...nodeFlags, 'scripts/release.ts', '--no-archive'], { cwd: root, stdio: 'inherit' });
  const release = built ?? join(root, globSync('dist/florin-*-*-*/', { cwd: root })[0] ?? '');
  fetchBaseImage(podman, folder);
  podman(
    ...['build', '--format', 'docker', '--network', 'host', '-t', 'localhost/florin:latest'],
    ...['-f', join(release, 'deploy/Containerfile'), release],
  );
  buildOthers(podman, folder);
  const project = await writeProject(release, folder);
  const name = project.slice(folder.length + 1);
  const images = {
    POSTGRES_IMAGE: 'localhost/florin-test-postgres',
    PROXY_IMAGE: 'localhost/florin-test-caddy',
    FLORIN_DOMAIN: 'localhost',
  };
  const compose = (...args: readonly string[]) =>
    execFileSync('podman-compose', args, { cwd: project, env: { ...env, ...images }, stdio: 'ignore' });
  const logs = (service: string) =>
    spawnSync('podman', ['logs', `${name}_${service}_1`], { env, encoding: 'utf8' });
  const said = () =>
    [...roles, 'postgres', 'migrate', 'proxy']
      .map((each) => `${each}: ${logs(each).stderr.slice(-600)}${logs(each).stdout.slice(-600)}`)
      .join('\n');
  // What podman-compose 1.0.3 leaves out.
  podman('network', 'create', '--subnet', '10.89.40.0/24', `${name}_outside`);
  try {
    compose('up', '-d');
    await until(
      'the proxy has nothing behind it',
      async () => (await statusOf('/health/ready')) === 200,
      said,
    );
    for (const role of roles) {
      const container = `${name}_${role}_1`;
      const isHealthy = () => spawnSync('podman', ['healthcheck', 'run', container], { env }).status === 0;
      await until(`${role} is not healthy`, isHealthy, said);
      const show = 'while read -r line; do echo "$line"; done < /proc/1/status';
      const status = podman('exec', container, '/bin/sh', '-c', show);
      assert.match(status, /^CapEff:\s+0{16}$/m, role);
      assert.match(status, /^NoNewPrivs:\s+1$/m, role);
      assert.throws(() => podman('exec', container, '/bin/sh', '-c', 'echo x > /opt/florin/x'), role);
    }
    const web = `${name}_web_1`;
    podman('exec', web, 'florin', 'merchant', 'create', '--name', 'Tea House');
    assert.equal(await statusOf('/payment/v1/product/list/1/10'), 401);
    assert.doesNotMatch(logs('web').stdout, /proxy_not_trusted/);
    compose('down');
    compose('up', '-d');
    await until('the second start', async () => (await statusOf('/health/ready')) === 200, said);
    assert.match(podman('exec', web, 'florin', 'merchant', 'list'), /Tea House/);
  } finally {
    compose('down', '-v');
    spawnSync('podman', ['network', 'rm', '-f', `${name}_outside`, `${name}_inside`], { env });
  }
});
