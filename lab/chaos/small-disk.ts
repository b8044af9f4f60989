import { spawnSync } from 'node:child_process';
import { chmod, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A small separate file system that a run can fill completely. */
export interface SmallDisk {
  readonly folder: string;
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const chunk = Buffer.alloc(1024 * 1024);

/** Mounts one in memory. Undefined where the process lacks the right to mount. */
export async function smallDisk(folder: string, megabytes: number): Promise<SmallDisk | undefined> {
  await mkdir(folder, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]);
  if (mounted.status !== 0) return undefined;
  await chmod(folder, 0o755);
  const filler = join(folder, 'filler');
  return {
    folder,
    async fill() {
      const file = await open(filler, 'w');
      try {
        for (;;) await file.write(chunk);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        await file.close();
      }
    },
    free: () => rm(filler, { force: true }),
    async close() {
      const ended = spawnSync('umount', [folder]);
      if (ended.status !== 0) throw new Error(`${folder} stays mounted: ${ended.stderr.toString().trim()}`);
    },
  };
}
