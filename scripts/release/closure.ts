import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry of the lockfile, as far as it is read here. */
export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export type Lockfile = Readonly<Record<string, LockedPackage>>;

/** What programs need at run time: folders of workspaces, and folders below node_modules. */
export interface Closure {
  readonly workspaces: readonly string[];
  readonly packages: readonly string[];
}

export function readLockfile(root: string): Lockfile {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: Lockfile }).packages;
}

/**
 * Everything that workspaces need at run time, by the lockfile: their dependencies, and those of these. Development
 * dependencies and optional peers are left out, and so are packages of other systems, which are not installed.
 */
export function findClosure(root: string, lockfile: Lockfile, workspaces: readonly string[]): Closure {
  const found = new Set<string>();
  const visit = (key: string): void => {
    if (found.has(key)) return;
    const locked = lockfile[key];
    if (locked === undefined) throw new Error(`the lockfile has no ${key}`);
    found.add(key);
    const folder = locked.link ? (locked.resolved ?? '') : key;
    for (const name of namesNeeded(lockfile[folder] ?? {})) {
      const needed = resolve(lockfile, folder, name);
      if (needed !== undefined && existsSync(join(root, needed))) visit(needed);
    }
  };
  for (const name of workspaces) visit(`node_modules/${name}`);
  const keys = [...found].sort();
  return {
    workspaces: keys.flatMap((key) => (lockfile[key]?.link ? [lockfile[key].resolved ?? ''] : [])),
    packages: keys.filter((key) => !lockfile[key]?.link),
  };
}

function namesNeeded(locked: LockedPackage): string[] {
  const peers = Object.keys(locked.peerDependencies ?? {}).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }), ...peers];
}

/** Where Node.js finds a package from a folder: in the nearest node_modules on the way up. */
function resolve(lockfile: Lockfile, from: string, name: string): string | undefined {
  const steps = from.split('/');
  for (let length = steps.length; length >= 0; length -= 1) {
    if (steps[length - 1] === 'node_modules') continue;
    const candidate = [...steps.slice(0, length), 'node_modules', name].join('/');
    if (lockfile[candidate] !== undefined) return candidate;
  }
  return undefined;
}
