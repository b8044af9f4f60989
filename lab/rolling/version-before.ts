import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const migrations = 'apps/server/src/db/migrations/';

/** The sources of the version before, which run with the packages of this checkout. */
export interface VersionBefore {
  /** The tag or the commit. */
  readonly name: string;
  readonly main: string;
  readonly migrations: URL;
  /** Whether it starts by itself on a schema to which a newer program has added. */
  readonly acceptsAdditions: boolean;
  /** What the runbook says for versions that do not: gives it the files of the new version. */
  takeNewMigrations(): Promise<void>;
  close(): Promise<void>;
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** The last release, or, before the first, the commit before the newest migration. Undefined without a history. */
function nameOfBefore(): string | undefined {
  try {
    const tags = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');
    if (tags[0] !== undefined && tags[0] !== '') return tags[0];
    const added = git('log', '-1', '--format=%H', '--diff-filter=A', '--', migrations);
    return added === '' ? undefined : git('rev-parse', `${added}^`);
  } catch {
    // No git, no repository, or a clone without its history.
    return undefined;
  }
}

export async function versionBefore(): Promise<VersionBefore | undefined> {
  const name = nameOfBefore();
  if (name === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'florin-before-'));
  execFileSync('/bin/sh', ['-c', `git archive '${name}' | tar --extract --directory '${folder}'`], {
    cwd: root,
  });
  linkPackages(folder);
  const own = join(folder, migrations);
  const migrate = await readFile(join(folder, 'packages/pg/src/migrate.ts'), 'utf8');
  return {
    name,
    main: join(folder, 'apps/server/src/main.ts'),
    migrations: pathToFileURL(own),
    acceptsAdditions: migrate.includes('is_additive'),
    takeNewMigrations: () => cp(join(root, migrations), own, { recursive: true }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Packages of others are this checkout's; its own are those of the version. */
function linkPackages(folder: string): void {
  const from = join(root, 'node_modules');
  const to = join(folder, 'node_modules');
  mkdirSync(join(to, '@florin'), { recursive: true });
  for (const name of readdirSync(from)) if (name !== '@florin') symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, '@florin')))
    symlinkSync(readlinkSync(join(from, '@florin', name)), join(to, '@florin', name));
}
