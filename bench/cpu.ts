import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const microsecondsPerTick = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly microseconds: number;
}

function readTimes(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { parent: Number(fields[1]), microseconds: ticks * microsecondsPerTick };
  } catch {
    // Gone meanwhile, or a system without /proc.
    return undefined;
  }
}

/** Processor time that a process has used so far, in microseconds; 0 where the system does not tell. */
export function cpuOf(pid: number): number {
  return readTimes(pid)?.microseconds ?? 0;
}

/** Processor time of a process's living children, such as the backends of a PostgreSQL server, in microseconds. */
export function cpuOfChildren(parent: number): number {
  let sum = 0;
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
