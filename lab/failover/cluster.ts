import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@florin/server/operator';
import { findFreePort } from '@florin/world';
import pg from 'pg';

/** Debian's version, which Patroni of the same release runs. */
const bin = '/usr/lib/postgresql/15/bin';
const programs: readonly (readonly [path: string, packageName: string])[] = [
  ['/usr/bin/patroni', 'patroni'],
  ['/usr/bin/etcd', 'etcd-server'],
  ['/usr/sbin/haproxy', 'haproxy'],
  [join(bin, 'postgres'), 'postgresql'],
];
const password = 'only-on-loopback';
const lookMs = 100;
const startLimitMs = 120_000;

/** A member of the cluster: a Patroni with its PostgreSQL. */
export interface ClusterNode {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly data: string;
}

/** PostgreSQL under Patroni in synchronous mode, with etcd, behind HAProxy; all on loopback. */
export interface Cluster {
  /** Leads through the proxy to the primary, as the service's role. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  /** The node that takes writes now, asked of PostgreSQL itself; undefined while none does. */
  primary(): Promise<ClusterNode | undefined>;
  /** Waits until one node leads, and the other is its synchronous standby. */
  untilWhole(): Promise<ClusterNode>;
  /** Ends a node like a power cut: Patroni, the postmaster and its backends. */
  cutPower(node: ClusterNode): void;
  /** Kills the postmaster alone, which Patroni starts again. */
  killPostmaster(node: ClusterNode): void;
  /** Starts the Patroni of a node whose power was cut. */
  returnPower(node: ClusterNode): void;
  /** Asks Patroni to make the other node the primary. */
  switchOver(from: ClusterNode): Promise<void>;
  close(): Promise<void>;
}

/** Installs what is missing, where the process may. */
export function installCluster(): void {
  const missing = programs.filter(([path]) => !existsSync(path)).map(([, name]) => name);
  if (missing.length === 0) return;
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
    stdio: 'inherit',
  });
}

/** PostgreSQL refuses to run as root. */
function identity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export async function startCluster(): Promise<Cluster> {
  const started = new AsyncDisposableStack();
  try {
    return await buildCluster(started);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

async function buildCluster(started: AsyncDisposableStack): Promise<Cluster> {
  // Short, because the path of a socket has at most 107 characters.
  const folder = await mkdtemp('/tmp/florin-ha-');
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const user = identity();
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  await chmod(folder, 0o700);
  const start = starter(folder, user, started);
  const etcd = `http://127.0.0.1:${await startEtcd(folder, start)}`;
  const nodes: ClusterNode[] = [];
  for (const name of ['pg1', 'pg2']) {
    const [port, restPort] = [await findFreePort(), await findFreePort()];
    const node = { name, port, restPort, data: join(folder, name) };
    writeFileSync(join(folder, `${name}.yml`), JSON.stringify(patroniOf(node, folder, etcd)));
    nodes.push(node);
  }
  const patronis = new Map<ClusterNode, ChildProcess>();
  const startNode = (node: ClusterNode) =>
    void patronis.set(node, start('patroni', [join(folder, `${node.name}.yml`)], `${node.name}.log`));
  const proxyPort = await findFreePort();
  writeFileSync(join(folder, 'haproxy.cfg'), proxyOf(proxyPort, nodes));
  const cluster: Cluster = {
    url: `postgres://florin:${password}@127.0.0.1:${proxyPort}/florin`,
    nodes,
    primary: () => primaryOf(nodes),
    untilWhole: () => untilWhole(nodes),
    cutPower(node) {
      const patroni = patronis.get(node);
      patroni?.kill('SIGSTOP');
      const postmaster = postmasterOf(node);
      // The postmaster first, so that it starts nothing in their place.
      for (const pid of [postmaster, ...childrenOf(postmaster)]) killHard(pid);
      patroni?.kill('SIGKILL');
    },
    killPostmaster: (node) => killHard(postmasterOf(node)),
    returnPower: startNode,
    switchOver: (from) => switchOver(nodes, from),
    close: () => started.disposeAsync(),
  };
  for (const node of nodes) startNode(node);
  start('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], 'haproxy.log');
  const leader = await untilWhole(nodes);
  await ask(leader, `create role florin login password '${password}'`);
  await ask(leader, 'create database florin owner florin');
  return cluster;
}

type Start = (program: string, args: readonly string[], log: string) => ChildProcess;

/** Starts programs that end in the opposite order; their output is in files of the folder. */
function starter(folder: string, user: ReturnType<typeof identity>, started: AsyncDisposableStack): Start {
  return (program, args, log) => {
    const command = [program, ...args].map((word) => `'${word}'`).join(' ');
    // An exported PGPASSWORD of the caller would break replication.
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, LC_ALL: 'C.UTF-8' };
    const child = spawn('/bin/sh', ['-c', `exec ${command} >>'${join(folder, log)}' 2>&1`], {
      ...{ env, cwd: folder, stdio: 'ignore' },
      ...user,
    });
    started.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const late = systemClock.sleep(20_000).then(() => child.kill('SIGKILL'));
      await Promise.race([ended, late]);
    });
    return child;
  };
}

