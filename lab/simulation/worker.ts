import { execFileSync } from 'node:child_process';
import { registerHooks } from 'node:module';
import { bugPatches, patched } from './bug-patches.ts';
import type { Assignment, TimedHistory } from './worker-pool.ts';

/**
 * The program of one worker: runs histories, one after the other, on its own database. Arguments: the database's URL;
 * the name of a seeded bug, which patches the source before it is loaded; whether to print every event. The last two
 * may be empty.
 */

const [databaseUrl = '', bugName = '', printsTrace = ''] = process.argv.slice(2);
const source = new URL('../../apps/server/src/', import.meta.url);
const patches = bugPatches[bugName] ?? [];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const file = patches.find((patch) => new URL(patch.file, source).href === url)?.file;
    if (file === undefined) return loaded;
    return { ...loaded, source: patched(file, String(loaded.source), patches), shortCircuit: true };
  },
});

// Imported after the hooks are in place, because they cannot change loaded modules.
const { Connections } = await import('./connections.ts');
const { Tables } = await import('./backup.ts');
const { runHistory } = await import('./history.ts');

/** Histories between two vacuums of the tables. */
const vacuumEvery = 60;

const connections = await Connections.open(databaseUrl);
const tables = await Tables.of(connections);
let count = 0;
let turn = Promise.resolve();

async function run(assignment: Assignment): Promise<void> {
  count += 1;
  if (count % vacuumEvery === 0) await tables.vacuum();
  const bug = bugName === '' ? {} : { bugName };
  const tracing = printsTrace === '' ? {} : { print: (line: string) => console.log(line) };
  const before = process.cpuUsage();
  const result = await runHistory({ ...assignment, connections, tables, ...bug, ...tracing });
  const { user, system } = process.cpuUsage(before);
  const timed: TimedHistory = { ...result, cpuMs: (user + system) / 1_000 };
  process.send?.(timed);
}

/** PostgreSQL's first process. Its parent may be killed before it stops the server. */
async function serverPid(): Promise<number> {
  const { rows } = await connections.observer.query<{ pid: number }>('select pg_backend_pid() as pid');
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(rows[0]?.pid)], { encoding: 'utf8' }));
}

const server = await serverPid();
let isOver = false;
process.on('message', (message: Assignment | 'over') => {
  if (message === 'over') isOver = true;
  else turn = turn.then(() => run(message));
});
// The parent has finished or was killed. In the latter case, only this worker can stop the server.
process.on('disconnect', () => {
  if (!isOver) process.kill(server, 'SIGINT');
  process.exit();
});
// Ctrl-C reaches the whole process group. The parent stops the worker in order.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.send?.('ready');
