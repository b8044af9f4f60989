import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@florin/server/operator';

/** Six processes start at once: long on a busy machine. */
const startLimitMs = 300_000;
const lookMs = 100;

/** A release, with the environment of an installation's folder. */
export interface InstalledRelease {
  readonly release: string;
  /** Where `init` keeps configuration and keys. */
  readonly folder: string;
}

/** What the folder's florin.env sets. */
export function environmentOf({ folder }: InstalledRelease): Record<string, string> {
  const text = readFileSync(join(folder, 'florin.env'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)='([^']*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

export const plain = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };

const run = promisify(execFile);

/** Runs a command of the release and reads its JSON. The chain goes on meanwhile. */
export async function florin<T>(
  installation: InstalledRelease,
  args: readonly string[],
  { isBare = false }: { readonly isBare?: boolean } = {},
): Promise<T> {
  const env = isBare ? plain : { ...plain, ...environmentOf(installation) };
  const { stdout } = await run(join(installation.release, 'bin/florin'), [...args, '--json'], { env });
  return JSON.parse(stdout) as T;
}

/** A process of the installation with one role. */
export interface RoleProcess {
  readonly role: string;
  readonly port: number;
  /** Ends it like a power cut. */
  kill(): void;
  stop(): Promise<void>;
}

/** Starts a process of one role, and waits until its private port says that it is ready. */
export async function startRole(
  installation: InstalledRelease,
  {
    role,
    port,
    monitoringPort,
  }: { readonly role: string; readonly port: number; readonly monitoringPort: number },
): Promise<RoleProcess> {
  const log = join(installation.folder, `${role}-${port}.log`);
  const output = openSync(log, 'a');
  const own = { FLORIN_ROLES: role, FLORIN_PORT: `${port}`, FLORIN_MONITORING_PORT: `${monitoringPort}` };
  const child = spawn(join(installation.release, 'bin/florin'), ['serve'], {
    env: { ...plain, ...environmentOf(installation), ...own },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  try {
    await until(`${role} is not ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${role} has ended with ${child.exitCode}`);
      return fetch(`http://127.0.0.1:${monitoringPort}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  } catch (error) {
    child.kill('SIGKILL');
    const said = readFileSync(log, 'utf8').split('\n').slice(-6).join('\n');
    throw new Error(`${role} did not start; it said last: ${said}`, { cause: error });
  }
  return { role, port, kill: () => child.kill('SIGKILL'), stop: () => ended(child, 'SIGTERM') };
}

/** Starts HAProxy before the processes with the role web, as the TLS proxy of the runbook without its certificate. */
export async function startWebProxy(
  folder: string,
  port: number,
  webs: readonly RoleProcess[],
): Promise<{ stop(): Promise<void> }> {
  const file = join(folder, 'web.cfg');
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 60s',
    '  timeout server 60s',
    'listen web',
    `  bind 127.0.0.1:${port}`,
    '  option forwardfor',
    '  option redispatch',
    // Not whether it is ready: during a failover no process is, and the proxy would refuse what they let wait.
    '  option httpchk GET /health/live',
    '  default-server inter 2s fastinter 500ms fall 2 rise 1',
    ...webs.map((web, place) => `  server web${place} 127.0.0.1:${web.port} check`),
    '',
  ];
  writeFileSync(file, lines.join('\n'));
  const child = spawn('/usr/sbin/haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  await until('the proxy has no process behind it', async () =>
    fetch(`http://127.0.0.1:${port}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { stop: () => ended(child, 'SIGTERM') };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

/** Looks until it is so. */
export async function until(problem: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + startLimitMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(problem);
    await systemClock.sleep(lookMs);
  }
}