async function startEtcd(folder: string, start: Start): Promise<number> {
  const [clients, peers] = [await findFreePort(), await findFreePort()];
  const [client, peer] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`];
  start(
    'etcd',
    [
      ...['--name', 'e1', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `e1=${peer}`],
    ],
    'etcd.log',
  );
  return clients;
}

/** Patroni's configuration: JSON is YAML. */
function patroniOf(node: ClusterNode, folder: string, etcd: string): unknown {
  const loopback = (port: number) => `127.0.0.1:${port}`;
  const account = (username: string) => ({ username, password });
  return {
    scope: 'florin',
    name: node.name,
    restapi: { listen: loopback(node.restPort), connect_address: loopback(node.restPort) },
    etcd3: { hosts: etcd.replace('http://', '') },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 5, retry_timeout: 5, synchronous_mode: true },
        postgresql: {
          ...{ use_pg_rewind: true, use_slots: true },
          parameters: { wal_log_hints: 'on', max_connections: 150 },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      ...{ listen: loopback(node.port), connect_address: loopback(node.port) },
      ...{ data_dir: node.data, bin_dir: bin, pgpass: join(folder, `${node.name}.pass`) },
      authentication: {
        replication: account('replicator'),
        superuser: account('postgres'),
        rewind: account('rewinder'),
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
        'host all all 127.0.0.1/32 scram-sha-256',
      ],
    },
  };
}

/** The proxy of the runbook. */
function proxyOf(port: number, nodes: readonly ClusterNode[]): string {
  return [
    'listen florin',
    `  bind 127.0.0.1:${port}`,
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 12h',
    '  timeout server 12h',
    '  option httpchk OPTIONS /primary',
    '  http-check expect status 200',
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`),
    '',
  ].join('\n');
}

async function ask(node: ClusterNode, text: string): Promise<pg.QueryResult<Record<string, unknown>>> {
  const connectionString = `postgres://postgres:${password}@127.0.0.1:${node.port}/postgres`;
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function primaryOf(nodes: readonly ClusterNode[]): Promise<ClusterNode | undefined> {
  const answers = await Promise.all(
    nodes.map((node) => ask(node, 'select pg_is_in_recovery() as standby').catch(() => undefined)),
  );
  return nodes.find((_, place) => answers[place]?.rows[0]?.['standby'] === false);
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

async function membersOf(nodes: readonly ClusterNode[]): Promise<readonly Member[]> {
  for (const { restPort } of nodes) {
    const response = await fetch(`http://127.0.0.1:${restPort}/cluster`).catch(() => undefined);
    if (response?.ok === true) return ((await response.json()) as { members: readonly Member[] }).members;
  }
  return [];
}

async function untilWhole(nodes: readonly ClusterNode[]): Promise<ClusterNode> {
  const end = performance.now() + startLimitMs;
  for (;;) {
    const members = await membersOf(nodes);
    const leader = members.find(({ role, state }) => role === 'leader' && state === 'running');
    const standby = members.find(({ role }) => role === 'sync_standby');
    const node = nodes.find(({ name }) => name === leader?.name);
    if (node !== undefined && standby !== undefined) return node;
    if (performance.now() > end) throw new Error(`the cluster is not whole: ${JSON.stringify(members)}`);
    await systemClock.sleep(lookMs);
  }
}

async function switchOver(nodes: readonly ClusterNode[], from: ClusterNode): Promise<void> {
  const candidate = nodes.find((node) => node !== from)?.name;
  const response = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ leader: from.name, candidate }),
  });
  if (!response.ok) throw new Error(`Patroni answers ${response.status}: ${await response.text()}`);
}

function postmasterOf({ data }: ClusterNode): number {
  return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It may have ended by itself meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
