import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The simulated version: a hash of the files, and the commit of the checkout. */
export interface Version {
  /** The first digits of a hash over all files that a history runs. */
  readonly sources: string;
  /** The commit, with `-dirty` if files differ from it. Empty outside of a repository. */
  readonly commit: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The rooms, the packages that they share with clients, and the simulation itself. */
const folders = ['apps/server/src', 'packages', 'lab/simulation'];

/** The version of the sources on disk. */
export async function versionOfSources(): Promise<Version> {
  const hash = createHash('sha256');
  for (const folder of folders) {
    const names = await readdir(`${root}${folder}`, { recursive: true });
    for (const name of names.filter(isSource).toSorted()) {
      hash.update(`${folder}/${name}\n`);
      hash.update(await readFile(`${root}${folder}/${name}`));
    }
  }
  return { sources: hash.digest('hex').slice(0, 12), commit: await commitOf() };
}

function isSource(name: string): boolean {
  return /\.(ts|sql)$/.test(name) && !name.endsWith('.test.ts') && !name.includes('node_modules/');
}

async function commitOf(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['describe', '--always', '--dirty'], { cwd: root });
    return stdout.trim();
  } catch {
    // A copy without a repository, or a machine without git. The hash still identifies the sources.
    return '';
  }
}
