import { type ChildProcess, spawn } from 'node:child_process';
import type { WorldHome } from './home.ts';
import { describeProcess, endProcess, isSameProcess, type ProcessRecord } from './process.ts';

const FILE = 'processes.json';
const REAP_STEPS = [
  ['SIGTERM', 2_000],
  ['SIGKILL', 5_000],
] as const;
/**
 * Waits until the supervisor's end of a pipe closes, which happens in every kind of death, and ends its remaining
 * processes. An orderly stop sends an empty list first.
 */
const GUARD_SCRIPT = `
pids=
while read -r line; do pids=$line; done
[ -n "$pids" ] || exit 0
kill -INT $pids 2>/dev/null
sleep 5
kill -KILL $pids 2>/dev/null
`;

/**
 * The processes of a world. A file has their command lines and start times, so that the next start can end those of a
 * killed world. A guard process ends them at once.
 */
export class Children {
  readonly #home: WorldHome;
  readonly #records = new Map<string, ProcessRecord>();
  #guard: ChildProcess | undefined;

  constructor(home: WorldHome) {
    this.#home = home;
  }

  /** Ends processes of an earlier start; leaves unrelated processes with a recycled pid alone. */
  async reap(log: (line: string) => void): Promise<void> {
    const left = this.#home.read<Record<string, ProcessRecord>>(FILE) ?? {};
    const orphans = Object.entries(left).filter(([, record]) => isSameProcess(record));
    await Promise.all(
      orphans.map(async ([name, record]) => {
        log(`Ends ${name} (pid ${record.pid}), which an earlier start left running.`);
        // Postgres would wait for its clients on SIGTERM; on SIGINT it shuts down cleanly and fast.
        await endProcess(record, name === 'postgres' ? [['SIGINT', 5_000], ...REAP_STEPS] : REAP_STEPS);
      }),
    );
    this.#home.remove(FILE);
  }

  /** Starts the guard. */
  watch(): void {
    const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // If the guard itself is killed, the next start still uses the file.
    guard.stdin.on('error', () => undefined);
    guard.on('error', () => undefined);
    guard.unref();
    this.#guard = guard;
  }

  /** Records the process that runs under this name now. */
  note(name: string, pid: number): void {
    const record = describeProcess(pid);
    if (record === undefined) return;
    this.#records.set(name, record);
    this.#home.write(FILE, Object.fromEntries(this.#records));
    this.#tellGuard();
  }

  /** Removes every name, after an orderly stop. */
  forget(): void {
    this.#records.clear();
    this.#home.remove(FILE);
    this.#tellGuard();
    this.#guard?.stdin?.end();
  }

  #tellGuard(): void {
    const pids = [...this.#records.values()].map(({ pid }) => pid).join(' ');
    this.#guard?.stdin?.write(`${pids}\n`);
  }
}
