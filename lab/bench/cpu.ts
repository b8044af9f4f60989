import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const microsecondsPerTick = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly microseconds: number;
  /** Processor time of its children that have ended. */
  readonly endedMicroseconds: number;
}

function readTimes(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets. The name may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    const toMicroseconds = (ticks = 0, more = 0) => (ticks + more) * microsecondsPerTick;
    return {
      parent: Number(fields[1]),
      microseconds: toMicroseconds(user, system),
      endedMicroseconds: toMicroseconds(endedUser, endedSystem),
    };
  } catch {
    // The process has ended, or the system has no /proc.
    return undefined;
  }
}

/** Processor time of a process so far, in microseconds. 0 where the system does not report it. */
export function cpuOf(pid: number): number {
  return readTimes(pid)?.microseconds ?? 0;
}

/** Processor time of all children of a process in microseconds, for example of PostgreSQL's backends. */
export function cpuOfChildren(parent: number): number {
  // A pool closes idle connections during other measurements. The time of their backends must still count.
  let sum = readTimes(parent)?.endedMicroseconds ?? 0;
  let names: string[] = [];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return 0;
  }
  for (const name of names) {
    const times = readTimes(Number(name));
    if (times?.parent === parent) sum += times.microseconds;
  }
  return sum;
}
