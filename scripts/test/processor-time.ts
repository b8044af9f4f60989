import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Processor seconds of the processes that this one started and that have ended; 0 on a system without /proc. */
export function secondsOfEndedChildren(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Those of this process too. */
export function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000 + secondsOfEndedChildren();
}
