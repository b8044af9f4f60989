import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A unique name for this process, and a check whether a named process has ended. */
export interface ProcessName {
  readonly id: string;
  /** True when the process has certainly ended; false when it runs, or runs where we cannot check. */
  isGone(id: string): boolean;
}

/** Machine and process namespace, within which a pid identifies a process. Empty on systems without them. */
function placeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Not Linux: other processes cannot be checked.
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
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
