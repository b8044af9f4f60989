import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A name for this process that no other has, and a way to tell that the process of a name has ended. */
export interface ProcessName {
  readonly id: string;
  /** True when it certainly has; false when it lives, or lives where we cannot look. */
  isGone(id: string): boolean;
}

/** Machine and process namespace: within them, a process number says who lives. Empty where there is no such notion. */
function placeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // No Linux: nothing can be told of others.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and not ours.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Names this process. */
export function nameProcess(): ProcessName {
  const place = placeOf();
  return {
    id: `${place} ${process.pid} ${randomBytes(6).toString('hex')}`,
    isGone(id) {
      const [itsPlace = '', pid = ''] = id.split(' ');
      return place !== '' && itsPlace === place && /^\d{1,9}$/.test(pid) && !isAlive(Number(pid));
    },
  };
}
