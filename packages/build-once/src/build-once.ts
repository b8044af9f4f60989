import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface BuildPlan {
  /** The folder of the builds. */
  readonly dist: string;
  /** What the build is made from: glob patterns below `root`. */
  readonly root: string;
  readonly sources: readonly string[];
  /** A file that every whole build has. */
  readonly entry: string;
  /** Builds into `work/out`. `hash` names the content. */
  readonly build: (work: string, hash: string) => Promise<void>;
  /** The content security policy of the built pages. */
  readonly policyOf: (folder: string) => Promise<string>;
}

/**
 * Builds pages unless the same content is built already, and names the build in dist/current.json as the one to serve.
 * Builds that run at the same time do not disturb each other: each has a folder of its own until it is whole.
 */
export async function buildOnce(plan: BuildPlan): Promise<{ folder: string; isNew: boolean }> {
  const { dist } = plan;
  const hash = hashSources(plan);
  const folder = join(dist, hash);
  const isNew = !existsSync(join(folder, plan.entry));
  if (isNew) {
    const work = join(dist, `work-${process.pid}`);
    await rm(work, { recursive: true, force: true });
    try {
      await plan.build(work, hash);
      await keep(join(work, 'out'), folder);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  await nameCurrent(dist, { build: hash, policy: await plan.policyOf(folder) });
  await removeOld(dist, hash);
  return { folder, isNew };
}

/** A hash of everything that the pages are made from. */
function hashSources({ root, sources }: BuildPlan): string {
  const hash = createHash('sha256');
  for (const file of globSync([...sources], { cwd: root }).sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 12);
}

/** Renamed into place, so that the service never reads half of it. */
async function nameCurrent(dist: string, current: { build: string; policy: string }): Promise<void> {
  const file = join(dist, `current-${process.pid}.json`);
  await writeFile(file, JSON.stringify(current));
  await rename(file, join(dist, 'current.json'));
}

/** Renames a whole build to its place, unless another process has just put the same one there. */
async function keep(built: string, folder: string): Promise<void> {
  try {
    await rename(built, folder);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Removes builds of other contents, and what builders left that were killed. */
async function removeOld(dist: string, hash: string): Promise<void> {
  for (const name of await readdir(dist)) {
    const [, builder] = /^work-(\d+)$/.exec(name) ?? [];
    const isOld = builder === undefined ? /^[0-9a-f]{12}$/.test(name) && name !== hash : !isRunning(builder);
    if (isOld) await rm(join(dist, name), { recursive: true, force: true });
  }
}

function isRunning(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
