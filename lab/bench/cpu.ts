import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const microsecondsPerTick = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly microseconds: number;
  /** Of its children that have ended. */
  readonly endedMicroseconds: number;
}

function readTimes(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    const toMicroseconds = (ticks = 0, more = 0) => (ticks + more) * microsecondsPerTick;
    return {
      parent: Number(fields[1]),
      microseconds: toMicroseconds(user, system),
      endedMicroseconds: toMicroseconds(endedUser, endedSystem),
    };
  } catch {
    // Gone meanwhile, or a system without /proc.
    return undefined;
  }
}

/** Processor time that a process has used so far, in microseconds; 0 where the system does not tell. */
export function cpuOf(pid: number): number {
  return readTimes(pid)?.microseconds ?? 0;
}

/** Processor time of all children that a process has had, such as the backends of a PostgreSQL server, in microseconds. */
export function cpuOfChildren(parent: number): number {
  // A pool closes idle connections while others are measured; what their backends used must not vanish with them.
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
